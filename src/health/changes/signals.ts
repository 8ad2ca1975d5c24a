import { hour, second } from '../../core/units.ts'
import type { RecordedSeries, Recording } from './series-history.ts'

/**
 * What is compared of a series: its value; the rate of a counter, or of a value that moves in one direction; the age of
 * a timestamp that advances; the mean of the observations of a histogram; the difference from the value that it had all
 * the time before.
 */
export type SignalKind = 'value' | 'rate' | 'age' | 'mean' | 'difference'

/** A quantity over time, comparable with its own past. */
export interface Signal {
  /** The metric; that of a histogram without the name of a part. */
  readonly family: string
  readonly labels: Readonly<Record<string, string>>
  readonly kind: SignalKind
  /** One for each time; NaN where it is not known, or absent. */
  readonly values: readonly number[]
  /** Whether the series was absent, for each time. */
  readonly absent: readonly boolean[]
  /** The values of the series itself. */
  readonly raw: readonly number[]
  /** Of a counter that did not grow before, the weight of each value: that of one event is half as much as of a state. */
  readonly weights?: readonly number[]
}

/** The signals of all series. */
export const signalsOf = (recording: Recording): readonly Signal[] => {
  const sums = new Map(
    recording.series.flatMap((one) => (one.name.endsWith('_sum') ? [[keyOf(one, '_sum'), one] as const] : [])),
  )
  return recording.series.flatMap((series) => {
    const { name } = series
    // Most series are constant.
    if (series.values.every((value) => value === series.values[0])) return []
    const sum = name.endsWith('_count') ? sums.get(keyOf(series, '_count')) : undefined
    if (sum) {
      const family = name.slice(0, -'_count'.length)
      return [
        { ...signal(series, recording), family },
        {
          ...base(series),
          family,
          kind: 'mean' as const,
          values: ratio(steps(sum.values, true), steps(series.values, true)),
        },
      ]
    }
    if (name.endsWith('_sum') && sums.get(keyOf(series, '_sum')) === series) return []
    const one = signal(series, recording)
    return one.kind === 'rate' && !isCounter(name) ? [one, againstDirection(one, recording)] : [one]
  })
}

const keyOf = ({ name, labels }: RecordedSeries, suffix: string): string =>
  `${name.slice(0, -suffix.length)} ${JSON.stringify(labels)}`

const base = ({ name, labels, values }: RecordedSeries) => ({
  family: name,
  labels,
  absent: Array.from(values, Number.isNaN),
  raw: Array.from(values),
})

const signal = (series: RecordedSeries, { times, before }: Recording): Signal => {
  const { name, values } = series
  const raw = Array.from(values)
  const past = raw.slice(0, before)
  const known = past.filter((value) => !Number.isNaN(value))
  const [first = Number.NaN] = known
  const isConstant = known.every((value) => value === first)
  if (name.endsWith('_timestamp_seconds')) {
    const ages = raw.map((value, index) => (times[index] ?? 0) / second - value)
    if (spread(ages.slice(0, before)) < spread(past)) return { ...base(series), kind: 'age', values: ages }
    const usual = median(known)
    // It has advanced at such intervals before: once an hour or more often.
    const isRegular = (value: number): boolean => value > usual && value - usual <= hour / second
    return {
      ...base(series),
      kind: 'difference',
      values: raw.map((value) => (isRegular(value) ? 0 : value - usual)),
    }
  }
  const counts = isCounter(name)
  if (isConstant || !(counts || movesOneWay(steps(past, false)))) {
    if (!counts || known.length === 0) return { ...base(series), kind: 'value', values: raw }
    let events = 0
    const weights = steps(raw, false).map((step) => {
      if (step !== 0 && !Number.isNaN(step)) events += 1
      return 1 - 0.5 ** events
    })
    return { ...base(series), kind: 'difference', values: raw.map((value) => value - first), weights }
  }
  const seconds = times.map((at, index) => (at - (times[index - 1] ?? Number.NaN)) / second)
  return { ...base(series), kind: 'rate', values: ratio(steps(raw, counts), seconds) }
}

const isCounter = (name: string): boolean => /_(?:total|count)$/.test(name)

/** The value of what moved in one direction, where it is on the other side of its usual value. */
const againstDirection = (series: Signal, { before }: Recording): Signal => {
  const usual = median(series.raw.slice(0, before))
  const isRising = median(series.values.slice(0, before)) > 0
  const clamp = isRising ? Math.min : Math.max
  return { ...series, kind: 'value', values: series.raw.map((value) => clamp(value, usual)) }
}

/** The difference to each value from the one before; of a counter which begins again it is the value. */
const steps = (values: ArrayLike<number>, restarts: boolean): readonly number[] =>
  Array.from(values, (value, index) => {
    const increase = value - (values[index - 1] ?? Number.NaN)
    return restarts && increase < 0 ? value : increase
  })

/** Not known where nothing was observed. */
const ratio = (sums: readonly number[], counts: readonly number[]): readonly number[] =>
  sums.map((sum, index) => {
    const count = counts[index] ?? 0
    return count > 0 ? sum / count : Number.NaN
  })

/** As a height, or a directory that is only written. */
const movesOneWay = (increases: readonly number[]): boolean => {
  const known = increases.filter((step) => !Number.isNaN(step))
  const up = known.filter((step) => step > 0).length
  const down = known.filter((step) => step < 0).length
  return Math.max(up, down) >= known.length / 2 && Math.min(up, down) <= Math.max(up, down) / 10
}

/** The median of the known values; NaN without one. */
export const median = (values: readonly number[]): number => {
  // Sorted as numbers: NaN is last.
  const sorted = Float64Array.from(values).sort()
  const firstUnknown = sorted.findIndex(Number.isNaN)
  const count = firstUnknown < 0 ? sorted.length : firstUnknown
  const middle = Math.floor(count / 2)
  const upper = count === 0 ? Number.NaN : (sorted[middle] ?? Number.NaN)
  return count % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The median distance from the median: 1.48 of it is the standard deviation of noise. */
export const spread = (values: readonly number[]): number => {
  const middle = median(values)
  return 1.4826 * median(values.map((value) => Math.abs(value - middle)))
}
