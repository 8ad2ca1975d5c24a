import { type Clock, createSleepers } from '../../../core/clock.ts'

/** The shortest sleep in a fleet, in milliseconds. */
const TICK_MS = 25

/**
 * One timer for all sleepers, until the signal aborts: a fleet has thousands of them, most of which are deadlines that
 * are aborted, and aborting a timer of Node.js costs an error with its stack. Sleep ends at the first tick after its
 * time.
 */
export const createSharedClock = (clock: Clock, signal: AbortSignal): Clock => {
  const sleepers = createSleepers()
  const tick = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(TICK_MS, signal)
      sleepers.wake(clock.elapsed())
    }
  }
  void tick()
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    sleep: (ms, by) => sleepers.sleepUntil(clock.elapsed() + ms, by),
  }
}
