import { constants } from 'node:os'
import { duration, figure, utc } from '../../core/format.ts'
import { sanitize } from '../../core/redaction/redact.ts'
import { second } from '../../core/units.ts'
import type { Tone } from '../../domain/health.ts'

/** A time relative to now: `in 5 min`, `5 min ago`. */
export const relativeTime = (at: number, now: number): string =>
  at - now >= second ? `in ${duration(at - now)}` : `${duration(now - at)} ago`

/** RFC 3339 with milliseconds, for JSON; null is unknown. */
export const iso = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : new Date(at).toISOString()

/** A time with its age. */
export const timeWithAge =
  (now: number) =>
  (at: number): string =>
    `${utc(at)} (${relativeTime(at, now)})`

/** The name of a signal by its number: `SIGABRT`. */
export const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`

/** On one line, without control characters. */
export const oneLine = (text: string): string =>
  sanitize(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ')

/** Null, undefined and an empty text are unknown. */
export type Parts = readonly (string | null | undefined)[]

/** Joins the known parts; null if there are none. */
export const joined = (parts: Parts, by = ', '): string | null =>
  parts.filter((part) => part !== null && part !== undefined && part !== '').join(by) || null

/** One value of the node, known or unknown. */
export interface Fact {
  /** Its path in the JSON of the section. */
  readonly path: readonly string[]
  readonly label: string
  /** A JSON value; null is unknown. */
  readonly value: unknown
  readonly text: string
  readonly tone: Tone | undefined
}

interface FactOptions<T> {
  /** By default, derived from the name of the field. */
  readonly label?: string
  /** A text, or its parts. */
  readonly text?: (value: T) => string | Parts
  readonly tone?: (value: T) => Tone | undefined
  /** The text if the value is known to be absent. */
  readonly absent?: string | undefined
  /** Why it is unknown, if that is not a failure of the collector. */
  readonly unknownReason?: string | undefined
}

type TimeOptions = Omit<FactOptions<number>, 'text'>

export const UNKNOWN = 'unknown'

/** A field of a section; null, undefined and an empty text are unknown. */
export const fact = <T>(
  path: string | readonly string[],
  value: T | null | undefined,
  options: FactOptions<T> = {},
): Fact => {
  const names = typeof path === 'string' ? [path] : path
  const label = options.label ?? labelOf(names.at(-1) ?? '')
  // A status report has empty values.
  if (value === null || value === undefined || value === '') {
    const { absent, unknownReason } = options
    const text = absent ?? (unknownReason === undefined ? UNKNOWN : `${UNKNOWN} (${unknownReason})`)
    const tone = absent === undefined ? 'unknown' : undefined
    return { path: names, label, value: null, text, tone }
  }
  const shown = options.text ? options.text(value) : defaultText(value)
  const text = typeof shown === 'string' ? shown : (joined(shown) ?? '')
  return { path: names, label, value, text, tone: options.tone?.(value) }
}

/** Facts of one source: the time now, and why they are unknown if no fact has a reason of its own. */
export const factsFor = (now: number, unknownReason?: string) => ({
  value: <T>(path: string | readonly string[], value: T | null | undefined, options: FactOptions<T> = {}): Fact =>
    fact(path, value, { unknownReason, ...options }),
  /** A time in milliseconds since the epoch, shown in RFC 3339 with its age. */
  time: (path: string | readonly string[], at: number | null | undefined, options: TimeOptions = {}): Fact => {
    const result = fact(path, at, { unknownReason, ...options, text: timeWithAge(now) })
    return typeof result.value === 'number' ? { ...result, value: iso(result.value) } : result
  },
})

/** `blockNumberFromExternal` → `block number from external`. */
const labelOf = (field: string): string =>
  field.replaceAll(/(?<=[a-z0-9])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)

const defaultText = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return figure(value)
  return typeof value === 'string' || typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

export const noticeIf = (condition: boolean): Tone | undefined => (condition ? 'notice' : undefined)

/** The tone of a value that should be true. */
export const badUnless =
  (isOk: boolean): (() => Tone | undefined) =>
  () =>
    isOk ? undefined : 'bad'
