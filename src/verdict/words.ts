import { day, hour, minute, second } from '../core/units.ts'

const SPANS = [
  [day, 'day'],
  [hour, 'hour'],
  [minute, 'minute'],
  [second, 'second'],
] as const

/** Milliseconds in words, rounded down to one unit: `2 minutes`, `1 hour`, `0 seconds`. */
export const roughly = (ms: number): string => {
  const [span, word] = SPANS.find(([length]) => ms >= length) ?? [second, 'second']
  const count = Math.max(0, Math.floor(ms / span))
  return `${count} ${word}${count === 1 ? '' : 's'}`
}

/** `a`, `a and b`, `a, b and c`. */
export const list = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`

/** A share as a percentage, rounded down: 0.959 is 95 %, and not yet 96. */
export const percent = (ratio: number): string => `${Math.floor(ratio * 100)}%`

/** With separators of thousands: 61,240,118. */
export const figure = (value: number | bigint): string => value.toLocaleString('en-US')
