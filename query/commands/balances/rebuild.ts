import type { Clock } from '../../../src/core/clock.ts'
import { ParseError } from '../../../src/core/errors.ts'
import { QueryError } from '../../client/errors.ts'
import type { BlockHash, Page, Progress, QueryClient } from '../../client/types.ts'
import { type Profile, type Standard, StandardError } from '../../tokens/types.ts'
import { createLedger, type Ledger } from '../../tokens/ledger.ts'
import { LEDGER_FIELDS, topicsOf } from '../../tokens/signatures.ts'
import {
  createCheckpointSchedule,
  heightDecreased,
  identityOf,
  openCheckpoint,
  unfinishedRun,
  unusable,
} from '../../client/checkpoint.ts'

export interface TokenContract {
  readonly standard: Standard
  /** In lower case. */
  readonly contract: string
  readonly profile: Profile | null
}

interface RebuildOptions extends TokenContract {
  readonly client: QueryClient
  /** The address of the service, which identifies the chain of a checkpoint. */
  readonly url: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Null for the first block of the chain. */
  readonly fromBlock: number | null
  /** Whether the contract has no event before `fromBlock`. */
  readonly fullHistory: boolean
  /** Null for the height at the start. */
  readonly toBlock: number | null
  /** The checkpoint file, and whether to resume from an existing one. */
  readonly checkpoint: { readonly file: string; readonly resume: boolean } | null
  readonly onProgress: (progress: Progress) => void
}

export type RebuiltBalances = NonNullable<Awaited<ReturnType<typeof rebuildBalances>>>

/**
 * Computes the balances of a token from its events. Throws the errors of the client; but if the service becomes
 * unreachable after the first page, returns an incomplete result. Returns undefined if interrupted. The checkpoint
 * stays after the end, because verifying and writing the balances may fail or be interrupted.
 */
export const rebuildBalances = async (options: RebuildOptions) => {
  const { client, url, clock, signal, standard, contract, profile, fromBlock, fullHistory, onProgress } = options
  const topics = topicsOf(standard, profile)
  const identity = { standard, contract, profile, fromBlock, fullHistory, toBlock: options.toBlock }
  const checkpoint = options.checkpoint
    ? openCheckpoint(options.checkpoint.file, identityOf({ service: url, ...identity }))
    : undefined
  const height = await client.height(signal)
  const found = await checkpoint?.read()
  if (found && !options.checkpoint?.resume) throw unfinishedRun(options.checkpoint?.file ?? '')
  const target = found?.mark.target ?? Math.min(options.toBlock ?? height, height)
  const create = () => createLedger({ standard, contract, profile, fullHistory })
  let ledger = create()
  if (found) restoreLedger(ledger, found.payload, options.checkpoint?.file ?? '')
  let next = found?.mark.next ?? fromBlock ?? 0
  let last: BlockHash | null = found?.mark.last ?? null
  const schedule = createCheckpointSchedule({
    clock,
    height,
    isEager: false,
    write: async (mark) => checkpoint?.write(mark, ledger.snapshot()),
  })
  const removeCheckpoint = async (): Promise<void> => checkpoint?.remove()
  let unguarded: boolean | null = null
  /** `complete`: all blocks through `target` have been read; `error` ended the run early. */
  const finish = async (complete: boolean, error: QueryError | null) => {
    try {
      return {
        ledger: ledger.result(),
        complete,
        /** The last block that has been applied. */
        through: next - 1,
        target,
        /** Block `through` and its hash, if the service reported it. */
        last,
        error,
        /** Whether no hash proves that the pages near the head are of one chain; null for an incomplete run. */
        unguarded: complete ? unguarded : null,
        /** Call after the balances have been written. */
        removeCheckpoint,
      }
    } catch (thrown) {
      // The advice is to use the other standard, which cannot use this checkpoint.
      if (thrown instanceof StandardError) await removeCheckpoint()
      throw thrown
    }
  }
  const sink = {
    page: async (page: Page) => {
      await schedule.beforePage(page)
      ledger.applyPage(page)
      next = page.next
      last = page.last ?? null
      await schedule.afterPage({ target, next, last, output: null })
    },
    reset: async () => {
      schedule.discard()
      await removeCheckpoint()
      ledger = create()
      next = fromBlock ?? 0
      last = null
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
    const isGone = error instanceof QueryError && ['unreachable', 'limited', 'no-data'].includes(error.kind)
    if (!signal.aborted) {
      // The error of the query is more important than an error of the checkpoint.
      await schedule.flush().catch(() => undefined)
      if (!isGone || next <= (fromBlock ?? 0)) throw error
      return finish(false, error)
    }
  }
  await schedule.flush()
  return signal.aborted ? undefined : finish(true, null)
}

/** The checkpoint is undamaged and of the same options. */
const restoreLedger = (ledger: Ledger, payload: Uint8Array, file: string): void => {
  try {
    ledger.restore(payload)
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    throw unusable(file, 'another version of this program wrote it')
  }
}
