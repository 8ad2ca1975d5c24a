import type { Clock } from '../../core/clock.ts'
import { type Page, UNSETTLED_BLOCKS } from '../client/types.ts'
import type { Mark } from './checkpoint.ts'

/** Writing may take so much of the time: a twentieth. */
const PATIENCE = 20

type End = Pick<Page, 'next' | 'last'>

interface Marks {
  /** Before a page that ends there: the settled mark is written while what goes with it is as it was then. */
  before(page: End): Promise<void>
  /** After it. */
  passed(mark: Mark): Promise<void>
  /** Writes the last settled mark, where that has not been done. */
  keep(): Promise<void>
  /** What was passed is void. */
  forget(): void
}

interface Options {
  readonly clock: Clock
  /** The service's height when the run began. */
  readonly height: number
  /** Called with a mark to be written; what it takes with it, it takes now. */
  readonly write: (mark: Mark) => Promise<void>
  /** Whether each page is worth a checkpoint of its own, however long writing takes. */
  readonly isEager: boolean
  /** Never more often than this, in milliseconds. */
  readonly least?: number
}

/** Decides when the checkpoint is written. */
export const createMarks = ({ clock, height, write, isEager, least = 0 }: Options): Marks => {
  let pending: Mark | undefined
  let rest = 0
  // What may still be replaced is nothing to go on from, unless a hash tells which blocks they were.
  const isSettled = ({ next, last }: End): boolean =>
    next <= height - UNSETTLED_BLOCKS + 1 || (last ?? null) !== null
  const keep = async (): Promise<void> => {
    if (!pending) return
    const before = clock.elapsed()
    await write(pending)
    pending = undefined
    const after = clock.elapsed()
    rest = after + Math.max(least, (after - before) * PATIENCE)
  }
  return {
    before: async (page) => {
      if (!isSettled(page)) await keep()
    },
    passed: async (mark) => {
      if (!isSettled(mark)) return
      pending = mark
      if (isEager || clock.elapsed() >= rest) await keep()
    },
    keep,
    forget: () => {
      pending = undefined
    },
  }
}
