import { backoff, type Clock } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import { type ErrorFactory } from './errors.ts'

const FIRST_WAIT_MS = second / 10
const MAX_WAIT_MS = 5 * second
/** The error needs both: this number of responses without progress, and this time since the first of them. */
const MIN_ATTEMPTS = 8
const MIN_DURATION_MS = 10 * second

export interface NoProgress {
  readonly evidence: string
  /** The shortest wait before the next attempt, in milliseconds. */
  readonly minWaitMs: number
}

/** Permission to send a request; must be returned with `leave`. */
export interface Permit {
  /** Whether this is the only request, which checks whether the service makes progress again. */
  readonly isProbe: boolean
}

/**
 * Limits the requests to a service that responds without returning further blocks: one request at a time, with
 * increasing waits, then an error. However many ranges are fetched concurrently, there are at most ten requests in ten
 * seconds.
 */
export const createNoProgressGuard = (clock: Clock, queryError: ErrorFactory) => {
  let failures = 0
  let firstAt = 0
  let nextAt = 0
  let isProbing = false
  /** Requests from before the stall that have no response yet. The probe starts after the last of them. */
  let inFlight = 0
  let waiting: (() => void)[] = []
  const notify = (): void => {
    const resumed = waiting
    waiting = []
    for (const resume of resumed) resume()
  }
  const nextChange = async (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve)
    })
  return {
    /** Waits until a request may be sent. */
    enter: async (signal: AbortSignal): Promise<Permit> => {
      while (failures > 0 && !signal.aborted) {
        if (isProbing || inFlight > 0) await nextChange()
        else if (clock.elapsed() < nextAt) await clock.sleep(nextAt - clock.elapsed(), signal)
        else {
          isProbing = true
          return { isProbe: true }
        }
      }
      inFlight += 1
      return { isProbe: false }
    },
    leave: ({ isProbe }: Permit): void => {
      if (isProbe) isProbing = false
      else inFlight -= 1
      notify()
    },
    /** Call after a response with progress. Only that of a probe ends the stall: others were sent before it began. */
    progressed: ({ isProbe }: Permit): void => {
      if (!isProbe) return
      failures = 0
      notify()
    },
    /** Call after a response without progress. Returns the wait in milliseconds. Throws QueryError('no-progress'). */
    failed: ({ evidence, minWaitMs }: NoProgress): number => {
      if (failures === 0) firstAt = clock.elapsed()
      failures += 1
      if (failures >= MIN_ATTEMPTS && clock.elapsed() - firstAt >= MIN_DURATION_MS) {
        throw queryError('no-progress', 'it responds but returns no further blocks', evidence)
      }
      const ms = Math.max(minWaitMs, backoff(failures, FIRST_WAIT_MS, MAX_WAIT_MS))
      nextAt = clock.elapsed() + ms
      return ms
    },
  }
}
