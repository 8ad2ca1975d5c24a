import { type Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import { type Headers, rateLimit } from './hints.ts'

/** What one key may still ask of one host; shared by all who use the key. */
export interface Limiter {
  /** Returns when a request may be sent, and how long that took, in milliseconds. */
  ready(signal: AbortSignal): Promise<number>
  /** Once for each request that was sent: what the answer told of the budget; nothing where there was none. */
  heard(headers: Headers): void
  /** Nobody asks for this long, in milliseconds. */
  pause(ms: number): void
}

/** Longer than this nobody waits at a terminal. */
export const LONGEST_WAIT = 15 * minute

/** So that not all who wait ask in the same moment. */
const JITTER = second / 4

export const createLimiter = (clock: Clock): Limiter => {
  let pausedUntil = 0
  let inFlight = 0
  /** Undefined while the service has told nothing, or what it told has run out. */
  let budget: { readonly left: number; readonly cost: number; readonly until: number } | undefined
  const wait = (): number => {
    const now = clock.elapsed()
    if (budget !== undefined && budget.until <= now) budget = undefined
    const isSpent = budget !== undefined && budget.left - inFlight * budget.cost < budget.cost
    return Math.max(pausedUntil, isSpent && budget !== undefined ? budget.until : 0) - now
  }
  return {
    ready: async (signal) => {
      const began = clock.elapsed()
      for (let ms = wait(); ms > 0 && !signal.aborted; ms = wait()) {
        // A timer that is set for too long ends at once.
        await clock.sleep(Math.min(ms, LONGEST_WAIT) + Math.random() * JITTER, signal)
      }
      inFlight += 1
      return clock.elapsed() - began
    },
    heard: (headers) => {
      inFlight -= 1
      const told = rateLimit(headers, clock.now())
      if (told === undefined) return
      // What would be waited for too long is asked for all the same: let the service refuse it, with its reason.
      budget =
        told.resetMs > LONGEST_WAIT
          ? undefined
          : { left: told.remaining, cost: told.cost, until: clock.elapsed() + told.resetMs }
    },
    pause: (ms) => {
      pausedUntil = Math.max(pausedUntil, clock.elapsed() + ms)
    },
  }
}

const SHARED = new WeakMap<Clock, Map<string, Limiter>>()

/** The one limiter of a key at a host: several clients of one process spend one budget. */
export const sharedLimiter = (clock: Clock, host: string, key: string | null): Limiter => {
  const limiters = SHARED.get(clock) ?? new Map<string, Limiter>()
  SHARED.set(clock, limiters)
  const name = `${host} ${key ?? ''}`
  const limiter = limiters.get(name) ?? createLimiter(clock)
  limiters.set(name, limiter)
  return limiter
}
