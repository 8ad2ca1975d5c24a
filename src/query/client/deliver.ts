import { type Chain } from './chain.ts'
import { type Counters } from './counters.ts'
import { QueryError } from './errors.ts'
import { type Fetch } from './fetch.ts'
import { type CheckedPage } from './page.ts'
import { type PageSink } from './types.ts'

/** What was handed on belongs to another chain than what comes now. */
export class ReorgError extends Error {}

/** Hands one page on. Throws ReorgError where it does not follow on those before. */
export type Deliver = (page: CheckedPage, signal: AbortSignal) => Promise<void>

interface DeliverOptions {
  readonly sink: PageSink
  readonly chain: Chain
  readonly fetch: Fetch
  readonly counters: Counters
  /** Whether what lies before the page may have been replaced since it came. */
  readonly needsGuard: (page: CheckedPage) => boolean
  readonly delivered: (page: CheckedPage) => void
}

export const createDeliver = ({
  sink,
  chain,
  fetch,
  counters,
  needsGuard,
  delivered,
}: DeliverOptions): Deliver => {
  const hand = async (page: CheckedPage): Promise<void> => {
    if (!chain.agrees(page.claims)) throw new ReorgError()
    const before = page.from - 1
    const isGuarded = chain.knows(before) && page.claims.some(({ block }) => block === before)
    await sink.page(page)
    if (!isGuarded && needsGuard(page)) counters.unguarded += 1
    chain.learn(page.claims)
    counters.pages += 1
    counters.logs += page.count
    delivered(page)
  }
  /** The blocks of a page that the sink could not understand, once more: a second time it is not asked. */
  const again = async (page: CheckedPage, signal: AbortSignal): Promise<void> => {
    counters.retries += 1
    for (let at = page.from; at < page.next;) {
      const fresh = await fetch(at, page.next - 1, signal)
      await hand(fresh)
      at = fresh.next
    }
  }
  return async (page, signal) => {
    try {
      await hand(page)
    } catch (error) {
      if (!(error instanceof QueryError) || error.kind !== 'protocol') throw error
      await again(page, signal)
    }
  }
}
