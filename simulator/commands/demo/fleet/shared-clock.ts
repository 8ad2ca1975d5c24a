import type { Clock } from '../../../../src/core/clock.ts'
import { createSleepers } from '../../../../src/core/virtual-clock.ts'

/** The shortest sleep in a fleet, in milliseconds. */
const TICK_MS = 25

/**
 * One timer for all sleepers, until the signal aborts: a fleet has thousands of them, most of which are deadlines that
 * are aborted, and aborting a timer of Node.js costs an error with its stack. Sleep ends at the first tick after its
 * time.
 */
export const createSharedClock = (clock: Clock, signal: AbortSignal): Clock => {
  const { sleep, wake } = createSleepers(() => clock.elapsed())
  const tick = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(TICK_MS, signal)
      wake()
    }
  }
  void tick()
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    sleep,
  }
}
