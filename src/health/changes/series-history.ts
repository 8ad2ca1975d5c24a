import { hour, second } from '../../core/units.ts'
import { keyOf, type StoredSample } from '../promql/series.ts'

/** The interval of the samples, in milliseconds: that of the evaluation of the rules. */
const INTERVAL = 15 * second

/** How far back they go, in milliseconds: a window of an hour and the hour before it. */
const HISTORY_SPAN = 2 * hour

/** A node has 950 at most, which take 3.5 MiB of numbers and 0.7 MiB of names and labels; 2,000 take 7.3 and 1.4 MiB. */
const MAX_SERIES = 2000

/** A series with one value for each time of its recording; NaN where it had none. */
export interface RecordedSeries {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly values: readonly number[] | Float64Array
}

/** All series at the times of a window and before it. */
export interface Recording {
  /** Milliseconds since the epoch, increasing. */
  readonly times: readonly number[]
  /** The number of times before the window. */
  readonly before: number
  readonly series: readonly RecordedSeries[]
}

/** The time of a window and of what it is compared with, in milliseconds since the epoch: from exclusive, to inclusive. */
export interface RecordedRange {
  readonly beforeFrom: number
  readonly from: number
  readonly to: number
}

/** The samples of the last two hours, one number for each series and time. */
export interface SeriesHistory {
  /** Adds the samples of one time. If it is earlier than the last, the clock was set back: all others are removed. */
  record(samples: Iterable<StoredSample>, at: number): void
  /** The time of the oldest samples; undefined before the first. */
  oldestAt(): number | undefined
  read(range: RecordedRange): Recording
}

interface Stored {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** A ring: the value of the time with number n is at n modulo the capacity. */
  readonly values: Float64Array
  /** The number of the time of the newest value. */
  newest: number
}

/** Buckets of histograms are not kept: sum and count have the mean. */
const isKept = ({ name }: StoredSample): boolean => !name.endsWith('_bucket')

export const createSeriesHistory = (capacity = HISTORY_SPAN / INTERVAL): SeriesHistory => {
  const all = new Map<string, Stored>()
  const times = new Float64Array(capacity)
  /** The number of times so far. */
  let count = 0
  const first = (): number => Math.max(0, count - capacity)
  const timeOf = (number: number): number => times[number % capacity] ?? Number.NaN

  const seriesOf = (key: string, { name, labels }: StoredSample): Stored | undefined => {
    const known = all.get(key)
    if (known || all.size >= MAX_SERIES) return known
    const created = { name, labels, values: new Float64Array(capacity).fill(Number.NaN), newest: count }
    all.set(key, created)
    return created
  }

  return {
    record: (samples, at) => {
      const last = count === 0 ? Number.NEGATIVE_INFINITY : timeOf(count - 1)
      if (at === last) return
      if (at < last) {
        all.clear()
        count = 0
      }
      const slot = count % capacity
      times[slot] = at
      for (const [key, { values, newest }] of all) {
        if (newest + capacity <= count) all.delete(key)
        else values[slot] = Number.NaN
      }
      for (const one of samples) {
        if (!isKept(one)) continue
        const series = seriesOf(`${one.name}\0${keyOf(one.labels)}`, one)
        if (!series) continue
        series.values[slot] = one.value
        series.newest = count
      }
      count += 1
    },
    oldestAt: () => (count === 0 ? undefined : timeOf(first())),
    read: ({ beforeFrom, from, to }) => {
      const numbers = Array.from({ length: count - first() }, (_, index) => first() + index).filter(
        (number) => timeOf(number) > beforeFrom && timeOf(number) <= to,
      )
      return {
        times: numbers.map(timeOf),
        before: numbers.filter((number) => timeOf(number) <= from).length,
        series: [...all.values()].map(({ name, labels, values }) => ({
          name,
          labels,
          values: Float64Array.from(numbers, (number) => values[number % capacity] ?? Number.NaN),
        })),
      }
    },
  }
}
