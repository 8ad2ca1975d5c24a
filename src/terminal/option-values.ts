import { InvalidArgumentError } from 'commander'
import type { Clock } from '../core/clock.ts'
import { day, parseDuration, renderDuration, second } from '../core/units.ts'

/** The range that journalctl supports, with years of four digits. */
const EARLIEST = 0
const LATEST = Date.UTC(9999, 11, 30)

/**
 * Parses a time in the formats of journalctl: `-1h`, `1h ago`, `2026-03-01 12:00`, `@1772366400`, `today`,
 * `yesterday`, `now`. A duration without a sign (`1h`) is in the past. The default time zone is UTC. Returns
 * milliseconds since the epoch; throws an InvalidArgumentError.
 */
export const readTime =
  ({ now }: Pick<Clock, 'now'>) =>
  (text: string): number => {
    const at = parseTime(text.trim(), now())
    if (at !== undefined && at >= EARLIEST && at <= LATEST) return at
    if (at !== undefined) throw new InvalidArgumentError('expected a time from 1970 to 9999')
    throw new InvalidArgumentError(
      'expected a time, such as 1h, 2026-03-01T12:00, "2026-03-01 12:00:30", yesterday or @1772366400',
    )
  }

const parseTime = (text: string, now: number): number | undefined => {
  const today = now - (now % day)
  if (text === 'now') return now
  if (text === 'today') return today
  if (text === 'yesterday') return today - day
  const [, epoch] = /^@(\d{1,12}(?:\.\d{1,6})?)$/.exec(text) ?? []
  if (epoch !== undefined) return Number(epoch) * second
  const [, span] = /^-?(.+?)(?: ago)?$/.exec(text) ?? []
  const back = parseDuration(span ?? '')
  return back === undefined ? parseDate(text) : now - back
}

const DATE = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(\.\d{1,9})?)?)? ?(Z|UTC|[+-]\d\d:\d\d)?$/i

const parseDate = (text: string): number | undefined => {
  const [, date, time = '00:00', seconds = '00', fraction = '', zone = 'Z'] = DATE.exec(text) ?? []
  if (date === undefined) return undefined
  const offset = /^(?:z|utc)$/i.test(zone) ? 'Z' : zone
  const at = Date.parse(`${date}T${time}:${seconds}${fraction.slice(0, 4)}${offset}`)
  // Date.parse turns February 30 into a day in March.
  const isDay = (midnight: Date): boolean =>
    !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date)
  return Number.isNaN(at) || !isDay(new Date(`${date}T00:00Z`)) ? undefined : at
}

/** Parses a duration. Throws an InvalidArgumentError. */
export const readDuration =
  ({ min, max, example }: { readonly min: number; readonly max: number; readonly example: string }) =>
  (text: string): number => {
    const span = parseDuration(text)
    if (span !== undefined && span >= min && span <= max) return span
    const range = `from ${renderDuration(min)} to ${renderDuration(max)}`
    throw new InvalidArgumentError(`expected a duration ${range}, such as ${example}`)
  }

/** Parses a whole number. Throws an InvalidArgumentError. */
export const readNumber =
  (min: number, max: number, hint = '') =>
  (text: string): number => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= min && number <= max) return number
    throw new InvalidArgumentError(`expected a number from ${min} to ${max}${hint}`)
  }

/** The newest N items are held in memory before the first is printed; with a time range they are not. */
const MAX_COUNT = 20_000

/** Parses the number of newest items to print. Throws an InvalidArgumentError. */
export const readCount = (what: string) => readNumber(1, MAX_COUNT, `; use --since for more ${what}`)

/** Parses a text of this form. Throws an InvalidArgumentError. */
export const matching =
  (form: RegExp, expected: string) =>
  (text: string): string => {
    if (form.test(text)) return text
    throw new InvalidArgumentError(`expected ${expected}`)
  }

/** For an option that may be given again; each value is parsed. The default is NO_VALUES. */
export const repeatable =
  (parse: (text: string) => string = String) =>
  (text: string, before: readonly string[]): readonly string[] => [...before, parse(text)]

export const NO_VALUES: readonly string[] = []

/** Parses the address of pages. Throws an InvalidArgumentError. */
export const readPageUrl = (text: string): string => {
  if (URL.canParse(text) && /^https?:\/\/\S+$/i.test(text)) return text.replace(/\/+$/, '')
  throw new InvalidArgumentError('expected an http or https address, like https://pages.example/runbooks')
}
