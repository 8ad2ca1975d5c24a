/** journald's defaults are 10,000 messages in 30 s, times six where a terabyte of disk is free. */
const BURST = 60_000
const INTERVAL_MS = 30_000

/** How many messages journald dropped before the one it takes now; undefined where it drops this one, too. */
type RateLimit = (atMs: number) => number | undefined

/** The rate limit that journald sets to each service. */
export const createRateLimit = (): RateLimit => {
  let beganMs = -Infinity
  let taken = 0
  let dropped = 0
  return (atMs) => {
    if (atMs - beganMs >= INTERVAL_MS) {
      const before = dropped
      beganMs = atMs
      taken = 1
      dropped = 0
      return before
    }
    if (taken < BURST) {
      taken += 1
      return 0
    }
    dropped += 1
    return undefined
  }
}
