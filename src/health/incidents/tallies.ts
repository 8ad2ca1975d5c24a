import type { Recorder } from '../../core/recorder.ts'
import { hour } from '../../core/units.ts'
import type { HistogramName, CounterName } from '../../core/metric.ts'

type Labels = Readonly<Record<string, string>>

export interface Increase {
  readonly labels: Labels
  readonly value: number
}

/** What collectors have counted, with as much of the past as the longest window of a rule asks for. */
export interface Tallies {
  readonly recorder: Recorder
  /** Remembers the totals of this moment, in milliseconds; moments only go forward. */
  mark(at: number): void
  /** By how much each series of a counter has grown within so many milliseconds, as `increase()` tells it. */
  increases(name: CounterName, within: number, labels?: Labels): readonly Increase[]
  increase(name: CounterName, within: number, labels?: Labels): number
  /** Of the blocks executed within that time, the share that took no longer; null where none was. */
  shareWithin(bound: DurationBound, within: number): number | null
}

/** The bounds at which rules look at the time of a block. */
export const DURATION_BOUNDS = [0.01, 0.05] as const
type DurationBound = (typeof DURATION_BOUNDS)[number]

interface Series {
  readonly labels: Labels
  total: number
  /** Totals as they were, oldest first; a mark for each moment at which it was another. */
  marks: { readonly at: number; readonly total: number }[]
}

const LONGEST_WINDOW = hour
const DURATION: HistogramName = 'chain_execution_block_duration_seconds'

export const createTallies = (): Tallies => {
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

  const grown = ({ total, marks }: Series, within: number): number =>
    total - (marks[lastUpTo(marks, now - within)]?.total ?? 0)

  const increases: Tallies['increases'] = (name, within, wanted = {}) =>
    [...(names.get(name)?.values() ?? [])].flatMap((series) =>
      Object.entries(wanted).every(([label, value]) => series.labels[label] === value)
        ? [{ labels: series.labels, value: grown(series, within) }]
        : [],
    )

  const ofDurations = (name: string, within: number): number => {
    const series = names.get(name)?.get('')
    return series ? grown(series, within) : 0
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
    increase: (name, within, labels) =>
      increases(name, within, labels).reduce((sum, { value }) => sum + value, 0),
    shareWithin: (bound, within) => {
      const blocks = ofDurations(DURATION, within)
      return blocks === 0 ? null : ofDurations(nameOf(bound), within) / blocks
    },
  }
}

const nameOf = (bound: DurationBound): string => `${DURATION} ${bound}`

/** The place of the last mark that is not after a moment; -1 where all are. */
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
