import type { Clock } from '../../src/core/clock.ts'

interface ManualClock extends Clock {
  /** Moves the time, wakes exactly the sleepers that are due, and lets them act. */
  advance(ms: number): Promise<void>
}

/** A clock that moves only by hand. */
export const manualClock = (start = 1_000_000): ManualClock => {
  let now = start
  const sleepers = new Set<{ readonly due: number; readonly wake: () => void }>()
  return {
    now: () => now,
    elapsed: () => now - start,
    sleep: async (ms, signal) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) {
          resolve()
          return
        }
        const sleeper = {
          due: now + ms,
          wake: (): void => {
            sleepers.delete(sleeper)
            signal.removeEventListener('abort', sleeper.wake)
            resolve()
          },
        }
        signal.addEventListener('abort', sleeper.wake)
        sleepers.add(sleeper)
      }),
    advance: async (ms) => {
      now += ms
      for (const { due, wake } of sleepers) if (due <= now) wake()
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
    },
  }
}
