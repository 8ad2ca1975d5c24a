import type { Clock } from '../../core/clock.ts'

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

/** Nothing here waits for I/O: one turn of the event loop completes all pending work. */
const settle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })
