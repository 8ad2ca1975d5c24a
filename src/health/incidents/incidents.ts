import { consensusRules, journalRules } from './log-rules.ts'
import { dutyRules, serviceRules } from './service-rules.ts'
import { type JournalRule, type RuleInput, SEVERITIES, type Severity } from './rule.ts'
import { minute } from '../../core/units.ts'

/** Every alert that can be evaluated from a recorded journal alone. */
export const JOURNAL_RULES: readonly JournalRule[] = [...serviceRules, ...consensusRules, ...dutyRules, ...journalRules]

/** The data that the other alert rules use and no journal has. */
export const NOT_EVALUATED =
  'the RPC, the references, key files, drives and clock of the host, peers, stake, and what ' +
  "only the node's own metrics report (state roots, execution lag, late votes)"

/** An alert that would have fired. Times are milliseconds since the epoch. */
export interface Firing {
  /** Null for an event without an alert: a reboot of the host, a gap in the recording. */
  readonly alert: string | null
  readonly severity: Severity
  readonly subject: string
  /** When the condition became true. */
  readonly beganAt: number
  /** When the alert would have fired. */
  readonly firedAt: number
  /** Null if it still fired at the end of the recording. */
  readonly endedAt: number | null
  /** Message at its worst time. */
  readonly says: string
}

export interface RuleEvaluator {
  /** Evaluates every rule at one time; times must increase. */
  evaluate(input: RuleInput): void
  /** Adds an event that no rule evaluates. */
  addEvent(event: Pick<Firing, 'severity' | 'beganAt' | 'endedAt' | 'says'>): void
  /** Ends everything that is active: nothing is recorded after this time. */
  reset(at: number): void
  /** Everything that fired, by the time at which it began. */
  firings(): readonly Firing[]
}

/** A rule whose condition is true, or that is kept firing. */
interface ActiveRule {
  readonly rule: JournalRule
  readonly subject: string
  readonly beganAt: number
  lastAt: number
  firedAt: number | null
  worst: number
  says: string
}

/** Evaluates rules at one time after another, as Prometheus does, with `for` and `keep_firing_for`. */
export const createRuleEvaluator = (rules: readonly JournalRule[] = JOURNAL_RULES): RuleEvaluator => {
  const active = new Map<string, ActiveRule>()
  /** `order` sorts firings that began at the same time: by the position of their rule, events first. */
  const ended: { readonly order: number; readonly firing: Firing }[] = []

  const end = (key: string, one: ActiveRule, endedAt: number | null): void => {
    active.delete(key)
    if (one.firedAt === null) return
    const { rule, subject, beganAt, firedAt, says } = one
    const { alert, severity } = rule
    const firing = { alert, severity, subject, beganAt, firedAt, endedAt, says }
    ended.push({ order: rules.indexOf(rule), firing })
  }

  const update = (rule: JournalRule, at: number, matches: ReturnType<JournalRule['find']>): void => {
    for (const { subject, value, says } of matches) {
      const key = keyOf(rule, subject)
      const before = active.get(key)
      const one = before ?? {
        rule,
        subject,
        beganAt: at,
        lastAt: at,
        firedAt: null,
        worst: value,
        says,
      }
      if (!before) active.set(key, one)
      one.lastAt = at
      if (value >= one.worst) {
        one.worst = value
        one.says = says
      }
      if (one.firedAt === null && at - one.beganAt >= (rule.for ?? 0)) one.firedAt = at
    }
  }

  return {
    evaluate: (input) => {
      const { at } = input
      for (const rule of rules) update(rule, at, rule.find(input))
      for (const [key, one] of active) {
        const keep = one.firedAt === null ? 0 : (one.rule.keep ?? 0)
        if (one.lastAt < at && at - one.lastAt >= keep) end(key, one, at)
      }
    },
    addEvent: (event) => {
      ended.push({
        order: -1,
        firing: { ...event, alert: null, subject: '', firedAt: event.beganAt },
      })
    },
    reset: (at) => {
      for (const [key, one] of active) end(key, one, at)
    },
    firings: () => {
      for (const [key, one] of active) end(key, one, null)
      return ended
        .toSorted(
          (a, b) =>
            a.firing.beganAt - b.firing.beganAt ||
            rank(a.firing.severity) - rank(b.firing.severity) ||
            a.order - b.order,
        )
        .map(({ firing }) => firing)
    },
  }
}

const keyOf = ({ alert, severity }: JournalRule, subject: string): string => `${alert} ${severity} ${subject}`

/** 0 is the most severe. */
const rank = (severity: Severity): number => SEVERITIES.indexOf(severity)

/** Alerts that began close together: most likely one cause and its consequences. */
export interface Incident {
  readonly severity: Severity
  readonly beganAt: number
  /** When the last of them ended; null if one still fired at the end of the recording. */
  readonly endedAt: number | null
  /** Most severe first; one for each alert and subject. */
  readonly firings: readonly Firing[]
}

/** A firing that begins within this time after the previous one belongs to the same incident. */
const TOGETHER_MS = 5 * minute

/** Groups firings, which must be sorted by the time at which they began, into incidents. */
export const incidentsOf = (firings: readonly Firing[]): readonly Incident[] => {
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

const incidentOf = (group: readonly Firing[]): Incident => {
  const merged = mergeSeverities(group).toSorted((a, b) => rank(a.severity) - rank(b.severity) || a.beganAt - b.beganAt)
  return {
    severity: merged[0]?.severity ?? 'info',
    beganAt: Math.min(...group.map(({ beganAt }) => beganAt)),
    endedAt: latestEnd(group),
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
