import type { Fetching } from '../query/report.ts'
import { QueryError } from '../../client/errors.ts'
import type { BlockHash } from '../../client/types.ts'
import { type Profile, type Standard, StandardError } from '../../tokens/types.ts'
import { createLedger } from '../../tokens/ledger.ts'
import { LEDGER_FIELDS, topicsOf } from '../../tokens/signatures.ts'
import { identityOf, openCheckpoint, runResumable, unfinishedRun } from '../../client/checkpoint.ts'

export interface TokenContract {
  readonly standard: Standard
  /** In lower case. */
  readonly contract: string
  readonly profile: Profile | null
}

interface RebuildOptions extends TokenContract, Omit<Fetching, 'show' | 'endProgress'> {
  /** Null for the first block of the chain. */
  readonly fromBlock: number | null
  /** Whether the contract has no event before `fromBlock`. */
  readonly fullHistory: boolean
  /** Null for the height at the start. */
  readonly toBlock: number | null
  /** The checkpoint file, and whether to resume from an existing one. */
  readonly checkpoint: { readonly file: string; readonly resume: boolean } | null
}

export type RebuiltBalances = NonNullable<Awaited<ReturnType<typeof rebuildBalances>>>

/**
 * Computes the balances of a token from its events. Throws the errors of the client; but if the service becomes
 * unreachable after the first page, returns an incomplete result. Returns undefined if interrupted. The checkpoint
 * stays after the end, because verifying and writing the balances may fail or be interrupted.
 */
export const rebuildBalances = async (options: RebuildOptions) => {
  const { client, url, signal, standard, contract, profile, fromBlock, fullHistory } = options
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
  if (found) ledger.restore(found.payload)
  let next = found?.mark.next ?? fromBlock ?? 0
  let last: BlockHash | null = found?.mark.last ?? null
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
  const query = {
    addresses: [contract],
    topics: [topics],
    fields: LEDGER_FIELDS,
    fromBlock: fromBlock ?? 0,
  }
  try {
    const run = await runResumable({
      ...options,
      query,
      target,
      height,
      checkpoint,
      point: found?.mark,
      payload: () => ledger.snapshot(),
      page: (page) => {
        ledger.applyPage(page)
        next = page.next
        last = page.last ?? null
        return null
      },
      reset: () => {
        ledger = create()
        next = query.fromBlock
        last = null
      },
    })
    unguarded = run.stats.unguarded > 0
  } catch (error) {
    const isGone = error instanceof QueryError && ['unreachable', 'limited', 'no-data'].includes(error.kind)
    if (!isGone || next <= query.fromBlock) throw error
    return finish(false, error)
  }
  return signal.aborted ? undefined : finish(true, null)
}
