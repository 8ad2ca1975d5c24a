import { asError } from '../../core/errors.ts'
import { type CompiledPromql, compilePromql } from './evaluate.ts'
import type { Element, Evaluation } from './functions.ts'
import { type AddOptions, createSampleHistory, keyOf, type Labels, type StoredSample } from './series.ts'

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
  /** Since when the condition has been false while the alert still fires, likewise; undefined while it is true. */
  readonly keptSince: number | undefined
}

type State<Rule extends AlertRule> = {
  -readonly [Key in keyof ActiveAlert<Rule>]: ActiveAlert<Rule>[Key]
} & {
  lastTrueAt: number
}

/** Evaluates recording rules, then alerts, as Prometheus does, with `for` and `keep_firing_for`. Throws a PromqlError. */
export const createRuleEvaluator = <Rule extends AlertRule>({
  recording,
  alerts,
}: {
  readonly recording: readonly RecordingRule[]
  readonly alerts: readonly Rule[]
}) => {
  const compile = <One extends Rule | RecordingRule>(rule: One) => ({ rule, compiled: compilePromql(rule.expr) })
  // Several rules may record the same name with other labels.
  const recordings = [...new Set(recording.map(({ record }) => record))].map((name) => ({
    name,
    parts: recording.filter(({ record }) => record === name).map(compile),
  }))
  const conditions = alerts.map((rule) => ({ ...compile(rule), states: new Map<string, State<Rule>>() }))
  const reads = [...recordings.flatMap(({ parts }) => parts), ...conditions].flatMap(({ compiled }) => compiled.reads)
  const history = createSampleHistory((name) =>
    Math.max(-1, ...reads.filter(({ matches }) => matches(name)).map(({ range }) => range)),
  )
  const failures = new Map<Rule | RecordingRule, Error>()

  const compute = (
    { rule, compiled }: { readonly rule: Rule | RecordingRule; readonly compiled: CompiledPromql },
    context: Omit<Evaluation, 'source'>,
  ): readonly Element[] | undefined => {
    try {
      const elements = compiled.evaluate({ source: history, ...context })
      failures.delete(rule)
      return elements
    } catch (error) {
      failures.set(rule, asError(error))
      return undefined
    }
  }

  return {
    /**
     * Evaluates all rules at a time, in milliseconds since the epoch, with the samples of that time and those before.
     * Times must increase. A series without a sample ends, unless the samples are only a part of those of that time.
     * `clockOffset`: what the clock of the host shows in addition to that time, after it was set.
     */
    evaluate: (
      at: number,
      samples: Iterable<StoredSample>,
      { clockOffset = 0, ...options }: AddOptions & Pick<Evaluation, 'clockOffset'> = {},
    ): void => {
      const context = { at, clockOffset }
      history.add(at, samples, options)
      for (const { name, parts } of recordings) {
        history.record(
          name,
          parts.flatMap((part) =>
            (compute(part, context) ?? []).map(({ labels, value }) => ({
              labels: { ...labels, ...part.rule.labels },
              value,
            })),
          ),
        )
      }
      for (const condition of conditions) {
        const { rule, states } = condition
        const elements = compute(condition, context)
        // Whether the condition still holds is unknown: its alerts stay as they are.
        if (elements === undefined) continue
        for (const { labels: own, value } of elements) {
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
    /** Adds samples of a time before the next evaluation, for rules with a range. */
    observe: history.add,
    active: (): readonly ActiveAlert<Rule>[] => conditions.flatMap(({ states }) => [...states.values()]),
    /** Rules that could not be evaluated last time, with the reason. */
    failures: (): ReadonlyMap<Rule | RecordingRule, Error> => failures,
  }
}
