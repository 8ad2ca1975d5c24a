import { join } from 'node:path'
import type { Balances, TokenFeed, WatchedToken } from '../collectors/tokens/feed.ts'
import type { Clock } from '../core/clock.ts'
import { minute, second } from '../core/units.ts'
import { QueryError } from '../query/client/errors.ts'
import { type Page, type QueryClient, UNSETTLED_BLOCKS } from '../query/client/types.ts'
import { identityOf, openCheckpoint } from '../query/resume/checkpoint.ts'
import { createMarks } from '../query/resume/marks.ts'
import { StandardError } from '../tokens/errors.ts'
import { createLedger } from '../tokens/ledger.ts'
import { LEDGER_FIELDS, topicsOf } from '../tokens/signatures.ts'
import type { Ledger } from '../tokens/types.ts'
import { type Connect, keptClient } from './tokens/kept-client.ts'
import { begin, type State, unlessUnwritable } from './tokens/state.ts'
import { oneAtATime, type Stretch, within } from './tokens/turns.ts'

interface Options {
  readonly url: string | null
  readonly apiKeyFile: string | null
  /** Where the checkpoints are kept. */
  readonly directory: string
  readonly clock: Clock
  readonly connect?: Connect | undefined
}

/** A ledger may be large: it is not written more often than this, but when the history has been read. */
const WRITE_EVERY_MS = 10 * minute
/** In less, ranges that are fetched side by side would mostly be thrown away when it is over. */
const WORTH_MANY = 10 * second

export type { Connect } from './tokens/kept-client.ts'

export const createTokenFeeds = (options: Options): ((token: WatchedToken) => TokenFeed) => {
  const client = keptClient(options)
  return (token) => createFeed(token, client, options)
}

const createFeed = (
  token: WatchedToken,
  clientOf: () => Promise<QueryClient>,
  { url, clock, directory }: Options,
): TokenFeed => {
  const { name, contract, standard, profile, fromBlock, holders } = token
  const checkpoint = openCheckpoint(
    join(directory, `token-${name}.checkpoint`),
    identityOf({ url, contract, standard, profile, fromBlock }),
  )
  const create = (): Ledger => createLedger({ standard, contract, profile, fullHistory: true })
  let state: State | undefined

  const marks = createMarks({
    clock,
    // Nothing is read that is not settled.
    height: Infinity,
    isEager: false,
    least: WRITE_EVERY_MS,
    write: async (mark) =>
      unlessUnwritable(async () => {
        if (state) await checkpoint.write(mark, state.ledger.snapshot())
      }),
  })

  /** Reads up to what is settled, as far as the time goes; which block that is. */
  const read = async (client: QueryClient, now: State, stretch: Stretch): Promise<number> => {
    const { signal } = stretch
    // What is read there stays.
    const target = (await client.height(signal)) - UNSETTLED_BLOCKS
    if (target < now.next) return target
    const sink = {
      page: async (page: Page) => {
        now.ledger.applyPage(page)
        now.next = page.next
        now.last = page.last ?? null
        await marks.passed({ target, next: page.next, last: now.last, logs: 0, offset: 0 })
        stretch.pieceDone()
      },
      reset: async () => {
        now.ledger = create()
        now.next = fromBlock
        now.last = null
        now.isRead = false
        marks.forget()
        await unlessUnwritable(() => checkpoint.remove())
      },
    }
    const query = {
      addresses: [contract],
      topics: [topicsOf(standard, profile)],
      fields: LEDGER_FIELDS,
      fromBlock,
      toBlock: Math.min(target, now.next + now.most - 1),
    }
    const { next: from, last: after } = now
    const concurrency = stretch.soft < WORTH_MANY ? 1 : undefined
    const { complete } = await client.run(query, sink, { signal, from, after, concurrency })
    if (complete) now.most *= 2
    // What takes too long for all the time there is comes in smaller pieces.
    else if (now.next === from) now.most = Math.ceil(Math.min(now.most, target - from + 1) / 4)
    return target
  }

  const advance: TokenFeed['advance'] = async (time, signal) => {
    const client = await clientOf()
    const now = (state ??= await begin({ checkpoint, create, fromBlock }))
    const before = now.next
    const target = await within(time, { clock, signal }, (stretch) => read(client, now, stretch))
    if (target === undefined) return refused('no answer in time')
    const hasMoved = now.next !== before
    if (!hasMoved && now.next <= target) return refused('no page in time')
    const through = now.next > fromBlock ? now.next - 1 : null
    if (now.next <= target || through === null) {
      return { through, result: null, hasMoved, refusal: null }
    }
    if (!now.isRead) {
      now.isRead = true
      await marks.keep()
    }
    const held = holders.map(({ address, id }) => now.ledger.balanceOf(address, id))
    return {
      through,
      result: { isExplained: now.ledger.isExplained(), held },
      hasMoved,
      refusal: null,
    }
  }
  return {
    advance: oneAtATime(async (time, signal) => {
      try {
        return await advance(time, signal)
      } catch (error) {
        // Refused is a reading. That the key cannot be read is none.
        if (error instanceof QueryError) return refused(error.summary)
        if (error instanceof StandardError) return refused(wrongStandard(error))
        throw error
      }
    }),
  }
}

const refused = (refusal: string): Balances => ({
  through: null,
  result: null,
  hasMoved: false,
  refusal,
})

const wrongStandard = ({ asked, found }: StandardError): string =>
  `its events are of ${found}, not of ${asked}: set standard: ${found} in tokens.watch`
