import { type Clock, linkAbort } from '../../../core/clock.ts'
import { retryLater } from './http-error.ts'
import type { QueryLimits } from './limits.ts'

/**
 * Runs the work as soon as a slot is free. The slot is released when the work ends, even if the client has
 * disconnected.
 */
export type ConcurrencyLimit = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

interface ConcurrencyLimitOptions {
  readonly limits: Pick<QueryLimits, 'concurrent' | 'waiting' | 'waitMs'>
  readonly clock: Clock
}

export const createConcurrencyLimit = ({ limits, clock }: ConcurrencyLimitOptions): ConcurrencyLimit => {
  /** Waiting requests: each callback grants a slot. */
  const waiting = new Set<() => void>()
  let running = 0
  const release = (): void => {
    const [next] = waiting
    if (next) next()
    else running -= 1
  }
  const waitForSlot = async (signal: AbortSignal): Promise<boolean> => {
    const linked = linkAbort(signal)
    let isGranted = false
    const grant = (): void => {
      waiting.delete(grant)
      isGranted = true
      linked.abort()
    }
    waiting.add(grant)
    await clock.sleep(limits.waitMs, linked.signal)
    linked.abort()
    waiting.delete(grant)
    return isGranted
  }
  return async (work, signal) => {
    if (running < limits.concurrent) running += 1
    else if (waiting.size >= limits.waiting || !(await waitForSlot(signal)))
      throw retryLater('busy', 'too many concurrent requests', 1)
    try {
      return await work()
    } finally {
      release()
    }
  }
}
