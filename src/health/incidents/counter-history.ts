import type { CounterName, HistogramName, Recorder } from '../../core/metric.ts'
import { hour } from '../../core/units.ts'

type Labels = Readonly<Record<string, string>>

export interface Increase {
  readonly labels: Labels
  readonly value: number
}

/** Counters of the collectors, with the history that the longest window of a rule needs. */
export interface CounterHistory {
  readonly recorder: Recorder
  /** Stores the totals at this time, in milliseconds since the epoch; times must increase. */
  mark(at: number): void
  /** Increase of each series of a counter within the last `within` milliseconds, like `increase()` in PromQL. */
  increases(name: CounterName, within: number, labels?: Labels): readonly Increase[]
  increase(name: CounterName, within: number, labels?: Labels): number
  /** Share of the blocks executed within that time that took at most `bound` seconds; null if none was executed. */
  shareWithin(bound: DurationBound, within: number): number | null
}

/** The histogram bounds that rules use, in seconds. */
export const DURATION_BOUNDS = [0.01, 0.05] as const
type DurationBound = (typeof DURATION_BOUNDS)[number]

interface Series {
  readonly labels: Labels
  total: number
  /** Past totals, oldest first: one for each time at which the total had changed. */
  marks: { readonly at: number; readonly total: number }[]
}

const LONGEST_WINDOW = hour
const DURATION: HistogramName = 'chain_execution_block_duration_seconds'

export const createCounterHistory = (): CounterHistory => {
  const names = new Map<string, Map<string, Series>>()
  let now = 0

  const add = (name: string, labels: Labels, by: number): void => {
    let key = ''
    for (const label in labels) key += `${labels[label]}\0`
    const all = names.get(name) ?? new Map<string, Series>()
    if (all.size === 0) names.set(name, all)
    const series = all.get(key)
    if (series) series.total += by
    else all.set(key, { labels, total: by, marks: [] })
  }

  const increaseOf = ({ total, marks }: Series, within: number): number =>
    total - (marks[lastUpTo(marks, now - within)]?.total ?? 0)

  const increases: CounterHistory['increases'] = (name, within, wanted = {}) =>
    [...(names.get(name)?.values() ?? [])].flatMap((series) =>
      Object.entries(wanted).every(([label, value]) => series.labels[label] === value)
        ? [{ labels: series.labels, value: increaseOf(series, within) }]
        : [],
    )

  const blocksWithin = (name: string, within: number): number => {
    const series = names.get(name)?.get('')
    return series ? increaseOf(series, within) : 0
  }

  return {
    recorder: {
      count: (name, by, ...[labels]) => {
        add(name, { ...labels }, Number(by))
      },
      observe: (name, seconds, ...[labels]) => {
        if (name !== DURATION || Object.values({ ...labels })[0] !== 'total') return
        add(DURATION, {}, 1)
        for (const bound of DURATION_BOUNDS) add(nameOf(bound), {}, seconds <= bound ? 1 : 0)
      },
    },
    mark: (at) => {
      now = at
      for (const all of names.values()) {
        for (const series of all.values()) {
          const { marks, total } = series
          if (marks.at(-1)?.total !== total) marks.push({ at, total })
          const first = lastUpTo(marks, at - LONGEST_WINDOW)
          if (first > 100) series.marks = marks.slice(first)
        }
      }
    },
    increases,
    increase: (name, within, labels) => increases(name, within, labels).reduce((sum, { value }) => sum + value, 0),
    shareWithin: (bound, within) => {
      const blocks = blocksWithin(DURATION, within)
      return blocks === 0 ? null : blocksWithin(nameOf(bound), within) / blocks
    },
  }
}

const nameOf = (bound: DurationBound): string => `${DURATION} ${bound}`

/** Index of the last mark at or before this time; -1 if all are later. */
const lastUpTo = (marks: Series['marks'], at: number): number => {
  let low = 0
  let high = marks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((marks[middle]?.at ?? Infinity) <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}
