import { type Clock, linkAbort } from '../../src/core/clock.ts'
import { asError } from '../../src/core/errors.ts'
import type { ErrorFactory } from './errors.ts'
import type { FetchPage } from './fetch-page.ts'
import type { CheckedPage } from './page.ts'
import { backoffMs } from './request.ts'
import type { BlockHash, Counters } from './types.ts'

/** A page is of another chain than pages that have been delivered. */
export class ReorgError extends Error {}

/** Delivers one page to the sink. Throws ReorgError if the page does not follow those before. */
export type Deliver = (page: CheckedPage, signal: AbortSignal) => Promise<void>

/** The size of pages that are fetched but not delivered. Above it, only the next page in order is fetched. Only bytes count: most pages are not parsed before. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024

interface Range {
  readonly from: number
  /** Inclusive. */
  readonly end: number
}

interface BulkOptions extends Range {
  readonly concurrency: number
  readonly fetchPage: FetchPage
  readonly deliver: Deliver
  readonly signal: AbortSignal
}

/**
 * Fetches ranges of blocks concurrently and delivers their pages in block order. The first page is fetched alone: it
 * shows how many blocks fill a page, and whether the service responds at all.
 */
export const fetchBulk = async (options: BulkOptions): Promise<void> => {
  const { from, end, concurrency, fetchPage, deliver } = options
  const { signal, abort } = linkAbort(options.signal)
  /** The first block that was not delivered, and the first that is in no range yet. */
  let cursor = from
  let frontier = end + 1
  /** The number of blocks of a range; 0 until the first page, which is requested for all blocks. */
  let rangeSize = 0
  let buffered = 0
  const open: Range[] = [{ from, end }]
  const pages = new Map<number, CheckedPage>()
  const running = new Map<number, Promise<void>>()
  const failures: Error[] = []

  const nextRange = (): Range | undefined => {
    const [lowest] = open
    if (lowest !== undefined) return lowest
    return frontier > end ? undefined : { from: frontier, end: Math.min(end, frontier + rangeSize - 1) }
  }
  const received = (range: Range, page: CheckedPage): void => {
    pages.set(page.from, page)
    buffered += page.body.length
    const covered = page.next - page.from
    if (rangeSize === 0) {
      rangeSize = covered
      frontier = page.next
      return
    }
    // Ranges should fill one page each: a range that does not fit leaves a rest, which costs another request.
    rangeSize = page.next > range.end ? Math.ceil(rangeSize * 1.3) : Math.max(1, Math.floor(covered * 0.9))
    if (page.next <= range.end) {
      open.push({ from: page.next, end: range.end })
      open.sort((one, other) => one.from - other.from)
    }
  }
  const start = (range: Range): void => {
    if (open[0] === range) open.shift()
    else frontier = range.end + 1
    const task = fetchPage(range.from, range.end, signal)
      .then((page) => {
        received(range, page)
      })
      .catch((error: unknown) => {
        failures.push(asError(error))
      })
      .finally(() => running.delete(range.from))
    running.set(range.from, task)
  }
  /** Starts as many requests as allowed. */
  const fill = (): void => {
    const limit = rangeSize === 0 ? 1 : concurrency
    while (running.size < limit && failures.length === 0) {
      const range = nextRange()
      const hasRoom = buffered < MAX_BUFFERED_BYTES || range?.from === cursor
      if (range === undefined || !hasRoom) return
      start(range)
    }
  }
  try {
    while (cursor <= end) {
      fill()
      const page = pages.get(cursor)
      if (page !== undefined) {
        pages.delete(cursor)
        buffered -= page.body.length
        cursor = page.next
        await deliver(page, signal)
        continue
      }
      const [failure] = failures
      if (failure !== undefined) throw failure
      // Detects a bug in the ranges: the run would wait for ever.
      if (running.size === 0) throw new Error(`no request for block ${cursor} is running`)
      await Promise.race(running.values())
    }
  } finally {
    abort()
    await Promise.all(running.values())
  }
}

const MAX_REORGS = 10
/** Above this, the oldest held page is delivered: a deeper reorg restarts the query. */
const MAX_HELD_BYTES = 64 * 1024 * 1024

interface TipOptions extends Omit<BulkOptions, 'concurrency'> {
  readonly counters: Counters
  readonly clock: Clock
  readonly queryError: ErrorFactory
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
