import { type Clock } from '../../../core/clock.ts'
import { type QueryLimits } from './limits.ts'
import { later } from './refusal.ts'

/** Does the work when its turn has come. A place is free again when the work has ended, whoever still waits for it. */
export type Gate = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

interface GateOptions {
  readonly limits: Pick<QueryLimits, 'concurrent' | 'waiting' | 'waitMs'>
  readonly clock: Clock
}

export const createGate = ({ limits, clock }: GateOptions): Gate => {
  /** Those who wait, each with what lets it in. */
  const waiting = new Set<() => void>()
  let inside = 0
  const leave = (): void => {
    const [next] = waiting
    if (next) next()
    else inside -= 1
  }
  const wait = async (signal: AbortSignal): Promise<boolean> => {
    const isIn = new AbortController()
    const stop = (): void => isIn.abort()
    let hasPlace = false
    const enter = (): void => {
      waiting.delete(enter)
      hasPlace = true
      stop()
    }
    waiting.add(enter)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    await clock.sleep(limits.waitMs, isIn.signal)
    signal.removeEventListener('abort', stop)
    waiting.delete(enter)
    return hasPlace
  }
  return async (work, signal) => {
    if (inside < limits.concurrent) inside += 1
    else if (waiting.size >= limits.waiting || !(await wait(signal)))
      throw later('busy', 'too many requests at a time', 1)
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
