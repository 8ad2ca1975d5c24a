import type { Entry } from './journal.ts'

type Filter = (entry: Entry) => boolean

interface Question {
  readonly units: readonly string[]
  /** `FIELD=value`, or `+` between alternatives. */
  readonly matches: readonly string[]
}

/** Which entries journalctl would look at; a text where it would complain. */
export const createFilter = ({ units, matches }: Question): Filter | string => {
  const wrong = matches.find((match) => match !== '+' && !/^[A-Z0-9_]+=/.test(match))
  if (wrong !== undefined) return `Failed to add match '${wrong}': Invalid argument`
  const alternatives = splitAlternatives(matches)
  const unitFilters = units.map(ofUnit)
  return (entry) =>
    (unitFilters.length === 0 || unitFilters.some((filter) => filter(entry))) &&
    (alternatives.length === 0 || alternatives.some((fields) => matchesFields(fields, entry)))
}

interface Pattern {
  readonly grep: string | undefined
  /** `--case-sensitive`: empty where it is given without a value. */
  readonly caseSensitive: string | undefined
}

/** Which of them it would print, by their text. */
export const createGrep = ({ grep, caseSensitive }: Pattern): Filter | string => {
  if (grep === undefined) return () => true
  // Without a capital letter in it, a pattern ignores case, unless it is told otherwise.
  const heedsCase =
    caseSensitive === undefined
      ? /[A-Z]/.test(grep)
      : /^(?:|1|y|yes|t|true|on)$/i.test(caseSensitive)
  try {
    const pattern = new RegExp(grep, heedsCase ? '' : 'i')
    return ({ fields }) => pattern.test(fields['MESSAGE'] ?? '')
  } catch {
    return `Bad pattern "${grep}": it cannot be compiled`
  }
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Those not older than `--since` says, as `-2m`, `2m ago`, `@1700000000` or a date in UTC; a text where it is none of them. */
export const createSince = (since: string | undefined, nowMs: number): Filter | string =>
  bounded(since, nowMs, ({ realtimeUs }, us) => realtimeUs >= us)

/** Those not newer than `--until` says, in the same words. */
export const createUntil = (until: string | undefined, nowMs: number): Filter | string =>
  bounded(until, nowMs, ({ realtimeUs }, us) => realtimeUs <= us)

const bounded = (
  text: string | undefined,
  nowMs: number,
  isWithin: (entry: Entry, us: number) => boolean,
): Filter | string => {
  if (text === undefined) return () => true
  const atMs = timeOf(text, nowMs)
  if (Number.isNaN(atMs)) return `Failed to parse timestamp: ${text}`
  return (entry) => isWithin(entry, atMs * 1000)
}

const timeOf = (text: string, nowMs: number): number => {
  const [, ahead, behind, unit = ''] = /^(?:-(\d+)|(\d+))([smhd])[a-z]*(?: ago)?$/.exec(text) ?? []
  const count = ahead ?? (text.endsWith('ago') ? behind : undefined)
  if (count !== undefined) return nowMs - Number(count) * (UNIT_MS[unit] ?? Number.NaN)
  const [, epoch] = /^@(\d+(?:\.\d+)?)$/.exec(text) ?? []
  if (epoch !== undefined) return Number(epoch) * 1000
  return /^\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?$/.test(text)
    ? Date.parse(`${text.replace(' ', 'T')}${text.length === 10 ? 'T00:00' : ''}Z`)
    : Number.NaN
}

/** A unit's own entries, and those of PID 1 about it. */
const ofUnit = (name: string): Filter => {
  const unit = name.includes('.') ? name : `${name}.service`
  return ({ fields }) =>
    fields['_SYSTEMD_UNIT'] === unit ||
    (fields['_PID'] === '1' && fields['UNIT'] === unit) ||
    (fields['_UID'] === '0' && fields['OBJECT_SYSTEMD_UNIT'] === unit)
}

type Fields = ReadonlyMap<string, ReadonlySet<string>>

const splitAlternatives = (matches: readonly string[]): readonly Fields[] => {
  const alternatives: Map<string, Set<string>>[] = []
  let open: Map<string, Set<string>> | undefined
  for (const match of matches) {
    if (match === '+') {
      open = undefined
      continue
    }
    if (!open) {
      open = new Map()
      alternatives.push(open)
    }
    const [field, value] = [match.slice(0, match.indexOf('=')), match.slice(match.indexOf('=') + 1)]
    open.set(field, (open.get(field) ?? new Set()).add(value))
  }
  return alternatives
}

/** The same field twice is an alternative, another field is one more demand. */
const matchesFields = (wanted: Fields, { fields }: Entry): boolean =>
  [...wanted].every(([field, values]) => values.has(fields[field] ?? ''))
