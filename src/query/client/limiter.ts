import { type Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import { rateLimitOf } from './response.ts'
import { type Headers } from './transport.ts'

/** The rate limit of one API key at one host, shared by all clients that use the key. */
export interface Limiter {
  /** Waits until a request may be sent. Returns how long that took, in milliseconds. */
  acquire(signal: AbortSignal): Promise<number>
  /** Call once after each `acquire`, with the headers of the response, or none without a response. */
  release(headers: Headers): void
  /** Delays all requests, in milliseconds. */
  pause(ms: number): void
}

/** The client does not wait longer than this for one request; it reports an error instead. */
export const MAX_WAIT_MS = 15 * minute

/** Spreads the requests that wait for the same reset. */
const JITTER_MS = second / 4

export const createLimiter = (clock: Clock): Limiter => {
  let pausedUntil = 0
  let inFlight = 0
  /** Undefined until the service reports a budget, and after its reset. */
  let budget: { readonly left: number; readonly cost: number; readonly until: number } | undefined
  const remainingWait = (): number => {
    const now = clock.elapsed()
    if (budget !== undefined && budget.until <= now) budget = undefined
    const isSpent = budget !== undefined && budget.left - inFlight * budget.cost < budget.cost
    return Math.max(pausedUntil, isSpent && budget !== undefined ? budget.until : 0) - now
  }
  return {
    acquire: async (signal) => {
      const startedAt = clock.elapsed()
      for (let ms = remainingWait(); ms > 0 && !signal.aborted; ms = remainingWait()) {
        // Bounded: a Node.js timer of more than 2^31 ms fires at once.
        await clock.sleep(Math.min(ms, MAX_WAIT_MS) + Math.random() * JITTER_MS, signal)
      }
      inFlight += 1
      return clock.elapsed() - startedAt
    },
    release: (headers) => {
      inFlight -= 1
      const reported = rateLimitOf(headers, clock.now())
      if (reported === undefined) return
      // If the wait were too long, the request is sent all the same, so that the service rejects it with its reason.
      budget =
        reported.resetMs > MAX_WAIT_MS
          ? undefined
          : {
              left: reported.remaining,
              cost: reported.cost,
              until: clock.elapsed() + reported.resetMs,
            }
    },
    pause: (ms) => {
      pausedUntil = Math.max(pausedUntil, clock.elapsed() + ms)
    },
  }
}

const SHARED = new WeakMap<Clock, Map<string, Limiter>>()

/** Returns the same limiter for the same key and host: the clients of one process share one budget. */
export const sharedLimiter = (clock: Clock, host: string, key: string | null): Limiter => {
  const limiters = SHARED.get(clock) ?? new Map<string, Limiter>()
  SHARED.set(clock, limiters)
  const name = `${host} ${key ?? ''}`
  const limiter = limiters.get(name) ?? createLimiter(clock)
  limiters.set(name, limiter)
  return limiter
}
