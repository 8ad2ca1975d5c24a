import type { Known } from '../../../core/known.ts'
import { minute, second } from '../../../core/units.ts'

/** The newest block of the chain that anything here told of, with its own time in seconds. */
export const newestBlock = (known: Known): { height: number; time: number } | undefined => {
  const told = [
    {
      height: known.value('chain_ledger_seq_num', { event: 'proposed' }),
      time: known.value('chain_ledger_block_timestamp_seconds', { event: 'proposed' }),
    },
    {
      height: known.value('chain_rpc_block_number', { tag: 'latest' }),
      time: known.value('chain_rpc_block_timestamp_seconds', { tag: 'latest' }),
    },
  ]
  // Only one of them, or the two would take turns: the ledger has the time of every block.
  for (const { height, time } of told) {
    if (height !== undefined && time !== undefined) return { height, time }
  }
  return undefined
}

/** The highest block that the node has, by whoever of it speaks: its RPC may be frozen or gone. */
export const ownHeight = (known: Known): number | undefined => {
  const heights = [
    known.value('chain_rpc_block_number', { tag: 'latest' }),
    known.value('chain_ledger_seq_num', { event: 'proposed' }),
    known.value('chain_consensus_block_number'),
  ].filter((height) => height !== undefined)
  return heights.length === 0 ? undefined : Math.max(...heights)
}

/** Where the references are: their head by a majority, also while the node itself says nothing. */
export const networkHead = (known: Known): number | undefined => {
  const heights = known.series('chain_reference_block_number').map(({ value }) => value)
  const configured = known.series('chain_reference_up').length
  const agreeing = known.value('chain_reference_agreeing') ?? 0
  return heights.length > 0 && agreeing * 2 > configured ? Math.max(...heights) : undefined
}

/** Whoever of it says so: then no window is open any more, and the question is another. */
export const needsStatesync = (known: Known): boolean =>
  known.value('chain_native_statesync_active') === 1 ||
  known.value('chain_consensus_statesync_active') === 1

/** From the node's own metrics every few seconds, else from its status report every few minutes. */
export const statesyncProgress = (known: Known): { block: number; target: number } | undefined => {
  const told = [
    {
      block: known.value('chain_native_statesync_progress_block'),
      target: known.value('chain_native_statesync_target_block'),
    },
    {
      block: known.value('chain_status_statesync_progress_block'),
      target: known.value('chain_status_statesync_target_block'),
    },
  ]
  for (const { block, target } of told) {
    if (block === undefined || target === undefined) continue
    return block < target ? { block, target } : undefined
  }
  return undefined
}

/** Execution tells it with every block, to a hundredth of a percent; else the report of the tool. */
export const storageUse = (known: Known): number | undefined => {
  const devices = known.series('chain_storage_used_ratio').map(({ value }) => value)
  return (
    known.value('chain_execution_storage_used_ratio') ??
    (devices.length === 0 ? undefined : Math.max(...devices))
  )
}

/** From this use on the node compacts: constant in every version of it. */
const THRESHOLD = 0.8
export const threshold = (known: Known): number =>
  known.value('chain_storage_compaction_threshold_ratio') ?? THRESHOLD

const MOVES_WITHIN_MS = minute / 2

/** Two witnesses that disagree: the metrics stand, the blocks move. Null while either says nothing. */
export const isZombie = (known: Known, now: number): boolean | null => {
  const frozen = known.value('chain_native_frozen')
  const advancedAt = known.value('chain_rpc_last_advance_timestamp_seconds')
  if (frozen === undefined || advancedAt === undefined) return null
  return frozen === 1 && now - advancedAt * second < MOVES_WITHIN_MS
}
