import { TARGET, withTarget } from '../../health/monitor.ts'
import { createRuleEvaluator } from '../../health/promql/rules.ts'
import { keyOf, type Labels, type StoredSample } from '../../health/promql/series.ts'
import type { ruleSet } from '../../health/rules/index.ts'
import { renderTemplate } from '../../health/promql/template.ts'
import { descriptionOf } from '../../health/rules/render.ts'
import { addressOf, type RuleSeverity } from '../../health/rules/rule.ts'
import { duration } from '../../core/format.ts'
import { FINDING_SEVERITIES } from '../../domain/health.ts'
import { minute } from '../../core/units.ts'

/** An alert that would have fired. Times are milliseconds since the epoch, on a clock that only increases. */
export interface Firing {
  /** Null for an event without an alert: a reboot of the host, a gap in the recording. */
  readonly alert: string | null
  readonly severity: RuleSeverity
  /** What it is about: service, pattern, format … */
  readonly subject: string
  /** When the condition became true. */
  readonly beganAt: number
  /** When the alert would have fired. */
  readonly firedAt: number
  /** Null if it still fired at the end of the recording. */
  readonly endedAt: number | null
  /** Its description at its worst value. */
  readonly summary: string
}

interface FiringContext {
  readonly lineOf?: (labels: Labels) => string | undefined
  readonly clockOffset?: number
}

export type FiringLog = ReturnType<typeof createFiringLog>

/** An alert that fires. */
interface OpenFiring {
  firing: Firing
  /** How far its worst value is from the limit of the rule. */
  excess: number
  /** The position of its rule. */
  readonly order: number
}

/** Evaluates rules at one time after another, and stores when each alert fired. */
export const createFiringLog = (rules: ReturnType<typeof ruleSet>) => {
  let evaluator = createRuleEvaluator(rules)
  const open = new Map<string, OpenFiring>()
  /** Sorts firings that began at the same time by the position of their rule, events first. */
  const ended: Pick<OpenFiring, 'firing' | 'order'>[] = []
  const failures = new Set<string>()

  const end = (key: string, { firing, order }: OpenFiring, endedAt: number | null): void => {
    open.delete(key)
    ended.push({ order, firing: { ...firing, endedAt } })
  }

  const update = (at: number, lineOf: NonNullable<FiringContext['lineOf']>): void => {
    const firing = evaluator.active().filter(({ state }) => state === 'firing')
    const keys = new Set(firing.map(({ labels }) => keyOf(labels)))
    for (const [key, one] of open) if (!keys.has(key)) end(key, one, at)
    for (const { rule, labels, value, activeAt } of firing) {
      const { row } = rule
      const key = keyOf(labels)
      const known = open.get(key)
      const excess = Math.abs(value - (row.limit ?? 0))
      if (known && excess < known.excess) continue
      const description = renderTemplate(descriptionOf(row), { labels, value })
      const line = lineOf(labels)
      open.set(key, {
        excess,
        order: rules.alerts.indexOf(rule),
        firing: {
          alert: addressOf(row),
          severity: row.severity,
          subject: subjectOf(labels),
          beganAt: activeAt,
          firedAt: known?.firing.firedAt ?? at,
          endedAt: null,
          summary: line === undefined ? description : `${description} Log line: ${line}`,
        },
      })
    }
  }

  return {
    /**
     * Evaluates the rules on the samples of one time; times must increase. `lineOf` returns the log line that an alert is
     * about, `clockOffset` is what the clock of the host shows in addition to the time.
     */
    evaluate: (
      at: number,
      samples: Iterable<StoredSample>,
      { lineOf = () => undefined, clockOffset = 0 }: FiringContext = {},
    ): void => {
      evaluator.evaluate(at, withTarget(samples), { clockOffset })
      for (const [rule, { message }] of evaluator.failures()) {
        failures.add(`${'alert' in rule ? addressOf(rule.row) : rule.record}: ${message}`)
      }
      update(at, lineOf)
    },
    /** Adds an event that no rule evaluates. */
    addEvent: (event: Pick<Firing, 'severity' | 'beganAt' | 'endedAt' | 'summary'>): void => {
      ended.push({ order: -1, firing: { ...event, alert: null, subject: '', firedAt: event.beganAt } })
    },
    /** Ends everything that fires and removes all samples: nothing is recorded after this time. */
    reset: (at: number): void => {
      for (const [key, one] of open) end(key, one, at)
      evaluator = createRuleEvaluator(rules)
    },
    /** Everything that fired, by the time at which it began. */
    firings: (): readonly Firing[] => {
      for (const [key, one] of open) end(key, one, null)
      return ended
        .toSorted(
          (a, b) =>
            a.firing.beganAt - b.firing.beganAt ||
            rank(a.firing.severity) - rank(b.firing.severity) ||
            a.order - b.order,
        )
        .map(({ firing }) => firing)
    },
    /** Rules that could not be evaluated at some time, with the reason. */
    failures: (): readonly string[] => [...failures],
  }
}

/** Labels that every alert has. */
const COMMON_LABELS = new Set([...Object.keys(TARGET), 'alertname', 'severity', 'component', 'why'])

const subjectOf = (labels: Labels): string =>
  Object.entries(labels)
    .flatMap(([label, value]) => (COMMON_LABELS.has(label) ? [] : [value]))
    .join(' ')

/** 0 is the most severe. */
const rank = (severity: RuleSeverity): number => FINDING_SEVERITIES.findIndex((one) => one === severity)

/** Its duration; for one that still fires, until `now`. */
export const lastedText = ({ beganAt, endedAt }: Pick<Firing, 'beganAt' | 'endedAt'>, now: number): string =>
  endedAt === null ? `${duration(now - beganAt)}, firing` : duration(endedAt - beganAt)

export type Incident = ReturnType<typeof incidentOf>

/** A firing that begins within this time after the previous one belongs to the same incident. */
const TOGETHER_MS = 5 * minute

/** Groups firings, which must be sorted by the time at which they began, into incidents. */
export const incidentsOf = (firings: readonly Firing[]) => {
  const groups: Firing[][] = []
  let latest = -Infinity
  for (const firing of firings) {
    const group = groups.at(-1)
    if (group && firing.beganAt - latest <= TOGETHER_MS) group.push(firing)
    else groups.push([firing])
    latest = firing.beganAt
  }
  return groups.map(incidentOf)
}

/** Alerts that began close together: most likely one cause and its consequences. */
const incidentOf = (group: readonly Firing[]) => {
  const merged = mergeSeverities(group).toSorted((a, b) => rank(a.severity) - rank(b.severity) || a.beganAt - b.beganAt)
  return {
    severity: merged[0]?.severity ?? 'info',
    beganAt: Math.min(...group.map(({ beganAt }) => beganAt)),
    /** When the last of them ended; null if one still fired at the end of the recording. */
    endedAt: latestEnd(group),
    /** Most severe first; one for each alert and subject. */
    firings: merged,
  }
}

/** Merges a warning that became critical into one firing, from the start of the first to the end of the last. */
const mergeSeverities = (group: readonly Firing[]): readonly Firing[] => {
  const byKey = new Map<string, Firing>()
  for (const firing of group) {
    const key = `${firing.alert ?? firing.beganAt} ${firing.subject}`
    const known = byKey.get(key)
    if (!known) {
      byKey.set(key, firing)
      continue
    }
    const worse = rank(firing.severity) < rank(known.severity) ? firing : known
    byKey.set(key, {
      ...worse,
      beganAt: Math.min(known.beganAt, firing.beganAt),
      firedAt: Math.min(known.firedAt, firing.firedAt),
      endedAt: latestEnd([known, firing]),
    })
  }
  return [...byKey.values()]
}

const latestEnd = (all: readonly Firing[]): number | null => {
  const ends = all.map(({ endedAt }) => endedAt)
  return ends.every((end) => end !== null) ? Math.max(...ends) : null
}
