import { constants } from 'node:os'
import { printable } from '../../core/printable.ts'
import { day, hour, minute, second } from '../../core/units.ts'

const UNITS = ['bytes', 'Kb', 'Mb', 'Gb', 'Tb', 'Pb'] as const

/** Bytes as the storage tool prints them, binary under decimal names, and at the same places another unit. */
export const size = (bytes: number): string => {
  const power = Math.max(
    0,
    UNITS.findLastIndex((_, index) => bytes >= 0.9 * 1024 ** index),
  )
  return `${(bytes / 1024 ** power).toFixed(2)} ${UNITS[power] ?? ''}`
}

/** A share with two digits, as the storage tool prints it; what is not whole is never 100.00. */
export const share = (ratio: number): string => {
  const text = (ratio * 100).toFixed(2)
  return `${ratio < 1 && text === '100.00' ? '99.99' : text}%`
}

const SPANS = [
  [day, 'd'],
  [hour, 'h'],
  [minute, 'min'],
  [second, 's'],
] as const

/** Milliseconds in one unit, rounded down: `2 s`, `3 min`, `5 h`, `2 d`. */
export const span = (ms: number): string => {
  const [length, unit] = SPANS.find(([least]) => ms >= least) ?? [second, 's']
  return `${Math.max(0, Math.floor(ms / length))} ${unit}`
}

/** How far a moment is away. */
export const away = (at: number, now: number): string =>
  at - now >= second ? `in ${span(at - now)}` : `${span(now - at)} ago`

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

/** Seconds as the status report prints an uptime: `2d 05h 12m 09s`. */
export const uptime = (seconds: number): string => {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  const rest = seconds % 86_400
  return `${Math.floor(seconds / 86_400)}d ${two(rest / 3600)}h ${two((rest % 3600) / 60)}m ${two(rest % 60)}s`
}

/** `3 blocks`, `1 block`. */
export const count = (amount: number | string, one: string): string =>
  `${amount} ${one}${String(amount) === '1' ? '' : 's'}`

/** The name of a signal by its number: `SIGABRT`. */
export const signalName = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`

/** On one line, with nothing in it that a terminal would obey. */
export const oneLine = (text: string): string =>
  printable(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('; ')
