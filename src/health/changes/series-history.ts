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
interface RecordedRange {
  readonly beforeFrom: number
  readonly from: number
  readonly to: number
}

export type SeriesHistory = ReturnType<typeof createSeriesHistory>

interface Stored {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** The index of its values in the columns. */
  readonly index: number
  /** The number of the time of the newest value. */
  newest: number
}

/** The values of all series at one time: at each time few pages of memory are written, not one for each series. */
interface Column {
  readonly at: number
  readonly values: Float64Array
}

/** Buckets of histograms are not kept: sum and count have the mean. */
const isKept = ({ name }: StoredSample): boolean => !name.endsWith('_bucket')

/** The samples of the last two hours, one number for each series and time. */
export const createSeriesHistory = (capacity = HISTORY_SPAN / INTERVAL) => {
  const all = new Map<string, Stored>()
  /** Indexes of series that were removed. No column has a value there. */
  let free: number[] = []
  let columns: Column[] = []
  /** The number of times so far. */
  let count = 0
  const next = new Float64Array(MAX_SERIES)

  const seriesOf = (key: string, { name, labels }: StoredSample): Stored | undefined => {
    const known = all.get(key)
    if (known || all.size >= MAX_SERIES) return known
    const created = { name, labels, index: free.pop() ?? all.size, newest: count }
    all.set(key, created)
    return created
  }

  return {
    /** Adds the samples of one time. If it is earlier than the last, the clock was set back: all others are removed. */
    record: (samples: Iterable<StoredSample>, at: number): void => {
      const last = columns.at(-1)?.at ?? Number.NEGATIVE_INFINITY
      if (at === last) return
      if (at < last) {
        all.clear()
        free = []
        columns = []
      }
      if (columns.length === capacity) columns.shift()
      for (const [key, { index, newest }] of all) {
        if (newest + capacity <= count && all.delete(key)) free.push(index)
      }
      next.fill(Number.NaN)
      for (const one of samples) {
        if (!isKept(one)) continue
        const series = seriesOf(`${one.name}\0${keyOf(one.labels)}`, one)
        if (!series) continue
        next[series.index] = one.value
        series.newest = count
      }
      columns.push({ at, values: next.slice(0, all.size + free.length) })
      count += 1
    },
    /** The time of the oldest samples; undefined before the first. */
    oldestAt: () => columns[0]?.at,
    read: ({ beforeFrom, from, to }: RecordedRange): Recording => {
      const inRange = columns.filter(({ at }) => at > beforeFrom && at <= to)
      return {
        times: inRange.map(({ at }) => at),
        before: inRange.filter(({ at }) => at <= from).length,
        series: [...all.values()].map(({ name, labels, index }) => ({
          name,
          labels,
          values: Float64Array.from(inRange, ({ values }) => values[index] ?? Number.NaN),
        })),
      }
    },
  }
}
