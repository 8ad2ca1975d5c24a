import { createVirtualClock, settle, type VirtualClock } from '../../src/core/virtual-clock.ts'

/** A clock that moves only by hand. */
export const manualClock = (start = 1_000_000): VirtualClock => createVirtualClock(start)

/** A simulated tool takes some turns of the event loop. */
const QUIET_TURNS = 10

/** Requests and files that are under way: while there are any, a manual clock must not move. */
export interface InFlight {
  /** Counts the promise until it settles, and returns it. */
  track<T>(running: Promise<T>): Promise<T>
  /**
   * Resolves when nothing is under way that ends by itself: no tracked promise, no file operation, no address lookup.
   * Node.js does not list other work of its thread pool, such as compression: track it.
   */
  settled(): Promise<void>
}

export const createInFlight = (): InFlight => {
  let count = 0
  const end = (): void => {
    count -= 1
  }
  return {
    track: (running) => {
      count += 1
      running.then(end, end)
      return running
    },
    settled: async () => {
      let isBusy = false
      for (let quiet = 0; quiet < QUIET_TURNS;) {
        await (isBusy ? nextEvent() : settle())
        isBusy = count > 0 || isReading()
        quiet = isBusy ? 0 : quiet + 1
      }
    },
  }
}

const isReading = (): boolean =>
  process.getActiveResourcesInfo().some((name) => /^(?:FSReq|CloseReq|GetAddr)/.test(name))

/** Without a reference to the immediate the event loop sleeps until the next event, instead of spinning. */
const nextEvent = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve).unref()
  })

/**
 * Runs `work` on the clock: whenever nothing is under way, the clock moves to the next sleeper that is due. Returns
 * what `work` returns.
 */
export const onManualClock = async <T>(clock: VirtualClock, inFlight: InFlight, work: () => Promise<T>): Promise<T> => {
  let isDone = false
  const running = work().finally(() => {
    isDone = true
  })
  // The rejection is returned below.
  running.catch(() => undefined)
  for (;;) {
    await inFlight.settled()
    if (isDone) return running
    await clock.advance(clock.untilNext() ?? 0)
  }
}
