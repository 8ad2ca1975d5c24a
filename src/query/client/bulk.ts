import { linkAbort } from '../../core/clock.ts'
import { asError } from '../../core/errors.ts'
import { type Deliver } from './deliver.ts'
import { type FetchPage } from './fetch-page.ts'
import { type CheckedPage } from './page.ts'

/** The size of pages that are fetched but not delivered. Above it, only the next page in order is fetched. Only bytes count: most pages are not parsed before. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024

interface BulkOptions {
  readonly from: number
  /** Inclusive. */
  readonly end: number
  readonly concurrency: number
  readonly fetchPage: FetchPage
  readonly deliver: Deliver
  readonly signal: AbortSignal
}

interface Range {
  readonly from: number
  readonly end: number
}

/**
 * Fetches ranges of blocks concurrently and delivers their pages in block order. The first page is fetched alone: it
 * shows how many blocks fill a page, and whether the service responds at all.
 */
export const fetchBulk = async (options: BulkOptions): Promise<void> => {
  const linked = linkAbort(options.signal)
  const queue = createRangeQueue(options, linked.signal)
  try {
    while (!queue.isDone()) {
      queue.fill()
      const page = queue.take()
      if (page === undefined) await queue.nextResponse()
      else await options.deliver(page, linked.signal)
    }
  } finally {
    linked.abort()
    await queue.settled()
  }
}

const createRangeQueue = ({ from, end, concurrency, fetchPage }: BulkOptions, signal: AbortSignal) => {
  /** The first block that was not delivered, and the first that is in no range yet. */
  let cursor = from
  let frontier = end + 1
  /** The number of blocks of a range; 0 until the first page, which is requested for all blocks. */
  let rangeSize = 0
  let buffered = 0
  let failure: Error | undefined
  const open: Range[] = [{ from, end }]
  const pages = new Map<number, CheckedPage>()
  const running = new Map<number, Promise<void>>()

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
        failure ??= asError(error)
      })
      .finally(() => running.delete(range.from))
    running.set(range.from, task)
  }
  return {
    isDone: (): boolean => cursor > end,
    /** Starts as many requests as allowed. */
    fill: (): void => {
      const limit = rangeSize === 0 ? 1 : concurrency
      while (running.size < limit) {
        const range = nextRange()
        const hasRoom = buffered < MAX_BUFFERED_BYTES || range?.from === cursor
        if (range === undefined || !hasRoom || failure !== undefined) return
        start(range)
      }
    },
    /** The page that follows the delivered ones, if it has been fetched. */
    take: (): CheckedPage | undefined => {
      const page = pages.get(cursor)
      if (page === undefined) return undefined
      pages.delete(cursor)
      buffered -= page.body.length
      cursor = page.next
      return page
    },
    /** Waits for one of the running requests. Throws the first error of any of them. */
    nextResponse: async (): Promise<void> => {
      if (failure !== undefined) throw failure
      await Promise.race(running.values())
    },
    settled: async (): Promise<void> => {
      await Promise.all(running.values())
    },
  }
}
