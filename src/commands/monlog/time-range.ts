import { hour, minute, second } from '../../core/units.ts'

/** A range of whole minutes. Milliseconds since the epoch, at whole seconds; `to` is exclusive. */
export interface TimeRange {
  readonly from: number
  readonly to: number
  readonly minutes: number
}

/** Start of a range: milliseconds before its end, or milliseconds since the epoch. */
export type RangeStart = { readonly ago: number } | { readonly at: number }

export const LONGEST_MS = hour

/**
 * The range that ends at a whole second. Its length is rounded up to whole minutes, because each minute is analysed
 * separately.
 */
export const timeRangeTo = (to: number, since: RangeStart = { ago: minute }): TimeRange => {
  const end = Math.floor(to / second) * second
  const length = 'ago' in since ? since.ago : end - since.at
  const minutes = Math.ceil(Math.min(Math.max(length, 1), LONGEST_MS) / minute)
  return { from: end - minutes * minute, to: end, minutes }
}
