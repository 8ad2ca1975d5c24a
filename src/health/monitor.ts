import {
  type AlertState,
  type AlertTarget,
  FINDING_SEVERITIES,
  type TargetAlert,
  type FindingSeverity,
  HEALTH_STATES,
  type RecoveryAction,
} from '../domain/health.ts'
import type { Health, RuleFinding } from '../parsers/agent-status.ts'
import type { Change } from '../core/board.ts'
import { type ReadingName, sample, type Sample } from '../core/metric.ts'
import { duration } from '../core/format.ts'
import { minute, second } from '../core/units.ts'
import { type ActiveAlert, type AlertRule, createRuleEvaluator } from './promql/rules.ts'
import { keyOf, type Labels, perLabels, type StoredSample } from './promql/series.ts'
import { DEFAULT_TUNING, ruleSet } from './rules/index.ts'
import { renderTemplate } from './promql/template.ts'
import { annotationsOf, descriptionOf } from './rules/render.ts'
import { addressOf, type AlertRow, SEVERITIES } from './rules/rule.ts'

/** What the messages of alerts contain in addition to the samples of their rules. */
interface MessageFacts {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly recovery: RecoveryAction | null
  /** The name prefix of the units of the node. */
  readonly prefix: string
}

type Target = AlertTarget & { readonly instance: string }

/** A change of an alert: it begins to fire, its severity changes, or it no longer fires. */
type AlertChange = Change & { readonly severity: FindingSeverity }

/** The interval of the evaluation, in milliseconds; the generated rule groups have the same. */
export const EVALUATION_INTERVAL = 15_000

/** A smaller difference of the two clocks is due to reading them one after the other. */
const LEAST_MOVE_MS = 100

/** The labels that a scrape adds. Rules join on them; findings of one node do not need them. */
export const TARGET = { job: 'chain-agent', instance: 'this host' }

/**
 * Evaluates the alert rules in the process. Rules about what only Prometheus knows (a target that is down, the query
 * service) have no samples here and do not fire. Rules with a range need as much time after the start as in Prometheus.
 */
export const createHealthMonitor = (startedAt: number, tuning = DEFAULT_TUNING) => {
  const evaluator = createRuleEvaluator(ruleSet(tuning))
  let hasEvaluated = false
  let clockOffset = 0
  let health = notEvaluated(startedAt)
  const alerts = createAlertChanges()

  return {
    /**
     * Evaluates every rule on the samples of this time, in milliseconds since the epoch, as Prometheus does at a scrape.
     * Returns the alerts that began or ceased to fire. Ranges and durations are measured on `steady`, in milliseconds on a
     * clock that only increases: the clock of the host may be set. The samples of an evaluation in addition to those at
     * fixed times are not kept.
     */
    evaluate: (
      at: number,
      samples: Iterable<StoredSample>,
      { steady = at, isExtra = false }: { readonly steady?: number; readonly isExtra?: boolean } = {},
    ): readonly AlertChange[] => {
      const moved = at - steady - clockOffset
      const isMoved = Math.abs(moved) >= LEAST_MOVE_MS
      if (isMoved) clockOffset += moved
      hasEvaluated = true
      const all = [...samples]
      evaluator.evaluate(steady, withTarget(all), { clockOffset, isExtra })
      const { state, ...assessed } = assess(evaluator, all, { clockOffset, isContinuous: true })
      health = { ...assessed, state, since: state === health.state ? health.since + (isMoved ? moved : 0) : at }
      return alerts(at, health.findings)
    },
    health: () => health,
    /** An evaluation failed as a whole: the health is unknown until the next one. */
    fail: (at: number): void => {
      if (health.unknownBecause !== 'no evaluation') health = notEvaluated(at)
    },
    /**
     * The alerts in this state as Prometheus would have them for a target with these labels, but for its own heartbeat,
     * ChainWatchdog.
     */
    alerts: (target: Target, wanted: AlertState, facts: MessageFacts): readonly TargetAlert[] =>
      evaluator
        .active()
        .filter(({ state, rule: { alert } }) => state === wanted && alert !== WATCHDOG)
        .map((alert) => targetAlert({ ...alert, activeAt: alert.activeAt + clockOffset }, target, facts)),
    /** When the next pending alert fires if its condition still holds, on the steady clock; Infinity if none is pending. */
    firesAt: () =>
      Math.min(
        Infinity,
        ...evaluator
          .active()
          .flatMap(({ state, activeAt, rule }) => (state === 'pending' ? [activeAt + rule.for] : [])),
      ),
    samples: (): readonly Sample[] => [
      ...HEALTH_STATES.map((state) => sample('chain_node_health', Number(state === health.state), { state })),
      // Before the first evaluation the number is unknown.
      ...(hasEvaluated ? FINDING_SEVERITIES : []).map((severity) =>
        sample(
          'chain_node_findings',
          health.findings.filter((one) => one.state === 'firing' && one.severity === severity).length,
          { severity },
        ),
      ),
    ],
  }
}

/** It shows that Prometheus works. */
const WATCHDOG = 'ChainWatchdog'

/** Labels that may have the name of this agent. */
const OBSERVERS = ['instance', 'watcher']

const targetAlert = (
  { rule, labels: own, activeAt, value }: Alert,
  { job, instance, labels: more, ...links }: Target,
  { prefix, ...facts }: MessageFacts,
): TargetAlert => {
  // An alert about several nodes has no instance, and that of a watcher about a node the instance of the node.
  const target = {
    ...(own['job'] !== undefined && { job }),
    ...Object.fromEntries(OBSERVERS.filter((name) => own[name] === TARGET.instance).map((name) => [name, instance])),
  }
  const labels = { ...more, ...own, ...target }
  return {
    labels,
    annotations: annotationsOf(rule.row, { labels, value, ...facts }, { ...links, prefix }),
    startsAt: activeAt + rule.for,
  }
}

const NOT_FIRING = 'not firing'

/** Compares the firing alerts with those of the evaluation before. */
const createAlertChanges = () => {
  /** By alert and labels: its state in words. */
  let known: ReadonlyMap<string, string> = new Map()
  return (at: number, findings: readonly RuleFinding[]): readonly AlertChange[] => {
    const firing = new Map(
      findings
        .filter(({ state }) => state === 'firing')
        .map((finding) => [[finding.alert, ...Object.values(finding.labels)].join(' '), finding]),
    )
    const states = new Map([...firing].map(([key, { severity, summary }]) => [key, `${severity}: ${summary}`]))
    const changes = [...new Set([...states.keys(), ...known.keys()])].map((subject) => ({
      at,
      collector: 'alerts',
      subject,
      from: known.get(subject) ?? NOT_FIRING,
      to: states.get(subject) ?? NOT_FIRING,
      severity: firing.get(subject)?.severity ?? ('info' as const),
    }))
    known = states
    return changes.filter(({ from, to }) => from !== to)
  }
}

/** The health while no evaluation has succeeded since `since`, in milliseconds since the epoch. */
const notEvaluated = (since: number): Health => ({
  state: 'unknown',
  since,
  unknownBecause: 'no evaluation',
  findings: [],
  failures: [],
})

/** The span of the log that a single reading of the node covers, in milliseconds. */
const LOG_SPAN = 10 * minute

/**
 * The health by a single reading of the node. Durations cannot be observed: the finding of a rule with one is pending.
 * Log lines of the last minutes count as new.
 */
export const evaluateOnce = (at: number, samples: readonly StoredSample[], tuning = DEFAULT_TUNING): Health => {
  const evaluator = createRuleEvaluator(ruleSet(tuning))
  const lines = samples.filter(({ name }) => name === 'chain_log_pattern_total')
  // Not at the start of a range of ten minutes, which leaves it out.
  evaluator.observe(at - LOG_SPAN + 1, withTarget(lines.map((line) => ({ ...line, value: 0 }))))
  evaluator.evaluate(at, withTarget(samples))
  return { since: at, ...assess(evaluator, samples) }
}

interface Observation {
  readonly clockOffset?: number
  /** Whether later evaluations observe the durations of the rules. */
  readonly isContinuous?: boolean
}

const assess = (
  evaluator: ReturnType<typeof createRuleEvaluator<RowRule>>,
  samples: readonly StoredSample[],
  { clockOffset = 0, isContinuous = false }: Observation = {},
): Omit<Health, 'since'> => {
  const active = evaluator.active().map((alert) => ({ ...alert, activeAt: alert.activeAt + clockOffset }))
  const failures = [...evaluator.failures()].map(
    ([rule, { message }]) =>
      `Cannot evaluate the rule ${'alert' in rule ? addressOf(rule.row) : rule.record}: ${message}`,
  )
  const findings = findingsOf(active, isContinuous)
  const isInMaintenance = active.some(({ rule: { alert } }) => alert === MAINTENANCE)
  const { state, unknownBecause = null } = stateOf(findings, samples, {
    isInMaintenance,
    hasFailures: failures.length > 0,
  })
  return { state, unknownBecause, findings, failures }
}

/** Seconds as in every other output of the agent. */
const span = (seconds: number): string => `${seconds < 0 ? '-' : ''}${duration(Math.abs(seconds) * second)}`

type RowRule = AlertRule & { readonly row: AlertRow }
type Alert = ActiveAlert<RowRule>

/** Not of the subject of a finding. */
const LABELS_OF_ALERTS = ['instance', 'watcher', 'job', 'alertname', 'severity', 'component', 'why']

const findingsOf = (active: readonly Alert[], isContinuous: boolean): readonly RuleFinding[] =>
  active
    .filter((alert) => !isIncluded(alert, active))
    .flatMap((alert) => {
      const { rule, state, activeAt, value } = alert
      const { row } = rule
      const { severity } = row
      if (severity === 'none') return []
      const labels = Object.entries(alert.labels).filter(([name]) => !LABELS_OF_ALERTS.includes(name))
      return [
        {
          alert: addressOf(row),
          severity,
          component: row.component,
          state,
          countsAs: weightOf(alert, { severity, isContinuous }),
          since: activeAt,
          for: rule.for,
          summary: renderTemplate(row.summary, { labels: alert.labels, value }),
          description: renderTemplate(descriptionOf(row), { labels: alert.labels, value }, span),
          advice: row.advice ?? [],
          explainedBy: causesOf(row, active),
          labels: Object.fromEntries(labels),
        },
      ]
    })
    .toSorted(
      (a, b) =>
        rank(a.countsAs) - rank(b.countsAs) ||
        Number(a.explainedBy.length > 0) - Number(b.explainedBy.length > 0) ||
        a.since - b.since,
    )

/** A rule that waits as long has a condition that is often true for a while on a healthy node. */
const LONG_WAIT = 10 * minute

const weightOf = (
  { rule, state, keptSince }: Alert,
  { severity, isContinuous }: { readonly severity: FindingSeverity; readonly isContinuous: boolean },
): FindingSeverity | null => {
  const { pending, countsAs: always } = rule.row
  // It fires for some minutes longer, so that a condition that comes and goes is one alert; what is over is over.
  if (keptSince !== undefined) return null
  if (state === 'pending') {
    if (pending !== undefined) return pending === 'nothing' ? null : pending
    // A single reading cannot wait: its findings count at once.
    if (isContinuous && rule.for >= LONG_WAIT) return null
  }
  return always ?? severity
}

/** 0 is the most severe; what counts for nothing is last. */
const rank = (severity: FindingSeverity | null): number =>
  severity === null ? FINDING_SEVERITIES.length : FINDING_SEVERITIES.indexOf(severity)

/** Whether a more severe alert about the same subject fires: it includes this one, unless only this one is still true. */
const isIncluded = (one: Alert, all: readonly Alert[]): boolean =>
  all.some(
    (other) =>
      other.state === 'firing' &&
      (other.keptSince === undefined || one.keptSince !== undefined) &&
      other.rule.alert === one.rule.alert &&
      SEVERITIES.indexOf(other.rule.row.severity) < SEVERITIES.indexOf(one.rule.row.severity) &&
      subjectOf(other.labels) === subjectOf(one.labels),
  )

const subjectOf = ({ severity: _severity, ...labels }: Labels): string => keyOf(labels)

const causesOf = (row: AlertRow, active: readonly Alert[]): readonly string[] => [
  ...new Set(
    (row.explainedBy ?? []).flatMap(({ alerts, services }) =>
      active
        .filter(
          ({ rule, labels: { service = '' } }) =>
            alerts.includes(addressOf(rule.row)) && (services?.includes(service) ?? true),
        )
        .map(({ rule }) => addressOf(rule.row)),
    ),
  ),
]

const stateOf = (
  findings: readonly RuleFinding[],
  samples: readonly StoredSample[],
  { isInMaintenance, hasFailures }: { readonly isInMaintenance: boolean; readonly hasFailures: boolean },
): Pick<Health, 'state'> & Partial<Pick<Health, 'unknownBecause'>> => {
  const node = nodePresence((name) => samples.filter((one) => one.name === name))
  if (node === 'absent') return { state: 'unknown', unknownBecause: 'no node' }
  const counted = isInMaintenance
    ? findings.filter(({ component }) => OUTSIDE_MAINTENANCE.includes(component))
    : findings
  if (counted.some(({ countsAs }) => countsAs === 'critical')) return { state: 'critical' }
  if (node === 'unanswered') return { state: 'unknown', unknownBecause: 'no answer' }
  // At once: until then nothing shows that the node is healthy.
  if (!isInMaintenance && findings.some(isNoBlock)) {
    return { state: 'unknown', unknownBecause: 'no block' }
  }
  if (isWatcherWithoutHeartbeat(samples)) return { state: 'unknown', unknownBecause: 'no heartbeat' }
  if (hasFailures || counted.some(({ countsAs }) => countsAs === 'warning')) return { state: 'warning' }
  return { state: isInMaintenance ? 'maintenance' : 'healthy' }
}

const MAINTENANCE = 'ChainMaintenance'
/** A maintenance window does not explain problems of keys and exposed ports. */
export const OUTSIDE_MAINTENANCE: readonly string[] = ['security', 'keys']
/** Whether the finding is that no block is known: then it is unknown whether the chain advances. */
const isNoBlock = ({ alert }: RuleFinding): boolean => alert === 'ChainBlind.block'

/**
 * `absent`: systemd has answered that it knows none of the node's units, its RPC does not answer, and no block of it is
 * known. `unanswered`: the same, but systemd has not answered either.
 */
type NodePresence = 'present' | 'absent' | 'unanswered'

export const nodePresence = (series: (name: ReadingName) => readonly Omit<StoredSample, 'name'>[]): NodePresence => {
  const of = (name: ReadingName, wanted = 1) => series(name).filter(({ value }) => value === wanted)
  const servicesOf = (all: ReturnType<typeof of>) => all.map(({ labels }) => labels['service'])
  const expected = servicesOf(of('chain_service_expected'))
  const missing = servicesOf(of('chain_service_state').filter(({ labels }) => labels['state'] === 'not-found'))
  if (of('chain_rpc_up').length > 0) return 'present'
  const blocks = (['chain_rpc_block_timestamp_seconds', 'chain_ledger_block_timestamp_seconds'] as const).flatMap(
    series,
  )
  if (blocks.length > 0) return 'present'
  if (expected.length > 0) return expected.every((one) => missing.includes(one)) ? 'absent' : 'present'
  // Before its first attempt has ended, a collector has no such series.
  const failed = of('chain_agent_collector_up', 0).map(({ labels }) => labels['collector'])
  return failed.includes('services') ? 'unanswered' : 'present'
}

/** A watcher that has received no heartbeat knows nothing about its node. */
const isWatcherWithoutHeartbeat = (samples: readonly StoredSample[]): boolean =>
  samples.some(({ name, labels }) => name === 'chain_agent_build_info' && labels['profile'] === 'watcher') &&
  samples.every(({ name }) => name !== 'chain_watched_heartbeat_timestamp_seconds')

const withTargetLabels = perLabels((labels) => ({ ...labels, ...TARGET }))

/** The samples as a scrape stores them. */
export const withTarget = function* (samples: Iterable<StoredSample>): Generator<StoredSample> {
  for (const { name, labels, value } of samples) yield { name, labels: withTargetLabels(labels), value }
  yield { name: 'up', labels: TARGET, value: 1 }
}
