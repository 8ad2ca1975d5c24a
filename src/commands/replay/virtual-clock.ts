import { type Clock, createSleepers } from '../../core/clock.ts'

/** A clock that follows the entries of a recording. */
export interface VirtualClock extends Clock {
  /** Advances the time without waking sleepers. */
  set(now: number): void
  /** Waits until pending work has completed. */
  settle(): Promise<void>
  /** Wakes the sleepers that are due, and waits until their work has completed. */
  wake(): Promise<void>
}

export const createVirtualClock = (start: number): VirtualClock => {
  let now = start
  const sleepers = createSleepers()
  return {
    now: () => now,
    elapsed: () => now - start,
    sleep: (ms, signal) => sleepers.sleepUntil(now + ms, signal),
    set: (next) => {
      now = Math.max(now, next)
    },
    settle,
    wake: async () => {
      sleepers.wake(now)
      await settle()
    },
  }
}

/** Nothing here waits for I/O: one turn of the event loop completes all pending work. */
const settle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })
