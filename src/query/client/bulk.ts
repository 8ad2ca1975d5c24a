import { asError } from '../../core/outcome.ts'
import { type Deliver } from './deliver.ts'
import { type Fetch } from './fetch.ts'
import { type CheckedPage } from './page.ts'

/** Fetched and not yet handed on: beyond that, only the page that is waited for is fetched. Bytes alone are counted: most pages are not parsed before. */
const MOST_BUFFERED = 64 * 1024 * 1024

interface BulkOptions {
  readonly from: number
  /** Inclusive. */
  readonly end: number
  readonly concurrency: number
  readonly fetch: Fetch
  readonly deliver: Deliver
  readonly signal: AbortSignal
}

interface Range {
  readonly from: number
  readonly end: number
}

/**
 * Fetches ranges of blocks side by side and hands their pages on in block order. The first page is
 * fetched alone: it shows how many blocks fill a page, and whether the service answers at all.
 */
export const fetchBulk = async (options: BulkOptions): Promise<void> => {
  const cancel = new AbortController()
  const stop = (): void => {
    cancel.abort()
  }
  options.signal.addEventListener('abort', stop, { once: true })
  if (options.signal.aborted) stop()
  const work = createWork(options, cancel.signal)
  try {
    while (!work.isDone()) {
      work.start()
      const page = work.next()
      if (page === undefined) await work.progress()
      else await options.deliver(page, cancel.signal)
    }
  } finally {
    stop()
    options.signal.removeEventListener('abort', stop)
    await work.settled()
  }
}

const createWork = ({ from, end, concurrency, fetch }: BulkOptions, signal: AbortSignal) => {
  /** The first block that was not handed on, and the first that no range holds yet. */
  let cursor = from
  let frontier = end + 1
  /** How many blocks a range has; the first has all. */
  let span = 0
  let buffered = 0
  let failure: Error | undefined
  const open: Range[] = [{ from, end }]
  const pages = new Map<number, CheckedPage>()
  const running = new Map<number, Promise<void>>()

  const take = (): Range | undefined => {
    const [lowest] = open
    if (lowest !== undefined) return lowest
    return frontier > end ? undefined : { from: frontier, end: Math.min(end, frontier + span - 1) }
  }
  const came = (range: Range, page: CheckedPage): void => {
    pages.set(page.from, page)
    buffered += page.body.length
    const covered = page.next - page.from
    if (span === 0) {
      span = covered
      frontier = page.next
      return
    }
    // Ranges that fill one page each: those that do not fit leave a rest, which costs a request of its own.
    span = page.next > range.end ? Math.ceil(span * 1.3) : Math.max(1, Math.floor(covered * 0.9))
    if (page.next <= range.end) {
      open.push({ from: page.next, end: range.end })
      open.sort((one, other) => one.from - other.from)
    }
  }
  const begin = (range: Range): void => {
    if (open[0] === range) open.shift()
    else frontier = range.end + 1
    const task = fetch(range.from, range.end, signal)
      .then((page) => {
        came(range, page)
      })
      .catch((error: unknown) => {
        failure ??= asError(error)
      })
      .finally(() => running.delete(range.from))
    running.set(range.from, task)
  }
  return {
    isDone: (): boolean => cursor > end,
    start: (): void => {
      const most = span === 0 ? 1 : concurrency
      while (running.size < most) {
        const range = take()
        const hasRoom = buffered < MOST_BUFFERED || range?.from === cursor
        if (range === undefined || !hasRoom || failure !== undefined) return
        begin(range)
      }
    },
    /** The page that follows on what was handed on, if it is there. */
    next: (): CheckedPage | undefined => {
      const page = pages.get(cursor)
      if (page === undefined) return undefined
      pages.delete(cursor)
      buffered -= page.body.length
      cursor = page.next
      return page
    },
    progress: async (): Promise<void> => {
      if (failure !== undefined) throw failure
      await Promise.race(running.values())
    },
    settled: async (): Promise<void> => {
      await Promise.all(running.values())
    },
  }
}
