import { type Clock } from '../../core/clock.ts'
import { second } from '../../core/units.ts'
import { type Tell } from './tell.ts'

const FIRST = second / 10
const LONGEST = 5 * second
const TRIES = 8
const PATIENCE = 10 * second

export interface Standing {
  readonly evidence: string
  /** In milliseconds, before the next try. */
  readonly least: number
}

/** Leave to ask; to be given back. */
export interface Turn {
  /** Whether it asks alone, to see whether the service moves again. */
  readonly isProbe: boolean
}

/**
 * A service that answers and does not move on is asked by one request at a time, ever more rarely, and
 * then given up: however many ranges are fetched side by side, no more than ten requests in ten seconds.
 */
export const createStall = (clock: Clock, tell: Tell) => {
  let stood = 0
  let since = 0
  let opens = 0
  let isProbing = false
  /** Those that asked before it stood still, and have no answer yet: they are waited for first. */
  let others = 0
  let waiting: (() => void)[] = []
  const change = (): void => {
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }
  const changed = async (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve)
    })
  return {
    /** Returns when it may be asked. */
    enter: async (signal: AbortSignal): Promise<Turn> => {
      while (stood > 0 && !signal.aborted) {
        if (isProbing || others > 0) await changed()
        else if (clock.elapsed() < opens) await clock.sleep(opens - clock.elapsed(), signal)
        else {
          isProbing = true
          return { isProbe: true }
        }
      }
      others += 1
      return { isProbe: false }
    },
    leave: ({ isProbe }: Turn): void => {
      if (isProbe) isProbing = false
      else others -= 1
      change()
    },
    /** What was under way before it stood still says nothing of now. */
    moved: ({ isProbe }: Turn): void => {
      if (!isProbe) return
      stood = 0
      change()
    },
    /** Returns how long nobody asks: `least`, or longer. Throws QueryError('no-progress') where that has been so for too long. */
    stood: ({ evidence, least }: Standing): number => {
      if (stood === 0) since = clock.elapsed()
      stood += 1
      if (stood >= TRIES && clock.elapsed() - since >= PATIENCE) {
        throw tell('no-progress', 'it answers and does not move on', evidence)
      }
      const ms = Math.max(least, Math.min(LONGEST, FIRST * 2 ** (stood - 1)))
      opens = clock.elapsed() + ms
      return ms
    },
  }
}
