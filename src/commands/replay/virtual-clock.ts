import type { Clock } from '../../core/clock.ts'

/** A clock that goes with the entries of a recording. */
export interface VirtualClock extends Clock {
  /** Puts the time forward; nobody wakes yet. */
  set(now: number): void
  /** Lets all that is under way come to its end. */
  settle(): Promise<void>
  /** Wakes those whose time has come, and lets them act. */
  wake(): Promise<void>
}

export const createVirtualClock = (start: number): VirtualClock => {
  let now = start
  const sleepers = new Set<{ readonly due: number; readonly wake: () => void }>()
  return {
    now: () => now,
    elapsed: () => now - start,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
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
    set: (next) => {
      now = Math.max(now, next)
    },
    settle,
    wake: async () => {
      for (const { due, wake } of sleepers) if (due <= now) wake()
      await settle()
    },
  }
}

/** Nothing here waits for the world: one turn of the event loop ends all that can go on. */
const settle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })
