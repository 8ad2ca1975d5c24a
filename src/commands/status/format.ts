import { constants } from 'node:os'
import { duration, figure } from '../../core/format.ts'
import { sanitize } from '../../core/sanitize.ts'
import { second } from '../../core/units.ts'

/** A percentage with two decimals, as the storage tool prints it; below 1 it is never 100.00. */
export const share = (ratio: number): string => {
  const text = (ratio * 100).toFixed(2)
  return `${ratio < 1 && text === '100.00' ? '99.99' : text}%`
}

/** A time relative to now: `in 5 min`, `5 min ago`. */
export const relativeTime = (at: number, now: number): string =>
  at - now >= second ? `in ${duration(at - now)}` : `${duration(now - at)} ago`

/** RFC 3339 in UTC, to the second. */
export const utc = (at: number): string => new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z')

/** RFC 3339 with milliseconds, for JSON; null is unknown. */
export const iso = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : new Date(at).toISOString()

/** A time with its age. */
export const timeWithAge =
  (now: number) =>
  (at: number): string =>
    `${utc(at)} (${relativeTime(at, now)})`

/** `3 blocks`, `1 block`, `1,234 blocks`. */
export const count = (amount: number | bigint, one: string): string =>
  `${figure(amount)} ${one}${String(amount) === '1' ? '' : 's'}`

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
