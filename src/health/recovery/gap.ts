import { second } from '../../core/units.ts'
import { networkHead } from '../../core/agreement.ts'
import { blockAge, isNodeDown } from '../facts.ts'
import type { HealthInput } from '../finding.ts'
import { USUAL_RATE } from '../limits.ts'

/** How far the node is behind the network, and the source of the number. */
export interface Gap {
  readonly blocks: number
  /**
   * `references`: difference to their height; `window`: the agent's estimate of the blocksync window; `age`:
   * age of the newest block times the block rate, if the height of the network is unknown.
   */
  readonly by: 'references' | 'window' | 'age'
  /** Whether `blocks` is a lower bound. */
  readonly isAtLeast: boolean
}

/** Undefined if there is no source. */
export const gapOf = (evidence: HealthInput, window: number): Gap | undefined => {
  const { known } = evidence
  const [own, head] = [ownHeight(evidence), networkHead(known)]
  if (own !== undefined && head !== undefined) {
    return { blocks: Math.max(0, head - own), by: 'references', isAtLeast: false }
  }
  const left = known.value('chain_blocksync_window_remaining_blocks')
  if (left !== undefined) {
    return { blocks: Math.max(0, window - left), by: 'window', isAtLeast: left === 0 }
  }
  const age = newestAge(evidence)
  if (age === undefined) return undefined
  const rate = known.value('chain_blocks_per_second') ?? USUAL_RATE
  return { blocks: Math.floor(age * rate), by: 'age', isAtLeast: false }
}

/** Height of the executed state: consensus may be further, but a start continues from the state. */
const ownHeight = ({ known }: HealthInput): number | undefined => {
  const stored = known.value('chain_storage_latest_block', { state: 'proposed' })
  const executed = highest([
    known.value('chain_rpc_block_number', { tag: 'latest' }),
    known.value('chain_execution_block_number'),
  ])
  const agreed = highest([
    known.value('chain_ledger_seq_num', { event: 'proposed' }),
    known.value('chain_consensus_block_number'),
  ])
  // The storage report is up to minutes old, so while blocks arrive it is behind.
  return isNodeDown(known, 'execution') ? (highest([executed, stored]) ?? agreed) : (executed ?? agreed ?? stored)
}

const highest = (heights: readonly (number | undefined)[]): number | undefined => {
  const known = heights.filter((height) => height !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

/** Age of the newest block that any source on this host reports, in seconds. */
export const newestAge = (evidence: HealthInput): number | undefined => {
  const executed = evidence.known.value('chain_execution_block_timestamp_seconds')
  const ages = [
    blockAge(evidence),
    executed === undefined ? undefined : Math.max(0, evidence.at / second - executed),
  ].filter((age) => age !== undefined)
  return ages.length === 0 ? undefined : Math.min(...ages)
}
