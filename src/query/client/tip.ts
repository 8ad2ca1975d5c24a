import { type Clock } from '../../core/clock.ts'
import { type Deliver } from './deliver.ts'
import { type ErrorFactory } from './errors.ts'
import { type FetchPage } from './fetch-page.ts'
import { type CheckedPage } from './page.ts'
import { backoffMs, type Counters } from './request.ts'
import { type BlockHash } from './types.ts'

const MAX_REORGS = 10
/** Above this, the oldest held page is delivered: a deeper reorg restarts the query. */
const MAX_HELD_BYTES = 64 * 1024 * 1024

interface TipOptions {
  readonly from: number
  /** Inclusive. */
  readonly end: number
  readonly fetchPage: FetchPage
  readonly deliver: Deliver
  readonly counters: Counters
  readonly clock: Clock
  readonly queryError: ErrorFactory
  readonly signal: AbortSignal
  /** The size of the pages that are held back; default 64 MiB. */
  readonly maxHeldBytes?: number | undefined
}

/**
 * Fetches the blocks that a reorg may still replace, one page at a time, and holds the pages back until all of them are
 * of one chain. If a page is not, the page before it is discarded and fetched again, and so on backwards. Whether the
 * first page follows the pages that were delivered earlier is checked at its own delivery.
 */
export const fetchTip = async (options: TipOptions): Promise<void> => {
  const { from, end, fetchPage, deliver, counters, clock, queryError, signal } = options
  const { maxHeldBytes = MAX_HELD_BYTES } = options
  const held: CheckedPage[] = []
  let bytes = 0
  let next = from
  let isGoingBack = false
  for (let reorgs = 0; next <= end;) {
    const page = await fetchPage(next, end, signal)
    if (isSameChain(page, held)) {
      held.push(page)
      bytes += page.body.length
      next = page.next
      isGoingBack = false
      while (bytes > maxHeldBytes && held.length > 1) {
        const [oldest] = held.splice(0, 1)
        if (oldest === undefined) break
        bytes -= oldest.body.length
        await deliver(oldest, signal)
      }
      continue
    }
    const last = held.pop()
    bytes -= last?.body.length ?? 0
    // A mismatch needs a held page, so `last` is defined.
    next = last?.from ?? from
    // Going back over several pages is one reorg.
    if (!isGoingBack) {
      reorgs += 1
      counters.reorgs += 1
    }
    isGoingBack = true
    if (reorgs > MAX_REORGS) {
      throw queryError('no-progress', 'the blocks near its head are replaced again and again')
    }
    const ms = backoffMs(reorgs)
    counters.waitedMs += ms
    await clock.sleep(ms, signal)
  }
  for (const page of held) await deliver(page, signal)
}

/** Whether no block has one hash in the page and another in a page that was fetched before. */
const isSameChain = (page: CheckedPage, before: readonly CheckedPage[]): boolean =>
  before.every(({ blockHashes }) =>
    blockHashes.every(({ block, hash }: BlockHash) =>
      page.blockHashes.every((other) => other.block !== block || other.hash === hash),
    ),
  )
