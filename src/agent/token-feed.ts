import { join } from 'node:path'
import pLimit from 'p-limit'
import type { Balances, TimeLimits, TokenFeed, WatchedToken } from '../collectors/tokens/feed.ts'
import { type Clock, linkAbort } from '../core/clock.ts'
import { stableReason } from '../core/error-body.ts'
import { ParseError, SourceError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import { minute, second } from '../core/units.ts'
import { createQueryClient } from '../../query/client/client.ts'
import { QueryError } from '../../query/client/errors.ts'
import { type BlockHash, type Page, type QueryClient, UNSETTLED_BLOCKS } from '../../query/client/types.ts'
import {
  type CheckpointFile,
  createCheckpointSchedule,
  identityOf,
  openCheckpoint,
} from '../../query/client/checkpoint.ts'
import { readSecretFile } from '../sources/credential-file.ts'
import { type Ledger, StandardError } from '../../query/tokens/types.ts'
import { createLedger } from '../../query/tokens/ledger.ts'
import { LEDGER_FIELDS, topicsOf } from '../../query/tokens/signatures.ts'

/** Creates a client of a query service. */
export type Connect = typeof createQueryClient

interface ClientOptions {
  readonly url: string | null
  readonly apiKeyFile: string | null
  readonly clock: Clock
  /** Replaced in a simulation, whose time is virtual. */
  readonly connect?: Connect | undefined
}

interface TokenFeedOptions extends ClientOptions {
  /** The directory of the checkpoints. */
  readonly directory: string
}

/** The shortest time between two writes of a ledger, which may be large, until the history has been read. */
const CHECKPOINT_INTERVAL_MS = 10 * minute
/** With less time, most ranges that are fetched concurrently would be discarded at its end. */
const MIN_CONCURRENT_MS = 10 * second

export const createTokenFeeds = (options: TokenFeedOptions): ((token: WatchedToken) => TokenFeed) => {
  const getClient = createClientCache(options)
  return (token) => createFeed(token, getClient, options)
}

const createFeed = (
  token: WatchedToken,
  getClient: () => Promise<QueryClient>,
  { url, clock, directory }: TokenFeedOptions,
): TokenFeed => {
  const { name, contract, standard, profile, fromBlock, holders } = token
  const checkpoint = openCheckpoint(
    join(directory, `token-${name}.checkpoint`),
    identityOf({ url, contract, standard, profile, fromBlock }),
  )
  const create = (): Ledger => createLedger({ standard, contract, profile, fullHistory: true })
  let state: FeedState | undefined

  const schedule = createCheckpointSchedule({
    clock,
    // The feed reads settled blocks only.
    height: Infinity,
    isEager: false,
    minIntervalMs: CHECKPOINT_INTERVAL_MS,
    write: async (point) =>
      ignoreSourceError(async () => {
        if (state) await checkpoint.write(point, state.ledger.snapshot())
      }),
  })

  /** Reads settled blocks until the time is over. Returns the last settled block. */
  const read = async (client: QueryClient, current: FeedState, turn: TimedTurn): Promise<number> => {
    const { signal } = turn
    const target = (await client.height(signal)) - UNSETTLED_BLOCKS
    if (target < current.next) return target
    const sink = {
      page: async (page: Page) => {
        current.ledger.applyPage(page)
        current.next = page.next
        current.last = page.last ?? null
        await schedule.afterPage({ target, next: page.next, last: current.last, output: null })
        turn.checkTime()
      },
      reset: async () => {
        current.ledger = create()
        current.next = fromBlock
        current.last = null
        current.isRead = false
        schedule.discard()
        await ignoreSourceError(() => checkpoint.remove())
      },
    }
    const query = {
      addresses: [contract],
      topics: [topicsOf(standard, profile)],
      fields: LEDGER_FIELDS,
      fromBlock,
      toBlock: Math.min(target, current.next + current.maxBlocks - 1),
    }
    const { next: from, last: after } = current
    const concurrency = turn.soft < MIN_CONCURRENT_MS ? 1 : undefined
    const { complete } = await client.run(query, sink, { signal, from, after, concurrency })
    if (complete) current.maxBlocks *= 2
    // No page in all of the time: request fewer blocks.
    else if (current.next === from) {
      current.maxBlocks = Math.ceil(Math.min(current.maxBlocks, target - from + 1) / 4)
    }
    return target
  }

  const advance: TokenFeed['advance'] = async (time, signal) => {
    const client = await getClient()
    const current = (state ??= await restoreState({ checkpoint, create, fromBlock }))
    const before = current.next
    const target = await withTimeLimits(time, { clock, signal }, (turn) => read(client, current, turn))
    if (target === undefined) return failed('no answer in time')
    const hasMoved = current.next !== before
    if (!hasMoved && current.next <= target) return failed('no page in time')
    const through = current.next > fromBlock ? current.next - 1 : null
    if (current.next <= target || through === null) {
      return { through, result: null, hasMoved, refusal: null }
    }
    if (!current.isRead) {
      current.isRead = true
      await schedule.flush()
    }
    const held = holders.map(({ address, id }) => current.ledger.balanceOf(address, id))
    return {
      through,
      result: {
        isExplained: current.ledger.isExplained(),
        isAmbiguous: current.ledger.isAmbiguous(),
        held,
      },
      hasMoved,
      refusal: null,
    }
  }
  // An aborted call continues for a short time.
  const oneAtATime = pLimit(1)
  return {
    advance: async (time, signal) =>
      oneAtATime(async () => {
        try {
          return await advance(time, signal)
        } catch (error) {
          // A failed query is a valid reading. An unreadable key file is an error.
          if (error instanceof QueryError) return failed(describeFailure(error))
          if (error instanceof StandardError) return failed(wrongStandard(error))
          throw error
        }
      }),
  }
}

const failed = (refusal: string): Balances => ({
  through: null,
  result: null,
  hasMoved: false,
  refusal,
})

/** With what the service reported, in a form that is equal for repetitions. The evidence of a stall has block numbers only. */
const describeFailure = ({ kind, summary, evidence }: QueryError): string => {
  const reported = kind === 'no-progress' || kind === 'no-data' ? '' : stableReason(evidence)
  return reported === '' ? summary : `${summary} (${reported})`
}

const wrongStandard = ({ requested, found }: StandardError): string => {
  if (found === null) return 'its Transfer events may index the id in the place of an address: they cannot be read'
  return requested === 'erc721'
    ? 'its Transfer events have no indexed id and are not those of a complete ERC-721: if it is an ERC-20, set standard: erc20 in tokens.watch'
    : `its Transfer events are of ${found}, not of ${requested}: set standard: ${found} in tokens.watch`
}

/** Few, because the next reading is a minute later. */
const RETRIES = 2

/** All tokens share one client, and so its connections and its rate limit. A changed key file creates another. */
const createClientCache = (options: ClientOptions): (() => Promise<QueryClient>) => {
  const { url, apiKeyFile, clock, connect = createQueryClient } = options
  let cached: { readonly apiKey: string | null; readonly client: QueryClient } | undefined
  return async () => {
    const apiKey = apiKeyFile === null ? null : await readSecretFile(apiKeyFile, 'API key')
    if (cached?.apiKey !== apiKey || !cached) {
      cached = {
        apiKey,
        client: connect({ url: url ?? '', apiKey, clock, retries: RETRIES, maxBodyBytes: LIMITS.response.pageBytes }),
      }
    }
    return cached.client
  }
}

/** The balances of a token and the position up to which they have been read. */
interface FeedState {
  ledger: Ledger
  /** The first block that has not been read. */
  next: number
  /** The block before it and its hash, if known: the next page must be of the same chain. */
  last: BlockHash | null
  /** The number of blocks to request in one turn. */
  maxBlocks: number
  /** Whether the history has been read up to the settled blocks once. */
  isRead: boolean
}

const UNREAD = { last: null, maxBlocks: Infinity, isRead: false }

interface RestoreOptions {
  readonly checkpoint: CheckpointFile
  readonly create: () => Ledger
  readonly fromBlock: number
}

/** A checkpoint that is damaged or of another configuration is ignored: the history is read again. */
const restoreState = async ({ checkpoint, create, fromBlock }: RestoreOptions): Promise<FeedState> => {
  const ledger = create()
  const found = await readUsable(checkpoint)
  try {
    if (found) {
      ledger.restore(found.payload)
      const { next, last } = found.mark
      return { ...UNREAD, ledger, next, last }
    }
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
  }
  return { ...UNREAD, ledger: create(), next: fromBlock }
}

/** Readings do not need the checkpoint, and the agent itself reports a directory that is not writable. */
const ignoreSourceError = async (write: () => Promise<void>): Promise<void> => {
  try {
    await write()
  } catch (error) {
    if (!(error instanceof SourceError)) throw error
  }
}

const readUsable = async (checkpoint: CheckpointFile) => {
  try {
    return await checkpoint.read()
  } catch (error) {
    if (error instanceof SourceError) return undefined
    throw error
  }
}

/** One turn of reading with a time limit. */
interface TimedTurn {
  /** In milliseconds. */
  readonly soft: number
  readonly signal: AbortSignal
  /** Call after each page: aborts the signal if the soft limit is over. */
  checkTime(): void
}

/** Aborts the work at its limits. Returns undefined if the aborted work throws, which is not an error. */
const withTimeLimits = async <T>(
  { soft, hard }: TimeLimits,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  work: (turn: TimedTurn) => Promise<T>,
): Promise<T | undefined> => {
  const linked = linkAbort(signal)
  if (hard <= 0) linked.abort()
  const startedAt = clock.elapsed()
  void clock.sleep(hard, linked.signal).then(linked.abort)
  const checkTime = (): void => {
    if (clock.elapsed() - startedAt >= soft) linked.abort()
  }
  try {
    return await work({ soft, signal: linked.signal, checkTime })
  } catch (error) {
    if (!linked.signal.aborted) throw error
    return undefined
  } finally {
    linked.abort()
  }
}
