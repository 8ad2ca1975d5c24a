import type { Clock } from '../../../core/clock.ts'

/** The shortest sleep in a fleet, in milliseconds. */
const TICK_MS = 25

interface Sleeper {
  readonly due: number
  readonly wake: () => void
}

/**
 * One timer for all sleepers, until the signal aborts: a fleet has thousands of them, most of which are deadlines that
 * are aborted, and aborting a timer of Node.js costs an error with its stack. Sleep ends at the first tick after its
 * time.
 */
export const createSharedClock = (clock: Clock, signal: AbortSignal): Clock => {
  const sleepers = new Set<Sleeper>()
  const tick = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(TICK_MS, signal)
      const now = clock.elapsed()
      for (const sleeper of sleepers) if (sleeper.due <= now) sleeper.wake()
    }
  }
  void tick()
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    sleep: async (ms, by) =>
      await new Promise<void>((resolve) => {
        if (by.aborted) {
          resolve()
          return
        }
        const wake = (): void => {
          sleepers.delete(sleeper)
          by.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper: Sleeper = { due: clock.elapsed() + ms, wake }
        by.addEventListener('abort', wake)
        sleepers.add(sleeper)
      }),
  }
}
