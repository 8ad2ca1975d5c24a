import { duration } from '../core/format.ts'

/** A duration in milliseconds in its largest unit, so that a sentence does not change every second: `2 min`. */
export const shortDuration = (ms: number): string => duration(ms, 1)

/** `a`, `a and b`, `a, b and c`. */
export const joinList = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1) ?? ''}`

/** A ratio as a percentage, rounded down: 0.959 is 95%, not 96%. */
export const percent = (ratio: number): string => `${Math.floor(ratio * 100)}%`
