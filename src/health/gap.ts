import type { SampleIndex } from '../core/metric.ts'
import { second } from '../core/units.ts'
import { isSyncing, ledgerBlock, networkHead, rpcBlock } from '../domain/agreement.ts'
import { blocksyncWindow } from '../domain/node-facts.ts'
import { count, duration } from '../core/format.ts'
import { assumedRateText, BEHIND_BLOCKS, blockAge, blockRate, FRESH_S, isNodeDown } from './facts.ts'
import type { HealthInput } from './snapshot.ts'

type GapInput = Pick<HealthInput, 'known' | 'at'>

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
  /** How far the RPC is behind, if it serves an older block than the state has; otherwise undefined. */
  readonly rpcBlocks?: number | undefined
  /** Age of the block that is compared, in seconds; undefined if its source has no time. */
  readonly age: number | undefined
}

/** Undefined if there is no source. */
export const gapOf = (evidence: GapInput): Gap | undefined => {
  const { known, at } = evidence
  const [own, head] = [ownBlock(evidence), networkHead(known)]
  if (own !== undefined && head !== undefined) {
    const age = own.time === undefined ? undefined : Math.max(0, at / second - own.time)
    const rpc = known.value('chain_rpc_block_number', { tag: 'latest' })
    const rpcBlocks = rpc === undefined || own.height - rpc <= BEHIND_BLOCKS ? undefined : head - rpc
    return { blocks: Math.max(0, head - own.height), by: 'references', isAtLeast: false, rpcBlocks, age }
  }
  const left = known.value('chain_blocksync_window_remaining_blocks')
  if (left !== undefined) {
    return { blocks: Math.max(0, blocksyncWindow(known) - left), by: 'window', isAtLeast: left === 0, age: undefined }
  }
  const age = blockAge(evidence)
  // A block of a healthy node is some seconds old, too.
  if (age === undefined || age <= FRESH_S) return undefined
  return { blocks: Math.floor(age * blockRate(known)), by: 'age', isAtLeast: false, age }
}

/** The block of the executed state: consensus may be further, but a start continues from the state. */
const ownBlock = ({ known }: GapInput) => {
  const stored = [{ height: known.value('chain_storage_latest_block', { state: 'proposed' }), time: undefined }]
  // The log has the time of the execution, not of the block.
  const executed = [rpcBlock(known), { height: known.value('chain_execution_block_number'), time: undefined }]
  const agreed = [ledgerBlock(known), { height: known.value('chain_consensus_block_number'), time: undefined }]
  // The storage report is up to minutes old, so while blocks arrive it is behind.
  return isNodeDown(known, 'execution')
    ? (highest([...executed, ...stored]) ?? highest(agreed))
    : (highest(executed) ?? highest(agreed) ?? highest(stored))
}

/** The highest block; of two equal heights the one with a time, from the same source, in seconds since the epoch. */
const highest = (blocks: readonly ReturnType<typeof rpcBlock>[]) =>
  blocks
    .flatMap(({ height, time }) => (height === undefined ? [] : [{ height, time }]))
    .toSorted((a, b) => b.height - a.height || Number(b.time !== undefined) - Number(a.time !== undefined))[0]

/**
 * Blocks that the node is behind, negative if it is ahead: as the RPC compares with the references or, while it does not
 * answer, as the state does. Undefined is unknown.
 */
export const blocksBehind = (input: GapInput): number | undefined => {
  const compared = input.known.value('chain_block_difference')
  if (compared !== undefined) return compared
  const gap = gapOf(input)
  return gap?.by === 'references' ? gap.blocks : undefined
}

/**
 * What is left of the blocksync window, as every surface shows it; undefined during statesync, and while the distance to the
 * network is unknown.
 */
export const blocksyncLeft = (input: GapInput) => {
  const { known } = input
  const gap = isSyncing(known) ? undefined : gapOf(input)
  if (!gap) return undefined
  const blocks = Math.max(0, blocksyncWindow(known) - gap.blocks)
  /** `ms`: until the network is further ahead than the window, at its block rate. */
  return { blocks, ms: (blocks / blockRate(known)) * second }
}

/** The time, with its reservation. */
export const leftText = (ms: number, known: SampleIndex): string => `${duration(ms)}${assumedRateText(known)}`

type BlocksyncLeft = NonNullable<ReturnType<typeof blocksyncLeft>>

/** `450 blocks, 2 min 30 s` */
export const blocksyncLeftText = ({ blocks, ms }: BlocksyncLeft, known: SampleIndex): string =>
  `${count(blocks, 'block')}, ${leftText(ms, known)}`
