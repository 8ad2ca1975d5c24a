import type {
  HistogramName,
  LabelArgument,
  ReadingName,
  CounterName,
} from '../../../src/core/metric.ts'
import { metrics } from '../../../src/metrics.ts'

type Labels = Readonly<Record<string, string>>

interface Series {
  readonly name: string
  readonly labels: Labels
  /** What of the metric it is: nothing, `_sum`, `_count`, or `_bucket` with its bound after an equals sign. */
  readonly part: string
  /** Its place among the others. */
  readonly index: number
  /** Value of a counter just now, or what was written last. */
  value: number
  writtenAt: number
  readonly times: number[]
  readonly values: number[]
}

/** Answers in a second, and how long the middle one takes. */
interface Course {
  readonly perSecond: number
  readonly median: number
}

/** Takes down, moment by moment, what one target exposes. */
export interface Recorder {
  /** The next moment; nothing is written of one in which the target is not reached. */
  move(to: { readonly at: number; readonly elapsed: number; readonly isWritten: boolean }): void
  /** Nothing is written of what is unknown. */
  gauge<Name extends ReadingName>(
    name: Name,
    value: number | boolean | null,
    ...labels: LabelArgument<Name>
  ): void
  /** A counter that grows by so much a second. */
  total<Name extends ReadingName | CounterName>(
    name: Name,
    perSecond: number,
    ...labels: LabelArgument<Name>
  ): void
  observe<Name extends HistogramName>(
    name: Name,
    course: Course,
    ...labels: LabelArgument<Name>
  ): void
  /** A series that is not of the catalogue. */
  other(name: string, value: number, labels?: Labels): void
  otherTotal(name: string, perSecond: number): void
  /** These counters begin anew. */
  reset(which: (name: string) => boolean): void
  /** All samples of one series after the other, as OpenMetrics. */
  expose(): Iterable<string>
}

/** A value that stands still is repeated so often (seconds), not at each step: Prometheus looks back further. */
const REPEAT = 60
/** How steep the course of answers is around its middle. */
const STEEPNESS = 4

export const createRecorder = (common: Labels): Recorder => {
  const all: Series[] = []
  const places = new Map<string, Series>()
  let moment = { at: 0, elapsed: 0, isWritten: false }
  /** Each moment tells the same in the same order, mostly: the one after the last is looked at first. */
  let next = 0

  const find = (name: string, labels: Labels, part = ''): Series => {
    const expected = all[next]
    const found =
      expected && isOf(expected, { name, labels, part }) ? expected : search({ name, labels, part })
    next = found.index + 1
    return found
  }
  const search = (wanted: Identity): Series => {
    const { name, labels, part } = wanted
    const key = [name, part, ...Object.values(labels)].join('|')
    const known = places.get(key)
    if (known) return known
    const fresh = { ...wanted, index: all.length, value: 0, writtenAt: 0, times: [], values: [] }
    all.push(fresh)
    places.set(key, fresh)
    return fresh
  }
  const write = (series: Series, value: number, isSame: boolean): void => {
    if (!moment.isWritten) return
    if (isSame && moment.at - series.writtenAt < REPEAT) return
    series.writtenAt = moment.at
    series.times.push(moment.at)
    series.values.push(value)
  }
  const set = (series: Series, value: number): void => {
    const isSame = series.writtenAt > 0 && series.value === value
    series.value = value
    write(series, value, isSame)
  }
  const grow = (series: Series, by: number): void => {
    series.value += by
    write(series, series.value, series.writtenAt > 0 && by === 0)
  }

  return {
    move: (to) => {
      moment = to
      next = 0
    },
    gauge: (name, value, ...[labels]) => {
      if (metrics[name]?.type !== 'gauge') throw new TypeError(`${name} is no gauge`)
      if (value !== null) set(find(name, labels ?? NONE), Number(value))
    },
    total: (name, perSecond, ...[labels]) => {
      if (metrics[name]?.type === 'gauge') throw new TypeError(`${name} is no counter`)
      grow(find(name, labels ?? NONE), perSecond * moment.elapsed)
    },
    observe: (name, { perSecond, median }, ...[labels = NONE]) => {
      const count = perSecond * moment.elapsed
      for (const bound of metrics[name]?.buckets ?? []) {
        const share = 1 / (1 + (bound / median) ** -STEEPNESS)
        grow(find(name, labels, `_bucket=${bound}`), count * share)
      }
      grow(find(name, labels, '_bucket=+Inf'), count)
      grow(find(name, labels, '_count'), count)
      grow(find(name, labels, '_sum'), count * median)
    },
    other: (name, value, labels = {}) => {
      set(find(name, labels), value)
    },
    otherTotal: (name, perSecond) => {
      grow(find(name, NONE), perSecond * moment.elapsed)
    },
    reset: (which) => {
      for (const series of all) if (which(series.name)) series.value = 0
    },
    *expose() {
      for (const { name, labels, part, times, values } of all) {
        const [suffix = '', le] = part.split('=')
        const own = le === undefined ? labels : { ...labels, le }
        const prefix = `${name}${suffix}{${render({ ...own, ...common })}} `
        const text = values.map(
          (value, index) => `${prefix}${brief(value)} ${times[index] ?? ''}\n`,
        )
        if (text.length > 0) yield text.join('')
      }
    },
  }
}

const NONE: Labels = {}

type Identity = Pick<Series, 'name' | 'labels' | 'part'>

const isOf = (series: Series, { name, labels, part }: Identity): boolean => {
  if (series.name !== name || series.part !== part) return false
  for (const label in labels) if (series.labels[label] !== labels[label]) return false
  return true
}

const render = (labels: Labels): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}="${value.replaceAll(/[\\"]/g, '\\$&')}"`)
    .join(',')

/** Nine digits after a counter's small change are enough, and a file of half the size. */
const brief = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Math.round(value * 1e6) / 1e6)
