import { setTimeout as delay } from 'node:timers/promises'

/** The only source of time. Tests pass a clock that they control. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Milliseconds on a monotonic clock, with fractions: for measuring durations. */
  elapsed(): number
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects, so loops need no catch. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, { signal }).catch(() => undefined)
  },
}
