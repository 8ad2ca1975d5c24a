import type { SampleIndex } from '../../core/sample-index.ts'
import { minute, second } from '../../core/units.ts'

interface TimedBlock {
  readonly height: number
  /** Its own time, in seconds since the epoch. */
  readonly time: number
}

/** A stream that is so far behind the RPC has stopped. */
const STOPPED_S = 30

/** The newest block that the node told of. The ledger has the time of every block; the RPC, where that stopped. */
export const newestBlock = (known: SampleIndex): TimedBlock | undefined => {
  const ledger = timed(
    known.value('chain_ledger_seq_num', { event: 'proposed' }),
    known.value('chain_ledger_block_timestamp_seconds', { event: 'proposed' }),
  )
  const rpc = timed(
    known.value('chain_rpc_block_number', { tag: 'latest' }),
    known.value('chain_rpc_block_timestamp_seconds', { tag: 'latest' }),
  )
  return ledger && !(rpc && rpc.time - ledger.time > STOPPED_S) ? ledger : rpc
}

const timed = (height: number | undefined, time: number | undefined): TimedBlock | undefined =>
  height === undefined || time === undefined ? undefined : { height, time }

/** The highest block that the node has, by whoever of it speaks: its RPC may be frozen or gone. */
export const ownHeight = (known: SampleIndex): number | undefined => {
  const heights = [
    known.value('chain_rpc_block_number', { tag: 'latest' }),
    known.value('chain_ledger_seq_num', { event: 'proposed' }),
    known.value('chain_consensus_block_number'),
  ].filter((height) => height !== undefined)
  return heights.length === 0 ? undefined : Math.max(...heights)
}

export interface StatesyncProgress {
  /** Who tells it: one source's figures are held against its own alone. */
  readonly source: 'native' | 'status'
  readonly block: number
  readonly target: number
}

/** From the node's own metrics every few seconds, else from its status report every few minutes. */
export const statesyncProgress = (known: SampleIndex): StatesyncProgress | undefined => {
  // Consensus itself knows when it is over; a report may be minutes old.
  if (known.value('chain_native_statesync_active') === 0) return undefined
  const told = [
    {
      source: 'native',
      block: known.value('chain_native_statesync_progress_block'),
      target: known.value('chain_native_statesync_target_block'),
    },
    {
      source: 'status',
      block: known.value('chain_status_statesync_progress_block'),
      target: known.value('chain_status_statesync_target_block'),
    },
  ] as const
  for (const { source, block, target } of told) {
    if (block === undefined || target === undefined) continue
    return block < target ? { source, block, target } : undefined
  }
  return undefined
}

const MOVES_WITHIN_MS = minute / 2

/** Two witnesses that disagree: the metrics do not change, the blocks advance. Null while either says nothing. */
export const isZombie = (known: SampleIndex, now: number): boolean | null => {
  const frozen = known.value('chain_native_frozen')
  const advancedAt = known.value('chain_rpc_last_advance_timestamp_seconds')
  if (frozen === undefined || advancedAt === undefined) return null
  return frozen === 1 && now - advancedAt * second < MOVES_WITHIN_MS
}
