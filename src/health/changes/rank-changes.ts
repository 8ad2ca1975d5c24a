import { hour, second } from '../../core/units.ts'
import type { RecordedSeries, Recording } from './series-history.ts'

/** A metric whose series differ in the window from the time before. */
export interface RankedChange {
  readonly family: string
  /** The labels of the series that changed most. */
  readonly labels: Readonly<Record<string, string>>
  readonly kind: SignalKind
  /** The share of the window in which it differed, from 0 to 1, beyond its share of the time before. */
  readonly score: number
  /** The difference in units of its usual spread, at most 100 without a change of the sign. */
  readonly distance: number
  /** Milliseconds since the epoch: the first time at which it differed, and the first at which it no longer did. */
  readonly since: number
  readonly until: number | null
  /** The usual value before and the one while it differed; null is absent. */
  readonly from: number | null
  readonly to: number | null
  /** The labels of a series that was 1 until this one was: of a state set, or an info metric. */
  readonly replaced: Readonly<Record<string, string>> | null
  /** Further series of the metric that changed. */
  readonly others: number
  /** Further metrics that became absent at the same time, appeared, or stopped. */
  readonly with: readonly string[]
}

/** A change by less than this share of the value is no difference, however constant the value was. */
const LEAST_SPREAD = 0.01
/** The distance at which a value is as much different as usual, in spreads: noise rarely reaches it. */
const HALF = 4
/** Half of that of a state that changes: a new state has more information than the absence of a series. */
const DISTANCE_OF_ABSENCE = 0.5 / LEAST_SPREAD

/**
 * The metrics that changed, most first. The score has no limit that an operator sets: each value counts by its distance
 * from the usual one in units of the usual spread, and what also happened before the window is subtracted. So a metric
 * that changed earlier in the window ranks higher than what followed from it.
 */
export const rankChanges = (recording: Recording): readonly RankedChange[] => {
  const families = new Map<string, RankedChange[]>()
  for (const signal of signalsOf(recording)) {
    const change = compare(signal, recording)
    if (change === undefined) continue
    const all = families.get(change.family) ?? []
    // A series may have two signals: the mean and the number of observations, or the value and its rate.
    const other = all.findIndex(({ labels }) => labels === change.labels)
    if (other < 0) all.push(change)
    else all[other] = [...all.slice(other, other + 1), change].toSorted(byKind)[0] ?? change
    families.set(change.family, all)
  }
  return grouped([...families.values()].map(strongest).toSorted(order))
}

/** The value before its rate: a value that fell also has another rate. */
const byKind = (a: RankedChange, b: RankedChange): number =>
  Number(b.kind === 'value') - Number(a.kind === 'value') || order(a, b)

/** The series of a metric that changed most; of a state set or an info metric, with the labels that it replaced. */
const strongest = (all: readonly RankedChange[]): RankedChange => {
  const [head, ...rest] = all.toSorted(order)
  if (!head) throw new RangeError('a metric without a series')
  const counterpart = rest.find((one) => replaces(one, head) || replaces(head, one))
  if (!counterpart) return { ...head, others: rest.length }
  const [next, replaced] = replaces(head, counterpart) ? [head, counterpart] : [counterpart, head]
  const { score, distance } = head
  return { ...next, score, distance, from: 1, to: 1, replaced: replaced.labels, others: rest.length - 1 }
}

/** Whether a series of the same metric became 1 when the other one ceased to be. */
const replaces = (next: RankedChange, previous: RankedChange): boolean =>
  next.since === previous.since &&
  next.to === 1 &&
  previous.from === 1 &&
  (next.from ?? 0) === 0 &&
  (previous.to ?? 0) === 0 &&
  (next.family.endsWith('_info') ||
    Object.keys(next.labels).every((label) => next.labels[label] === previous.labels[label] || STATE_LABELS.has(label)))

/** The labels of which a state set has one series for each value. */
const STATE_LABELS: ReadonlySet<string> = new Set(['state', 'phase', 'role'])

const order = (a: RankedChange, b: RankedChange): number =>
  Number(isConclusion(a)) - Number(isConclusion(b)) ||
  b.score - a.score ||
  b.distance - a.distance ||
  (a.family < b.family ? -1 : 1)

/** What follows from all others, and the process of the agent, ranks after the node. */
const isConclusion = ({ family }: RankedChange): boolean =>
  /^(?:process|nodejs|chain_slo)_|^chain_node_(?:health|findings)$/.test(family)

/** Whether the metric is about the agent and not about the node. */
export const isOfAgent = (change: RankedChange): boolean =>
  change.family.startsWith('chain_agent_') || isConclusion(change)

const compare = (signal: Signal, { times, before }: Recording): RankedChange | undefined => {
  const { family, labels, kind, values, absent, raw } = signal
  const past = values.slice(0, before)
  // The time before the first value is not known: the agent had just started, or the label is new.
  const begin = absent.slice(0, before).indexOf(false)
  const wasAbsent = begin < 0 || absent.slice(begin, before).filter(Boolean).length * 2 > before - begin
  const usual = median(past)
  // Of few values the spread is uncertain: that of four counts as half as much again, that of an hour as it is.
  const usualSpread = spread(past) * (1 + 2 / Math.max(1, known(past).length))
  const distances = values.map((value, index) => {
    if (absent[index] === true) return wasAbsent ? 0 : DISTANCE_OF_ABSENCE
    if (wasAbsent) return DISTANCE_OF_ABSENCE
    const floor = LEAST_SPREAD * Math.max(Math.abs(value), Math.abs(usual))
    const distance = Math.abs(value - usual)
    return distance === 0 ? 0 : distance / Math.max(usualSpread, floor)
  })
  const weights = distances.map((distance, index) => (signal.weights?.[index] ?? 1) * weightOf(distance))
  const weightsBefore = known(weights.slice(Math.max(0, begin), before))
  const inWindow = weights.slice(before)
  const score = (sum(known(inWindow)) - expected(weightsBefore, known(inWindow).length)) / inWindow.length
  if (!(score > 0)) return undefined
  const different = inWindow.map((weight, index) => weight > 0 && weightOf(distances[before + index] ?? 0) >= 0.5)
  const start = different.indexOf(true)
  if (start < 0) return undefined
  const end = different.lastIndexOf(true) + 1
  const shown = kind === 'difference' || kind === 'value' ? raw : values
  const during = shown.slice(before + start, before + end).filter((_, index) => different[start + index])
  const at = (index: number): number => times[before + index] ?? Number.NaN
  return {
    family,
    labels,
    kind,
    score,
    distance: Math.max(...known(distances.slice(before))),
    since: at(start),
    until: end < inWindow.length ? at(end) : null,
    from: wasAbsent ? null : orNull(median(shown.slice(0, before))),
    to: orNull(median(during)),
    replaced: null,
    others: 0,
    with: [],
  }
}

const weightOf = (distance: number): number => distance ** 4 / (distance ** 4 + HALF ** 4)
const known = (values: readonly number[]): readonly number[] => values.filter((value) => !Number.isNaN(value))
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

/** The sum of as many weights as before the window, and twice its standard deviation. */
const expected = (weights: readonly number[], count: number): number => {
  if (weights.length === 0) return 0
  const mean = sum(weights) / weights.length
  const variance = sum(weights.map((weight) => (weight - mean) ** 2)) / weights.length
  return count * mean + 2 * Math.sqrt(count * variance)
}

/**
 * One row for what has one cause: the metrics of one subject, such as a service, that changed at the same time; those
 * that became absent together, because their source cannot be read; what no longer advances, or less than half as fast,
 * because the chain or a log is stalled.
 */
const grouped = (changes: readonly RankedChange[]): readonly RankedChange[] => {
  const rows: RankedChange[] = []
  for (const change of changes) {
    const at = rows.findIndex((row) => isTogether(row, change))
    const row = rows[at]
    if (row) rows[at] = { ...row, with: [...row.with, change.family] }
    else rows.push(change)
  }
  return rows
}

const isTogether = (a: RankedChange, b: RankedChange): boolean =>
  (isStop(a) && isStop(b) && isOfAgent(a) === isOfAgent(b) && Math.abs(a.since - b.since) <= SAME_STOP_MS) ||
  (a.since === b.since && isSameSubject(a, b)) ||
  (a.since === b.since && ((isDown(a) && b.to === null) || (isDown(b) && a.to === null))) ||
  (a.since === b.since && ((a.from === null && b.from === null) || (a.to === null && b.to === null)))

/** A source that no longer answers: by the conventions of Prometheus, its `up` is 0. What it exported is absent. */
const isDown = ({ family, to }: RankedChange): boolean => family.endsWith('_up') && to === 0

/** An age differs from the usual one a sample later than a rate. */
const SAME_STOP_MS = 30_000

const isStop = ({ kind, from, to }: RankedChange): boolean =>
  (kind === 'rate' && to !== null && to >= 0 && to < (from ?? 0) / 2) || (kind === 'age' && (to ?? 0) > (from ?? 0))

/** Whether the first words of the names are the same, as in `chain_service`, and the labels of one are those of the other. */
const isSameSubject = (a: RankedChange, b: RankedChange): boolean => {
  const [fewer, more] = [a, b].map(({ labels }) => Object.entries(labels)).toSorted((x, y) => x.length - y.length)
  return (
    sourceOf(a) === sourceOf(b) &&
    fewer !== undefined &&
    fewer.length > 0 &&
    fewer.every(([label, value]) => Object.fromEntries(more ?? [])[label] === value)
  )
}

const sourceOf = ({ family }: RankedChange): string => family.split('_', 2).join('_')

/**
 * What is compared of a series: its value; the rate of a counter, or of a value that moves in one direction; the age of
 * a timestamp that advances; the mean of the observations of a histogram; the difference from the value that it had all
 * the time before.
 */
type SignalKind = 'value' | 'rate' | 'age' | 'mean' | 'difference'

/** A quantity over time, comparable with its own past. */
interface Signal {
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
const signalsOf = (recording: Recording): readonly Signal[] => {
  const sums = new Map(
    recording.series.flatMap((one) => (one.name.endsWith('_sum') ? [[keyOf(one, '_sum'), one] as const] : [])),
  )
  return recording.series.flatMap((series) => {
    const { name } = series
    // Most series are constant.
    if (series.values.every((value) => value === series.values[0])) return []
    const total = name.endsWith('_count') ? sums.get(keyOf(series, '_count')) : undefined
    if (total) {
      const family = name.slice(0, -'_count'.length)
      return [
        { ...mainSignal(series, recording), family },
        {
          ...base(series),
          family,
          kind: 'mean' as const,
          values: ratio(steps(total.values, true), steps(series.values, true)),
        },
      ]
    }
    if (name.endsWith('_sum') && sums.get(keyOf(series, '_sum')) === series) return []
    const one = mainSignal(series, recording)
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

const mainSignal = (series: RecordedSeries, { times, before }: Recording): Signal => {
  const { name, values } = series
  const raw = Array.from(values)
  const past = raw.slice(0, before)
  const [first = Number.NaN, ...others] = known(past)
  const isConstant = others.every((value) => value === first)
  if (name.endsWith('_timestamp_seconds')) {
    const ages = raw.map((value, index) => (times[index] ?? 0) / second - value)
    if (spread(ages.slice(0, before)) < spread(past)) return { ...base(series), kind: 'age', values: ages }
    const usual = median(past)
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
    if (!counts || Number.isNaN(first)) return { ...base(series), kind: 'value', values: raw }
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
  sums.map((total, index) => {
    const count = counts[index] ?? 0
    return count > 0 ? total / count : Number.NaN
  })

/** As a height, or a directory that is only written. */
const movesOneWay = (increases: readonly number[]): boolean => {
  const all = known(increases)
  const up = all.filter((step) => step > 0).length
  const down = all.filter((step) => step < 0).length
  return Math.max(up, down) >= all.length / 2 && Math.min(up, down) <= Math.max(up, down) / 10
}

/** The median of the known values; NaN without one. */
const median = (values: readonly number[]): number => {
  // Sorted as numbers: NaN is last.
  const sorted = Float64Array.from(values).sort()
  const firstUnknown = sorted.findIndex(Number.isNaN)
  const count = firstUnknown < 0 ? sorted.length : firstUnknown
  const middle = Math.floor(count / 2)
  const upper = count === 0 ? Number.NaN : (sorted[middle] ?? Number.NaN)
  return count % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** The median distance from the median: 1.48 of it is the standard deviation of noise. */
const spread = (values: readonly number[]): number => {
  const middle = median(values)
  return 1.4826 * median(values.map((value) => Math.abs(value - middle)))
}
