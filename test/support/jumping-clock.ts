import type { Clock } from '../../src/core/clock.ts'
import { checkSleep } from '../../src/core/virtual-clock.ts'

interface JumpingClock extends Clock {
  /** How long each wait was, in milliseconds, in the order in which they began. */
  readonly waits: readonly number[]
  /** Lets the deadlines that are running pass. */
  expire(): void
}

/**
 * A clock for real exchanges with waits between them: each wait is over at once and moves the time by as much. A wait
 * of `deadline` milliseconds is none, but the limit of an exchange: it ends by `expire` alone.
 */
export const jumpingClock = (deadline = 30_000): JumpingClock => {
  const start = 1_700_000_000_000
  let now = start
  const waits: number[] = []
  const deadlines = new Set<() => void>()
  const untilExpired = async (signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        deadlines.delete(end)
        signal.removeEventListener('abort', end)
        resolve()
      }
      deadlines.add(end)
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
    })
  return {
    waits,
    now: () => now,
    elapsed: () => now - start,
    sleep: async (ms, signal) => {
      checkSleep(ms)
      if (ms === deadline) {
        await untilExpired(signal)
        return
      }
      if (signal.aborted) return
      waits.push(ms)
      // Others who wait at the same time may have moved it past the end of this one already.
      const due = now + ms
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
      now = Math.max(now, due)
    },
    expire: () => {
      now += deadline
      for (const end of deadlines) end()
    },
  }
}

/** As on a real host, time passes between two reads of the clock, and a timer fires early by more than one read takes. */
export const impreciseClock = (clock: Clock): Clock => {
  let reads = 0
  let early = 0
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed() - early + reads++,
    sleep: async (ms, signal) => {
      await clock.sleep(ms, signal)
      early += Math.min(ms, 1.5)
    },
  }
}
