import type { HistogramName, LabelArgument, ReadingName, CounterName } from '../../../src/core/metric.ts'
import { metrics } from '../../../src/metrics.ts'

type Labels = Readonly<Record<string, string>>

interface Series {
  readonly name: string
  readonly labels: Labels
  /** Suffix of the metric: empty, `_sum`, `_count`, or `_bucket` with its bound after an equals sign. */
  readonly part: string
  /** Its index. */
  readonly index: number
  /** Current value of a counter, or the last written value. */
  value: number
  writtenAt: number
  readonly times: number[]
  readonly values: number[]
}

/** Observations per second, and their median in seconds. */
interface Course {
  readonly perSecond: number
  readonly median: number
}

/** Records what one target exposes, step by step. */
export interface Recorder {
  /** Advances to the next step; nothing is recorded while the target is unreachable. */
  move(to: { readonly at: number; readonly elapsed: number; readonly isWritten: boolean }): void
  /** Unknown values are not recorded. */
  gauge<Name extends ReadingName>(name: Name, value: number | boolean | null, ...labels: LabelArgument<Name>): void
  /** A counter with this rate per second. */
  total<Name extends ReadingName | CounterName>(name: Name, perSecond: number, ...labels: LabelArgument<Name>): void
  observe<Name extends HistogramName>(name: Name, course: Course, ...labels: LabelArgument<Name>): void
  /** Series whose names the compiler does not know. */
  other(name: string, value: number, labels?: Labels): void
  otherTotal(name: string, perSecond: number, labels?: Labels): void
  observeOther(name: string, course: Course, labels?: Labels): void
  /** Resets these counters. */
  reset(which: (name: string) => boolean): void
  /** What was recorded so far. */
  names(): ReadonlySet<string>
  /** All samples, series by series, as OpenMetrics. */
  expose(): Iterable<string>
}

/** A constant value is repeated at this interval in seconds, not at each step: the lookback of Prometheus is longer. */
const REPEAT = 60
/** Steepness of the latency distribution around its median. */
const STEEPNESS = 4

export const createRecorder = (common: Labels): Recorder => {
  const all: Series[] = []
  const places = new Map<string, Series>()
  let moment = { at: 0, elapsed: 0, isWritten: false }
  /** Steps record mostly the same series in the same order: the lookup starts after the last one. */
  let next = 0

  const find = (name: string, labels: Labels, part = ''): Series => {
    const expected = all[next]
    const found = expected && isOf(expected, { name, labels, part }) ? expected : search({ name, labels, part })
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

  const observeOther = (name: string, { perSecond, median }: Course, labels = NONE): void => {
    const count = perSecond * moment.elapsed
    for (const bound of metrics[name]?.buckets ?? []) {
      const share = 1 / (1 + (bound / median) ** -STEEPNESS)
      grow(find(name, labels, `_bucket=${bound}`), count * share)
    }
    grow(find(name, labels, '_bucket=+Inf'), count)
    grow(find(name, labels, '_count'), count)
    grow(find(name, labels, '_sum'), count * median)
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
    observe: (name, course, ...[labels]) => {
      observeOther(name, course, labels)
    },
    observeOther,
    other: (name, value, labels = {}) => {
      set(find(name, labels), value)
    },
    otherTotal: (name, perSecond, labels = NONE) => {
      grow(find(name, labels), perSecond * moment.elapsed)
    },
    reset: (which) => {
      for (const series of all) if (which(series.name)) series.value = 0
    },
    names: () => new Set(all.map(({ name }) => name)),
    *expose() {
      for (const { name, labels, part, times, values } of all) {
        const [suffix = '', le] = part.split('=')
        const own = le === undefined ? labels : { ...labels, le }
        const prefix = `${name}${suffix}{${render({ ...own, ...common })}} `
        const text = values.map((value, index) => `${prefix}${brief(value)} ${times[index] ?? ''}\n`)
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

/** Nine digits are precise enough, and halve the size of the file. */
const brief = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Math.round(value * 1e6) / 1e6)
