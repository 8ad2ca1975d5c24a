import { QueryError } from './errors.ts'
import { type FetchPage } from './fetch-page.ts'
import { type CheckedPage } from './page.ts'
import { type Counters } from './request.ts'
import { type BlockHash, type PageSink } from './types.ts'

/** A page is of another chain than pages that have been delivered. */
export class ReorgError extends Error {}

/** Delivers one page to the sink. Throws ReorgError if the page does not follow those before. */
export type Deliver = (page: CheckedPage, signal: AbortSignal) => Promise<void>

interface DeliverOptions {
  readonly sink: PageSink
  readonly hashes: BlockHashIndex
  readonly fetchPage: FetchPage
  readonly counters: Counters
  /** Whether the blocks before the page may have been replaced since they were fetched. */
  readonly needsGuard: (page: CheckedPage) => boolean
  readonly delivered: (page: CheckedPage) => void
}

export const createDeliver = ({
  sink,
  hashes,
  fetchPage,
  counters,
  needsGuard,
  delivered,
}: DeliverOptions): Deliver => {
  const deliver = async (page: CheckedPage): Promise<void> => {
    if (!hashes.agreesWith(page.blockHashes)) throw new ReorgError()
    const before = page.from - 1
    const isGuarded = hashes.has(before) && page.blockHashes.some(({ block }) => block === before)
    await sink.page(page)
    if (!isGuarded && needsGuard(page)) counters.unguarded += 1
    hashes.add(page.blockHashes)
    counters.pages += 1
    counters.logs += page.count
    delivered(page)
  }
  /** Fetches the blocks of a page again and delivers them; a second rejection is an error. */
  const deliverAgain = async (page: CheckedPage, signal: AbortSignal): Promise<void> => {
    counters.retries += 1
    for (let from = page.from; from < page.next;) {
      const fetched = await fetchPage(from, page.next - 1, signal)
      await deliver(fetched)
      from = fetched.next
    }
  }
  return async (page, signal) => {
    try {
      await deliver(page)
    } catch (error) {
      if (!(error instanceof QueryError) || error.kind !== 'protocol') throw error
      await deliverAgain(page, signal)
    }
  }
}

/** More than the number of pages between two pages that are compared. */
const MAX_HASHES = 1000

/** The block hashes that the service has reported. Two different hashes of one block mean a reorg. */
export const createBlockHashIndex = () => {
  const hashes = new Map<number, string>()
  return {
    agreesWith: (reported: readonly BlockHash[]): boolean =>
      reported.every(({ block, hash }) => (hashes.get(block) ?? hash) === hash),
    has: (block: number): boolean => hashes.has(block),
    add: (reported: readonly BlockHash[]): void => {
      for (const { block, hash } of reported) hashes.set(block, hash)
      for (const block of hashes.keys()) {
        if (hashes.size <= MAX_HASHES) break
        hashes.delete(block)
      }
    },
    clear: (): void => {
      hashes.clear()
    },
  }
}

export type BlockHashIndex = ReturnType<typeof createBlockHashIndex>
