import { second } from '../../core/units.ts'
import { networkHead } from '../../core/agreement.ts'
import { blockAge, isNodeDown } from '../facts.ts'
import type { Evidence } from '../finding.ts'
import { USUAL_RATE } from '../limits.ts'

/** How far the node is behind the network, and who tells. */
export interface Gap {
  readonly blocks: number
  /**
   * `references`: they have so many more; `window`: the agent's own reckoning; `age`: nobody tells the height
   * of the network, and the newest block of the node is so old.
   */
  readonly by: 'references' | 'window' | 'age'
  /** Whether it may as well be more. */
  readonly isAtLeast: boolean
}

/** Undefined where nothing tells it. */
export const gapOf = (evidence: Evidence, window: number): Gap | undefined => {
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

/** What the state has: consensus may be further than execution, and starts from there all the same. */
const ownHeight = ({ known }: Evidence): number | undefined => {
  const stored = known.value('chain_storage_latest_block', { state: 'proposed' })
  const executed = highest([
    known.value('chain_rpc_block_number', { tag: 'latest' }),
    known.value('chain_execution_block_number'),
  ])
  const agreed = highest([
    known.value('chain_ledger_seq_num', { event: 'proposed' }),
    known.value('chain_consensus_block_number'),
  ])
  // The report on the database is up to minutes old: where blocks come it tells of the past.
  return isNodeDown(known, 'execution')
    ? (highest([executed, stored]) ?? agreed)
    : (executed ?? agreed ?? stored)
}

const highest = (heights: readonly (number | undefined)[]): number | undefined => {
  const known = heights.filter((height) => height !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

/** Of the newest block that anybody here told of, in seconds. */
export const newestAge = (evidence: Evidence): number | undefined => {
  const executed = evidence.known.value('chain_execution_block_timestamp_seconds')
  const ages = [
    blockAge(evidence),
    executed === undefined ? undefined : Math.max(0, evidence.at / second - executed),
  ].filter((age) => age !== undefined)
  return ages.length === 0 ? undefined : Math.min(...ages)
}
