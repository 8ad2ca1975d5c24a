import type { Recording } from './series-history.ts'
import { median, type Signal, type SignalKind, signalsOf, spread } from './signals.ts'

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
