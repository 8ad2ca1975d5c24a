import { duration, figure, joinList, percent, size, utc } from '../../core/format.ts'
import { hour, second } from '../../core/units.ts'
import { isOfAgent, type RankedChange, rankChanges } from './rank-changes.ts'
import type { SeriesHistory } from './series-history.ts'

/** What a span is compared with, in milliseconds. */
const COMPARED = hour

/** The metrics that differ in the `span` up to `to` from the hour before it, or from the part of it that is known. */
export const whatChanged = (history: SeriesHistory, { to, span }: { to: number; span: number }): readonly string[] => {
  const from = to - span
  const recording = history.read({ beforeFrom: from - COMPARED, from, to })
  const hasBoth = recording.before > 0 && recording.times.length > recording.before
  return hasBoth ? rankChanges(recording).filter(differsInText).map(changeText) : []
}

/** `chain_ledger_propagation_seconds: mean 0.12 s → 0.94 s (7.83×), since 03:12:40 UTC`. */
export const changeText = (change: RankedChange): string => {
  const { family, since, until, others } = change
  const time = until === null ? `since ${clockTime(since)}` : `from ${clockTime(since)} to ${clockTime(until)}`
  const more = [
    ...(others > 0 ? [`${figure(others)} more of its series`] : []),
    ...change.with.slice(0, NAMED),
    ...(change.with.length > NAMED ? [`${figure(change.with.length - NAMED)} more metrics`] : []),
  ]
  return [
    `${family}${labelsText(change)}: ${difference(change)}, ${time}`,
    isOfAgent(change) ? ' (of the agent)' : '',
    more.length > 0 ? `; also ${joinList(more)}` : '',
  ].join('')
}

/** Whether the two values differ as they are printed. */
const differsInText = (change: RankedChange): boolean => {
  const { from, to, replaced } = change
  return replaced !== null || from === null || to === null || amount(from, change) !== amount(to, change)
}

/** How many of the metrics of a row are named. */
const NAMED = 5

/** Without those that are in the difference. */
const labelsText = ({ labels, replaced }: RankedChange): string => {
  const pairs = Object.entries(labels).filter(([label, value]) => replaced === null || replaced[label] === value)
  return pairs.length === 0 ? '' : `{${pairs.map(([label, value]) => `${label}="${value}"`).join(',')}}`
}

const clockTime = (at: number): string => `${utc(at).slice(11, 19)} UTC`

const NOUNS = { value: '', rate: 'rate ', age: 'age ', mean: 'mean ', difference: '' } as const

const difference = (change: RankedChange): string => {
  const { kind, from, to, labels, replaced } = change
  if (replaced !== null)
    return Object.entries(labels)
      .filter(([label, value]) => replaced[label] !== value)
      .map(([label, value]) => `${label} ${replaced[label] ?? 'none'} → ${value}`)
      .join(', ')
  if (to === null) return from === null ? 'absent' : `absent, was ${amount(from, change)}`
  if (from === null) return `appeared, ${amount(to, change)}`
  return `${NOUNS[kind]}${amount(from, change)} → ${amount(to, change)}${factor(change, to / from)}`
}

/** Of a change to half or to twice the value. */
const factor = ({ kind }: RankedChange, ratio: number): string =>
  kind !== 'difference' && Number.isFinite(ratio) && (ratio >= 2 || (ratio <= 0.5 && ratio > 0))
    ? ` (${rounded(ratio)}×)`
    : ''

const amount = (value: number, { family, kind }: Pick<RankedChange, 'family' | 'kind'>): string => {
  if (kind === 'age') return span(value)
  const perSecond = kind === 'rate' ? '/s' : ''
  if (family.endsWith('_timestamp_seconds')) return kind === 'rate' ? `${rounded(value)} s/s` : utc(value * second)
  // The rate and the number of the observations of a histogram have no unit.
  if (family.endsWith('_seconds_total')) return kind === 'rate' ? `${rounded(value)} s/s` : span(value)
  if (family.endsWith('_seconds') && (kind === 'value' || kind === 'mean')) return span(value)
  if (/_bytes(?:_total)?$/.test(family)) return `${value < 0 ? '-' : ''}${size(Math.abs(value))}${perSecond}`
  if (family.endsWith('_ratio') && kind !== 'rate') return percent(value)
  if (family.endsWith('_celsius') && kind !== 'rate') return `${rounded(value)} °C`
  return `${rounded(value)}${perSecond}`
}

/** Seconds below a minute with decimals. */
const span = (seconds: number): string => {
  const length = Math.abs(seconds)
  return `${seconds < 0 ? '-' : ''}${length >= 60 ? duration(length * second) : `${rounded(length)} s`}`
}

/** Three digits, and all of a large number. */
const rounded = (value: number): string =>
  Math.abs(value) >= 100 || Number.isInteger(value) ? figure(Math.round(value)) : `${Number(value.toPrecision(3))}`
