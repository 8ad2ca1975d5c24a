import { LONGEST_SLEEP_MS, nextTurn } from './clock.ts'

/** Throws a RangeError for a time that no timer of Node.js waits. */
export const checkSleep = (ms: number): void => {
  if (!(ms >= 0 && ms <= LONGEST_SLEEP_MS)) throw new RangeError(`a sleep of ${ms} ms`)
}

/** The pending sleeps of a clock. */
export const createSleepers = (elapsed: () => number) => {
  const sleepers = new Set<{ readonly due: number; readonly wake: () => void }>()
  const sleep = (ms: number, signal: AbortSignal): Promise<void> => {
    checkSleep(ms)
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve()
        return
      }
      const sleeper = {
        due: elapsed() + ms,
        wake: (): void => {
          sleepers.delete(sleeper)
          signal.removeEventListener('abort', sleeper.wake)
          resolve()
        },
      }
      signal.addEventListener('abort', sleeper.wake)
      sleepers.add(sleeper)
    })
  }
  return {
    sleep,
    /** Wakes exactly the sleepers that are due. */
    wake: (): void => {
      const now = elapsed()
      for (const { due, wake } of sleepers) if (due <= now) wake()
    },
    /** Milliseconds until the first sleeper is due; undefined if nothing sleeps. */
    untilNext: (): number | undefined =>
      sleepers.size === 0 ? undefined : Math.max(0, Math.min(...[...sleepers].map(({ due }) => due)) - elapsed()),
  }
}

export type VirtualClock = ReturnType<typeof createVirtualClock>

/** A clock that is moved by its owner: a replay follows the entries of a recording, a test has no need to wait. */
export const createVirtualClock = (start: number) => {
  let now = start
  let offset = 0
  const elapsed = (): number => now - start
  const { sleep, wake, untilNext } = createSleepers(elapsed)
  /** Wakes the sleepers that are due, and waits until their work has completed. */
  const wakeAndSettle = async (): Promise<void> => {
    wake()
    await settle()
  }
  return {
    now: () => now + offset,
    elapsed,
    sleep,
    /** Moves the time forward without waking sleepers. */
    set: (next: number): void => {
      now = Math.max(now, next)
    },
    /** Sets what the clock shows in addition to the start and the elapsed time, as after the clock of a host was set. */
    setOffset: (ms: number): void => {
      offset = ms
    },
    wake: wakeAndSettle,
    /** Moves the time, and wakes the sleepers that are due. */
    advance: async (ms: number): Promise<void> => {
      now += ms
      await wakeAndSettle()
    },
    untilNext,
  }
}

/** One turn of the event loop: completes all pending work that does not wait for I/O. */
export const settle = nextTurn
