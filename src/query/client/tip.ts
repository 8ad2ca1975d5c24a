import { type Clock } from '../../core/clock.ts'
import { backoff } from './backoff.ts'
import { fits } from './chain.ts'
import { type Counters } from './counters.ts'
import { type Deliver } from './deliver.ts'
import { type Fetch } from './fetch.ts'
import { type CheckedPage } from './page.ts'
import { type Tell } from './tell.ts'

const MOST_REORGS = 10
/** Beyond that the oldest page is handed on: a reorg that is deeper makes everything void. */
const MOST_HELD = 64 * 1024 * 1024

interface TipOptions {
  readonly from: number
  /** Inclusive. */
  readonly end: number
  readonly fetch: Fetch
  readonly deliver: Deliver
  readonly counters: Counters
  readonly clock: Clock
  readonly tell: Tell
  readonly signal: AbortSignal
  /** In bytes. */
  readonly mostHeld?: number | undefined
}

/**
 * The blocks that may still be replaced: one page after the other, held back until all of them are of
 * one chain. Where they are not, the last one is thrown away and fetched anew, and so on backwards.
 * Whether the first one follows on what was handed on is seen when it is handed on itself.
 */
export const fetchTip = async (options: TipOptions): Promise<void> => {
  const { from, end, fetch, deliver, counters, clock, tell, signal, mostHeld = MOST_HELD } = options
  const held: CheckedPage[] = []
  let bytes = 0
  let at = from
  let isGoingBack = false
  for (let reorgs = 0; at <= end;) {
    const page = await fetch(at, end, signal)
    const before = held.map(({ claims }) => claims)
    if (fits(page.claims, before)) {
      held.push(page)
      bytes += page.body.length
      at = page.next
      isGoingBack = false
      while (bytes > mostHeld && held.length > 1) {
        const [oldest] = held.splice(0, 1)
        if (oldest === undefined) break
        bytes -= oldest.body.length
        await deliver(oldest, signal)
      }
      continue
    }
    const last = held.pop()
    bytes -= last?.body.length ?? 0
    // What does not fit on nothing would not be here.
    at = last?.from ?? from
    // However deep, it is one until something fits again.
    if (!isGoingBack) {
      reorgs += 1
      counters.reorgs += 1
    }
    isGoingBack = true
    if (reorgs > MOST_REORGS) {
      throw tell('no-progress', 'the blocks near its head are replaced again and again')
    }
    const ms = backoff(reorgs)
    counters.waitedMs += ms
    await clock.sleep(ms, signal)
  }
  for (const page of held) await deliver(page, signal)
}
