import type { Labels, Point, SeriesSource } from './series.ts'

export interface Element {
  readonly labels: Labels
  readonly value: number
}

/** The samples of one series in a range (from, to], in milliseconds since the epoch. */
export interface RangeSamples {
  readonly labels: Labels
  readonly points: readonly Point[]
  readonly from: number
  readonly to: number
}

export interface Evaluation {
  readonly source: SeriesSource
  /** Milliseconds since the epoch, on a clock that only increases. */
  readonly at: number
  /** What the clock of the host shows in addition to `at`, after it was set. */
  readonly clockOffset?: number
}

export type Expression =
  | { readonly type: 'scalar'; readonly evaluate: (context: Evaluation) => number }
  | { readonly type: 'vector'; readonly evaluate: (context: Evaluation) => readonly Element[] }
  | { readonly type: 'range'; readonly evaluate: (context: Evaluation) => readonly RangeSamples[] }
  | { readonly type: 'text'; readonly text: string }

export const vector = (evaluate: (context: Evaluation) => readonly Element[]): Expression => ({
  type: 'vector',
  evaluate,
})

/**
 * The value that a function computes from the samples of one series; undefined if there are too few. The definitions
 * are those of Prometheus 3.5 (promql/functions.go); src/health/promql/README.md has the differences.
 */
export type RangeFunction = (range: RangeSamples, argument: number) => number | undefined

const aggregated =
  (fold: (values: readonly number[]) => number): RangeFunction =>
  ({ points }) =>
    points.length === 0 ? undefined : fold(points.map(({ value }) => value))

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/**
 * The increase within the range. Samples rarely lie at its ends, so Prometheus extrapolates to them: by half the
 * average distance of two samples if the first or last sample is further away than 1.1 times that distance, then for a
 * counter not further back than to zero.
 */
const increased =
  ({ isCounter, isRate }: { readonly isCounter: boolean; readonly isRate: boolean }): RangeFunction =>
  ({ points, from, to }) => {
    const [first] = points
    const last = points.at(-1)
    if (!first || !last || points.length < 2) return undefined
    let result = last.value - first.value
    if (isCounter) {
      points.forEach(({ value }, index) => {
        const before = points[index - 1]?.value ?? 0
        if (index > 0 && value < before) result += before
      })
    }
    // Seconds, and the operations in the order of Prometheus: a value at a limit is then on the same side of it.
    const sampled = (last.at - first.at) / 1000
    const average = sampled / (points.length - 1)
    const limit = average * 1.1
    let start = (first.at - from) / 1000
    let end = (to - last.at) / 1000
    if (start >= limit) start = average / 2
    if (end >= limit) end = average / 2
    if (isCounter && result > 0 && first.value >= 0) start = Math.min(start, sampled * (first.value / result))
    const factor = (sampled + start + end) / sampled
    return result * (isRate ? factor / ((to - from) / 1000) : factor)
  }

/** The value after `seconds` by a linear regression over the samples. */
const predictLinear: RangeFunction = ({ points, to }, seconds) => {
  if (points.length < 2) return undefined
  const xs = points.map(({ at }) => (at - to) / 1000)
  const ys = points.map(({ value }) => value)
  const [n, sx, sy] = [points.length, sum(xs), sum(ys)]
  const covariance = sum(xs.map((x, index) => x * (ys[index] ?? 0))) - (sx * sy) / n
  const variance = sum(xs.map((x) => x * x)) - (sx * sx) / n
  const slope = covariance / variance
  return sy / n - (slope * sx) / n + slope * seconds
}

export const RANGE_FUNCTIONS: Readonly<Record<string, RangeFunction>> = {
  avg_over_time: aggregated((values) => sum(values) / values.length),
  count_over_time: aggregated((values) => values.length),
  min_over_time: aggregated((values) => Math.min(...values)),
  max_over_time: aggregated((values) => Math.max(...values)),
  last_over_time: ({ points }) => points.at(-1)?.value,
  changes: ({ points }) =>
    points.length === 0
      ? undefined
      : points.filter(({ value }, index) => index > 0 && value !== points[index - 1]?.value).length,
  rate: increased({ isCounter: true, isRate: true }),
  increase: increased({ isCounter: true, isRate: false }),
  delta: increased({ isCounter: false, isRate: false }),
  predict_linear: predictLinear,
}

export const SCALAR_FUNCTIONS: Readonly<Record<string, (value: number, argument: number) => number>> = {
  abs: Math.abs,
  sqrt: Math.sqrt,
  // Half of a unit is rounded up; without an argument the unit is 1.
  round: (value, unit) => Math.floor(value / unit + 0.5) * unit,
}

export const AGGREGATIONS: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum,
  min: (values) => Math.min(...values),
  max: (values) => Math.max(...values),
  count: (values) => values.length,
  group: () => 1,
}
