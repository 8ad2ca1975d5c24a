import { hour, minute, second } from '../../core/units.ts'

/** Whole minutes of the log. Milliseconds since the epoch, whole seconds; `to` itself is after it. */
export interface Stretch {
  readonly from: number
  readonly to: number
  readonly minutes: number
}

/** How far back: so many milliseconds, or to a moment. */
export type Since = { readonly ago: number } | { readonly at: number }

export const LONGEST_MS = hour

/**
 * The stretch that ends with a whole second. It is as long as was asked for, rounded up to whole
 * minutes, because the analysis looks at a minute at a time.
 */
export const stretchTo = (to: number, since: Since = { ago: minute }): Stretch => {
  const end = Math.floor(to / second) * second
  const asked = 'ago' in since ? since.ago : end - since.at
  const minutes = Math.ceil(Math.min(Math.max(asked, 1), LONGEST_MS) / minute)
  return { from: end - minutes * minute, to: end, minutes }
}
