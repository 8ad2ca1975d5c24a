import { second } from '../../core/units.ts'

const FIRST = 200
const LONGEST = 5 * second
/** A service in trouble is not asked again at once, however the dice fall. */
const LEAST_SHARE = 1 / 4

/** How long to wait before the try after the `tried`th, in milliseconds: somewhere up to twice as long each time. */
export const backoff = (tried: number): number =>
  (LEAST_SHARE + (1 - LEAST_SHARE) * Math.random()) * Math.min(LONGEST, FIRST * 2 ** (tried - 1))
