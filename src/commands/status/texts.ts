import { constants } from 'node:os'
import { duration, figure } from '../../core/format.ts'
import { sanitize } from '../../core/sanitize.ts'
import { second } from '../../core/units.ts'

/** A share with two digits, as the storage tool prints it; what is not whole is never 100.00. */
export const share = (ratio: number): string => {
  const text = (ratio * 100).toFixed(2)
  return `${ratio < 1 && text === '100.00' ? '99.99' : text}%`
}

/** How far a moment is away. */
export const away = (at: number, now: number): string =>
  at - now >= second ? `in ${duration(at - now)}` : `${duration(now - at)} ago`

/** A moment of UTC to the second. */
export const utc = (at: number): string => new Date(at).toISOString().replace(/\.\d{3}Z$/, 'Z')

/** The same in full, for JSON; null is unknown there, too. */
export const iso = (at: number | null | undefined): string | null =>
  at === null || at === undefined ? null : new Date(at).toISOString()

/** A moment, and how long ago that is. */
export const moment =
  (now: number) =>
  (at: number): string =>
    `${utc(at)} (${away(at, now)})`

/** `3 blocks`, `1 block`, `1,234 blocks`. */
export const count = (amount: number | string, one: string): string =>
  `${figure(amount)} ${one}${String(amount) === '1' ? '' : 's'}`

/** The name of a signal by its number: `SIGABRT`. */
export const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`

/** On one line, with nothing in it that a terminal would obey. */
export const oneLine = (text: string): string =>
  sanitize(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ')
