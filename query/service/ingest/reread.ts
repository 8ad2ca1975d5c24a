import type { Clock } from '../../../src/core/clock.ts'
import { asError } from '../../../src/core/errors.ts'
import { minute, second } from '../../../src/core/units.ts'
import type { Block, Filter, LogStore } from '../../store/store.ts'
import { createBlockReader } from './block-reader.ts'
import { createScopeFilter } from './completeness.ts'
import { IngestError } from './errors.ts'
import { createHeaders } from './headers.ts'
import { createRpc } from './rpc.ts'

export interface BlockRange {
  readonly from: number
  readonly to: number
}

interface RereadOptions extends BlockRange {
  readonly rpcUrl: string
  readonly store: LogStore
  readonly scope: Filter
  readonly clock: Clock
  readonly onProgress: (report: RereadReport) => void
  /** Called for each failure that is retried. */
  readonly onRetry: (error: Error, waitMs: number) => void
  readonly warn: (line: string) => void
}

/** What was read and replaced so far. */
export interface RereadReport extends BlockRange {
  readonly blocks: number
  /** Number of their logs in the store, before and after. */
  readonly logsBefore: number
  readonly logsAfter: number
  /** Number of blocks whose number of logs changed. */
  readonly changedBlocks: number
}

const MAX_RANGE = 1000
const TIMEOUT = 30 * second
const MAX_WAIT = minute
/** Without a complete block for this time, in milliseconds, the error is reported. */
const GIVE_UP_AFTER = 10 * minute

/**
 * Reads stored blocks from the node again, verifies them as the ingest does, and replaces their logs. Throws an error
 * that a retry does not fix; the blocks before it are replaced.
 */
export const rereadBlocks = async (options: RereadOptions, signal: AbortSignal): Promise<void> => {
  const { store, clock, from, to, onProgress } = options
  const rpc = createRpc({ ...options, timeout: TIMEOUT })
  const headers = createHeaders(rpc)
  const isInScope = createScopeFilter(options.scope)
  const readBlocks = createBlockReader({ ...options, rpc, headers, isInScope, maxRange: MAX_RANGE })
  let report: RereadReport = { from, to, blocks: 0, logsBefore: 0, logsAfter: 0, changedBlocks: 0 }
  /** Time of the last progress, and failures since then. */
  const since = { at: clock.elapsed(), failures: 0 }
  while (report.blocks < to - from + 1 && !signal.aborted) {
    try {
      const blocks = await readBlocks({ from: from + report.blocks, to, after: null, final: null, signal })
      const next = withBlocks(report, blocks, await keptIn(store, blocks))
      await store.replace(blocks)
      report = next
      onProgress(report)
      since.failures = 0
      since.at = clock.elapsed()
    } catch (thrown) {
      const error = asError(thrown)
      if (signal.aborted || !(error instanceof IngestError) || clock.elapsed() - since.at >= GIVE_UP_AFTER) throw error
      headers.clear()
      const wait = Math.max(error.wait ?? 0, Math.min(MAX_WAIT, second * 2 ** Math.min(since.failures, 10)))
      since.failures += 1
      options.onRetry(error, wait)
      await clock.sleep(wait, signal)
    }
  }
}

const keptIn = async (store: LogStore, blocks: readonly Block[]): Promise<ReadonlyMap<number, number>> => {
  const heads = await store.heads(blocks.map(({ number }) => number))
  return new Map(heads.map(({ number, kept }) => [number, kept]))
}

const withBlocks = (
  report: RereadReport,
  blocks: readonly Block[],
  kept: ReadonlyMap<number, number>,
): RereadReport => ({
  ...report,
  blocks: report.blocks + blocks.length,
  logsBefore: blocks.reduce((sum, { number }) => sum + (kept.get(number) ?? 0), report.logsBefore),
  logsAfter: blocks.reduce((sum, { logs }) => sum + logs.length, report.logsAfter),
  changedBlocks: blocks.reduce(
    (sum, { number, logs }) => sum + (kept.get(number) === logs.length ? 0 : 1),
    report.changedBlocks,
  ),
})
