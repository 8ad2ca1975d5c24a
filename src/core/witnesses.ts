import { AGREEMENT_WINDOW, isQuorum, largestGroup } from './agreement.ts'
import type { Known } from './known.ts'

/** Where the references are, by a majority that agrees, also while the node itself says nothing. */
export const networkHead = (known: Known): number | undefined => {
  const views = known
    .series('chain_reference_block_number')
    .map(({ value }) => ({ height: BigInt(value) }))
  const configured = known.series('chain_reference_up').length
  // One that is far from the others, whichever way, is not the head.
  const group = largestGroup(views, AGREEMENT_WINDOW)
  return isQuorum(group.length, configured) ? Number(group.at(-1)?.height) : undefined
}

/** Whoever of it says so: then no window is open any more, and the question is another. */
export const isSyncing = (known: Known): boolean =>
  known.value('chain_native_statesync_active') === 1 ||
  known.value('chain_consensus_statesync_active') === 1

/** Execution tells it with every block, to a hundredth of a percent; else the report of the tool. */
export const storageUse = (known: Known): number | undefined => {
  const devices = known.series('chain_storage_used_ratio').map(({ value }) => value)
  return (
    known.value('chain_execution_storage_used_ratio') ??
    (devices.length === 0 ? undefined : Math.max(...devices))
  )
}
