import { asError } from '../../core/outcome.ts'
import { compilePromql, type Evaluation } from './evaluate.ts'
import type { Element } from './functions.ts'
import { keyOf, type Labels, type SampleHistory } from './series.ts'

export interface RecordingRule {
  readonly record: string
  readonly expr: string
  /** Labels that are added to those of the series. */
  readonly labels: Labels
}

export interface AlertRule {
  readonly alert: string
  readonly expr: string
  /** Labels that are added to those of the series. */
  readonly labels: Labels
  /** How long the condition must hold before the alert fires, in milliseconds. */
  readonly for: number
  /** How long the alert fires after the condition no longer holds, in milliseconds. */
  readonly keepFiringFor: number
}

/** An alert of one series, with the labels of both. */
export interface ActiveAlert<Rule extends AlertRule = AlertRule> {
  readonly rule: Rule
  readonly labels: Labels
  readonly state: 'pending' | 'firing'
  /** When the condition became true, in milliseconds since the epoch. */
  readonly activeAt: number
  /** The value of the expression when it was last true. */
  readonly value: number
}

export interface RuleEvaluator<Rule extends AlertRule> {
  /** Evaluates all rules on the samples of the newest time, which is `at`. Times must increase. */
  evaluate(at: number): void
  active(): readonly ActiveAlert<Rule>[]
  /** Rules that could not be evaluated last time, with the reason. */
  failures(): ReadonlyMap<Rule | RecordingRule, Error>
}

type State<Rule extends AlertRule> = {
  -readonly [Key in keyof ActiveAlert<Rule>]: ActiveAlert<Rule>[Key]
} & {
  lastTrueAt: number
  /** When the condition was first found false while the alert fired; undefined while it is true. */
  keptSince: number | undefined
}

/** Evaluates recording rules, then alerts, as Prometheus does, with `for` and `keep_firing_for`. Throws a PromqlError. */
export const createRuleEvaluator = <Rule extends AlertRule>(
  { recording, alerts }: { readonly recording: readonly RecordingRule[]; readonly alerts: readonly Rule[] },
  history: SampleHistory,
): RuleEvaluator<Rule> => {
  // Several rules may record the same name with other labels.
  const recordings = [...new Set(recording.map(({ record }) => record))].map((name) => ({
    name,
    parts: recording
      .filter(({ record }) => record === name)
      .map((rule) => ({ rule, compute: compilePromql(rule.expr) })),
  }))
  const conditions = alerts.map((rule) => ({
    rule,
    compute: compilePromql(rule.expr),
    states: new Map<string, State<Rule>>(),
  }))
  const failures = new Map<Rule | RecordingRule, Error>()

  const compute = (
    rule: Rule | RecordingRule,
    expression: (context: Evaluation) => readonly Element[],
    at: number,
  ): readonly Element[] => {
    try {
      const elements = expression({ source: history, at })
      failures.delete(rule)
      return elements
    } catch (error) {
      failures.set(rule, asError(error))
      return []
    }
  }

  return {
    evaluate: (at) => {
      for (const { name, parts } of recordings) {
        history.record(
          name,
          parts.flatMap(({ rule, compute: expression }) =>
            compute(rule, expression, at).map(({ labels, value }) => ({
              labels: { ...labels, ...rule.labels },
              value,
            })),
          ),
        )
      }
      for (const { rule, compute: expression, states } of conditions) {
        for (const { labels: own, value } of compute(rule, expression, at)) {
          const labels = { ...own, ...rule.labels, alertname: rule.alert }
          const key = keyOf(labels)
          const state = states.get(key) ?? {
            rule,
            labels,
            state: 'pending',
            activeAt: at,
            value,
            lastTrueAt: at,
            keptSince: undefined,
          }
          states.set(key, state)
          state.value = value
          state.lastTrueAt = at
          state.keptSince = undefined
          if (at - state.activeAt >= rule.for) state.state = 'firing'
        }
        for (const [key, state] of states) {
          if (state.lastTrueAt === at) continue
          state.keptSince ??= at
          if (state.state === 'pending' || at - state.keptSince >= rule.keepFiringFor) states.delete(key)
        }
      }
    },
    active: () => conditions.flatMap(({ states }) => [...states.values()]),
    failures: () => failures,
  }
}
