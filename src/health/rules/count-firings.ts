import { keyOf, type Labels } from '../promql/series.ts'

/** How a rule is evaluated, in milliseconds. */
export interface EvaluationTiming {
  /** How long the condition must hold before the alert fires. */
  readonly for: number
  /** How long the alert fires after the condition no longer holds. */
  readonly keepFiringFor: number
  /** The interval of the evaluations. */
  readonly interval: number
}

export interface FiringCounts {
  readonly firings: number
  /** In milliseconds, of all alerts of the rule together. */
  readonly firingMs: number
  /** How many nodes have fired: values of the label `instance`. */
  readonly nodes: number
  /** When the last firing began, in milliseconds since the epoch; null without a firing. */
  readonly lastAt: number | null
}

/** An alert that is pending or firing. */
interface ActiveRun {
  readonly activeAt: number
  /** When the condition last held. */
  trueAt: number
  firedAt: number | null
}

/** Counts the firings of a rule as Prometheus does: each label set is an alert of its own. */
export const createFiringCounter = ({ for: hold, keepFiringFor, interval }: EvaluationTiming) => {
  const active = new Map<string, ActiveRun>()
  const instances = new Set<string>()
  let firings = 0
  let firingMs = 0
  let lastAt: number | null = null
  /** From the last evaluation at which the condition holds to the one that ends a firing alert. */
  const endsAfter = interval + Math.ceil(keepFiringFor / interval) * interval
  const firingOf = ({ firedAt, trueAt }: ActiveRun, until: number): number =>
    firedAt === null ? 0 : Math.min(trueAt + endsAfter, until) - firedAt
  return {
    /** Adds an evaluation at which the condition held, in milliseconds since the epoch. The times of a label set increase. */
    add: (labels: Labels, at: number): void => {
      const key = keyOf(labels)
      let run = active.get(key)
      if (run && at - run.trueAt > (run.firedAt === null ? interval : endsAfter)) {
        firingMs += firingOf(run, at)
        run = undefined
      }
      run ??= { activeAt: at, trueAt: at, firedAt: null }
      active.set(key, run)
      run.trueAt = at
      if (run.firedAt !== null || at - run.activeAt < hold) return
      run.firedAt = at
      firings += 1
      lastAt = Math.max(lastAt ?? 0, at)
      if (labels['instance'] !== undefined) instances.add(labels['instance'])
    },
    /** The counts until the last evaluation. */
    countsUntil: (end: number): FiringCounts => ({
      firings,
      firingMs: [...active.values()].reduce((sum, run) => sum + firingOf(run, end), firingMs),
      nodes: instances.size,
      lastAt,
    }),
  }
}
