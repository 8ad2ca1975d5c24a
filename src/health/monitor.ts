import { sample, type Sample } from '../core/metric.ts'
import { createRuleEvaluator } from './promql/rules.ts'
import { keyOf, type Labels, type StoredSample } from './promql/series.ts'
import { ruleSet } from './rules/index.ts'
import { annotationsOf } from './rules/render.ts'
import type { AlertRow } from './rules/rule.ts'

/** `unknown`: no evaluation has ended, or no block of the node is known. Most severe first. */
export const HEALTH_STATES = ['critical', 'unknown', 'warning', 'maintenance', 'healthy'] as const
export type HealthState = (typeof HEALTH_STATES)[number]

const FINDING_SEVERITIES = ['critical', 'warning', 'info'] as const

/** An alert rule whose condition is true. */
export interface RuleFinding {
  readonly alert: string
  readonly severity: AlertRow['severity']
  readonly component: AlertRow['component']
  /** `pending` until the condition has held for the duration of the rule. */
  readonly state: 'pending' | 'firing'
  /** When the condition became true, in milliseconds since the epoch. */
  readonly since: number
  readonly summary: string
  readonly description: string
  /** What it is about: service, device, fork … */
  readonly labels: Labels
  readonly value: number
}

export interface Health {
  readonly state: HealthState
  /** When the state began, in milliseconds since the epoch. */
  readonly since: number
  /** Firing before pending, then by severity, then the oldest first. */
  readonly findings: readonly RuleFinding[]
}

export interface HealthMonitor {
  /** Evaluates every rule on the samples of this time, in milliseconds since the epoch, as Prometheus does at a scrape. */
  evaluate(at: number, samples: Iterable<StoredSample>): void
  health(): Health
  samples(): readonly Sample[]
  /** Rules that could not be evaluated the last time, with the reason. */
  failures(): readonly string[]
}

/** Interval of the evaluation: that of the generated rule groups, in milliseconds. */
export const EVALUATION_INTERVAL = 15_000

/** The labels that a scrape adds. Rules join on them; findings of one node do not need them. */
const TARGET = { job: 'chain-agent', instance: 'this node' }

const SEVERITIES: readonly string[] = FINDING_SEVERITIES

/**
 * Evaluates the alert rules in the process. Rules about what only Prometheus knows (a target that is down, the query
 * service) have no samples here and do not fire. Rules with a range need as much time after the start as in Prometheus.
 */
export const createHealthMonitor = (startedAt: number): HealthMonitor => {
  let evaluator = createEvaluator()
  let evaluatedAt = -Infinity
  let health: Health = { state: 'unknown', since: startedAt, findings: [] }

  const findings = (): readonly RuleFinding[] =>
    evaluator
      .active()
      .flatMap(({ rule: { row }, labels, state, activeAt, value }) => {
        if (!SEVERITIES.includes(row.severity)) return []
        const {
          instance: _instance,
          job: _job,
          alertname: _name,
          severity: _severity,
          component: _component,
          ...rest
        } = labels
        return [
          {
            alert: row.alert,
            severity: row.severity,
            component: row.component,
            summary: row.summary,
            state,
            since: activeAt,
            description: annotationsOf(row, { labels, value })['description'] ?? '',
            labels: rest,
            value,
          },
        ]
      })
      // The critical alert includes the warning about the same subject.
      .filter(
        (one, _index, all) =>
          !all.some(
            (other) =>
              other.state === 'firing' &&
              other.alert === one.alert &&
              SEVERITIES.indexOf(other.severity) < SEVERITIES.indexOf(one.severity) &&
              keyOf(other.labels) === keyOf(one.labels),
          ),
      )
      .toSorted(
        (a, b) =>
          Number(a.state === 'pending') - Number(b.state === 'pending') ||
          SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
          a.since - b.since,
      )

  const stateOf = (found: readonly RuleFinding[]): HealthState => {
    const firing = found.filter(({ state }) => state === 'firing')
    const isInMaintenance = evaluator.active().some(({ rule: { alert } }) => alert === MAINTENANCE)
    const counted = isInMaintenance ? firing.filter(({ component }) => OUTSIDE_MAINTENANCE.includes(component)) : firing
    if (counted.some(({ severity }) => severity === 'critical')) return 'critical'
    // At once: until then nothing says that the node is healthy.
    if (
      !isInMaintenance &&
      found.some(({ alert, labels }) => alert === NO_BLOCK.alert && labels['reading'] === NO_BLOCK.reading)
    )
      return 'unknown'
    if (counted.some(({ severity }) => severity === 'warning')) return 'warning'
    return isInMaintenance ? 'maintenance' : 'healthy'
  }

  return {
    evaluate: (at, samples) => {
      // After the clock of the host was set back, the samples from before cannot be compared.
      if (at <= evaluatedAt) evaluator = createEvaluator()
      evaluatedAt = at
      evaluator.evaluate(at, withTarget(samples))
      const found = findings()
      const state = stateOf(found)
      health = { state, since: state === health.state ? health.since : at, findings: found }
    },
    health: () => health,
    failures: () =>
      [...evaluator.failures()].map(
        ([rule, { message }]) => `Cannot evaluate the rule ${'alert' in rule ? rule.alert : rule.record}: ${message}`,
      ),
    samples: () => [
      ...HEALTH_STATES.map((state) => sample('chain_node_health', Number(state === health.state), { state })),
      // Before the first evaluation the number is unknown.
      ...(evaluatedAt === -Infinity ? [] : FINDING_SEVERITIES).map((severity) =>
        sample(
          'chain_node_findings',
          health.findings.filter((one) => one.state === 'firing' && one.severity === severity).length,
          { severity },
        ),
      ),
    ],
  }
}

const createEvaluator = () => createRuleEvaluator(ruleSet())

const MAINTENANCE = 'ChainMaintenance'
/** A maintenance window does not explain problems of keys and exposed ports. */
const OUTSIDE_MAINTENANCE: readonly string[] = ['security', 'keys']
/** Without it whether the chain advances is unknown. */
const NO_BLOCK = { alert: 'ChainBlind', reading: 'block' }

const withTarget = function* (samples: Iterable<StoredSample>): Generator<StoredSample> {
  for (const { name, labels, value } of samples) yield { name, labels: { ...labels, ...TARGET }, value }
  yield { name: 'up', labels: TARGET, value: 1 }
}
