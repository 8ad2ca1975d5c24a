import type { Clock } from '../../core/clock.ts'
import { QueryError } from '../../query/client/errors.ts'
import type { Page, Progress, QueryClient } from '../../query/client/types.ts'
import { StandardError } from '../../tokens/errors.ts'
import { createLedger } from '../../tokens/ledger.ts'
import { LEDGER_FIELDS, topicsOf } from '../../tokens/signatures.ts'
import type { LedgerResult, Profile, Standard } from '../../tokens/types.ts'
import {
  createCheckpointSchedule,
  heightDecreased,
  identityOf,
  openCheckpoint,
  unfinishedRun,
} from '../../query/resume/checkpoint.ts'

export interface Token {
  readonly standard: Standard
  /** In lower case. */
  readonly contract: string
  readonly profile: Profile | null
}

interface Options extends Token {
  readonly client: QueryClient
  /** Of the service: a checkpoint of one chain is none of another. */
  readonly url: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Null for the first block of the chain. */
  readonly fromBlock: number | null
  /** Whether the contract had no event before. */
  readonly fullHistory: boolean
  /** Null for the height at the start. */
  readonly toBlock: number | null
  /** Where the checkpoint is kept, and whether one that is there is gone on from. */
  readonly checkpoint: { readonly file: string; readonly resume: boolean } | null
  readonly onProgress: (progress: Progress) => void
}

export interface Rebuilt {
  readonly ledger: LedgerResult
  /** Whether all that was asked for has been read. */
  readonly complete: boolean
  /** The last block that is in it. */
  readonly through: number
  readonly target: number
  /** What ended it before its time. */
  readonly broken: QueryError | null
  /** Whether pages near the head were taken without a hash that shows them to be of one chain; null where it is not complete. */
  readonly unguarded: boolean | null
  /** Removes the checkpoint: once the balances are where they were wanted. */
  readonly forget: () => Promise<void>
}

/**
 * The balances of a token from its events. Throws what the client throws, but where the service went away
 * in the middle: what was read until then is told, as what it is. Undefined where it was interrupted.
 * The checkpoint is kept after the end, too: asking the contract and writing may fail, or be interrupted.
 */
export const rebuildBalances = async (options: Options): Promise<Rebuilt | undefined> => {
  const {
    client,
    url,
    clock,
    signal,
    standard,
    contract,
    profile,
    fromBlock,
    fullHistory,
    onProgress,
  } = options
  const topics = topicsOf(standard, profile)
  const asked = { standard, contract, profile, fromBlock, fullHistory, toBlock: options.toBlock }
  const checkpoint = options.checkpoint
    ? openCheckpoint(options.checkpoint.file, identityOf({ service: url, ...asked }))
    : undefined
  const height = await client.height(signal)
  const found = await checkpoint?.read()
  if (found && !options.checkpoint?.resume) throw unfinishedRun(options.checkpoint?.file ?? '')
  const target = found?.mark.target ?? Math.min(options.toBlock ?? height, height)
  const create = () => createLedger({ standard, contract, profile, fullHistory })
  let ledger = create()
  if (found) ledger.restore(found.payload)
  let next = found?.mark.next ?? fromBlock ?? 0
  const schedule = createCheckpointSchedule({
    clock,
    height,
    isEager: false,
    write: async (mark) => checkpoint?.write(mark, ledger.snapshot()),
  })
  const forget = async (): Promise<void> => checkpoint?.remove()
  let unguarded: boolean | null = null
  const told = async (complete: boolean, broken: QueryError | null): Promise<Rebuilt> => {
    try {
      const ledgerResult = ledger.result()
      return {
        ledger: ledgerResult,
        complete,
        through: next - 1,
        target,
        broken,
        unguarded: complete ? unguarded : null,
        forget,
      }
    } catch (error) {
      // Whoever asks with the other standard, as is advised, has no use for that checkpoint.
      if (error instanceof StandardError) await forget()
      throw error
    }
  }
  const sink = {
    page: async (page: Page) => {
      await schedule.beforePage(page)
      ledger.applyPage(page)
      next = page.next
      await schedule.afterPage({ target, next, last: page.last ?? null, logs: 0, offset: 0 })
    },
    reset: async () => {
      schedule.discard()
      await forget()
      ledger = create()
      next = fromBlock ?? 0
    },
  }
  const query = {
    addresses: [contract],
    topics: [topics],
    fields: LEDGER_FIELDS,
    fromBlock: fromBlock ?? 0,
    toBlock: target,
  }
  try {
    const run = await client.run(query, sink, {
      signal,
      onProgress,
      ...(found && { from: found.mark.next, after: found.mark.last }),
    })
    unguarded = run.stats.unguarded > 0
    if (!signal.aborted && run.through < target) throw heightDecreased(target)
  } catch (error) {
    const isGone = error instanceof QueryError && ['unreachable', 'no-data'].includes(error.kind)
    if (!signal.aborted) {
      // That the checkpoint can not be written is the lesser evil of the two.
      await schedule.flush().catch(() => undefined)
      if (!isGone || next <= (fromBlock ?? 0)) throw error
      return told(false, error)
    }
  }
  await schedule.flush()
  return signal.aborted ? undefined : told(true, null)
}
