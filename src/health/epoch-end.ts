import { duration, figure } from '../core/format.ts'
import type { SampleIndex } from '../core/metric.ts'
import { second } from '../core/units.ts'
import { chainIdOf, ledgerBlock, newestBlock } from '../domain/agreement.ts'
import { epochPosition } from '../domain/epoch.ts'
import { assumedRateText, blockAge, blockRate, FRESH_S } from './facts.ts'
import type { HealthInput, NodeSnapshot } from './snapshot.ts'

/** The end of the epoch of the newest block. Times are in milliseconds since the epoch of Unix. */
export interface EpochEnd {
  readonly epoch: number
  /** When the boundary block is expected, or was proposed. */
  readonly expectedAt: number
  /** When the next epoch starts at the latest: rounds without a block count, too. */
  readonly latestAt: number
  /** Whether the boundary block has been proposed. */
  readonly isInDelay: boolean
  /** The reservation of the times: empty if the block rate is measured. */
  readonly basis: string
}

type EpochInput = Pick<HealthInput, 'known' | 'at' | 'readings'> & Pick<NodeSnapshot, 'epochs'>

/** The end, or why it is not known. */
type Found = EpochEnd | { readonly unknownBecause: string }

/**
 * The end of the epoch, as every surface shows it: from the collector `staking`, which also exports it, or else from
 * the ledger stream or the consensus log.
 */
export const epochEnd = (input: EpochInput): Found => {
  const newest = epochAndHeight(input.known)
  const fromChain = fromStaking(input)
  return fromChain && (newest === undefined || newest.epoch === fromChain.epoch) ? fromChain : fromLedger(input, newest)
}

const fromStaking = ({ readings: { staking } }: EpochInput): EpochEnd | undefined => {
  const { epoch = null, isInDelay = null, progress = null } = staking?.epoch ?? {}
  const { boundaryAt = null, nextEpochAt = null } = progress ?? {}
  return epoch === null || boundaryAt === null || nextEpochAt === null
    ? undefined
    : {
        epoch: Number(epoch),
        expectedAt: boundaryAt,
        latestAt: nextEpochAt,
        isInDelay: isInDelay === true,
        basis: '',
      }
}

const fromLedger = ({ known, epochs, at }: EpochInput, newest: ReturnType<typeof epochAndHeight>): Found => {
  if (!newest) {
    return { unknownBecause: 'neither the ledger stream nor the consensus log shows the epoch of a recent block' }
  }
  const chainId = chainIdOf(known)
  if (chainId === null) return { unknownBecause: 'the chain id is not known, and so the length of an epoch is not' }
  const length = epochs.get(chainId)
  if (!length) {
    return { unknownBecause: `the length of an epoch of chain ${chainId} is not known` }
  }
  const { epoch, height } = newest
  const position = epochPosition(newest, length)
  if (!position) {
    return { unknownBecause: `block ${figure(height)} does not fit epoch ${figure(epoch)} of chain ${chainId}` }
  }
  const timeOf = (blocks: number): number => (blocks / blockRate(known)) * second
  // On a node that is stalled or behind: the network has gone on since its newest block.
  const age = blockAge({ known, at }) ?? 0
  const endAt = at + timeOf(position.blocksLeft) - (age > FRESH_S ? age * second : 0)
  const delay = timeOf(length.delayRounds)
  const isInDelay = position.phase === 'delay'
  const [expectedAt, latestAt] = isInDelay ? [endAt - delay, endAt] : [endAt, endAt + delay]
  return { epoch, expectedAt, latestAt, isInDelay, basis: assumedRateText(known) }
}

/** Blocks: a source that is further behind another one has stopped. */
const SAME_HEIGHT = 30

/** The epoch of a recent block. */
const epochAndHeight = (known: SampleIndex): { readonly epoch: number; readonly height: number } | undefined => {
  const newest = newestBlock(known)?.height ?? 0
  return [
    { epoch: known.value('chain_ledger_epoch', { event: 'proposed' }), height: ledgerBlock(known).height },
    { epoch: known.value('chain_consensus_epoch'), height: known.value('chain_consensus_block_number') },
  ]
    .flatMap(({ epoch, height }) => (epoch === undefined || height === undefined ? [] : [{ epoch, height }]))
    .find(({ height }) => newest - height <= SAME_HEIGHT)
}

/** Both times, relative to now, without a full stop. */
export const epochEndText = ({ epoch, expectedAt, latestAt, isInDelay, basis }: EpochEnd, at: number): string => {
  const name = `epoch ${figure(epoch)}`
  const estimate = isInDelay ? '' : ', by the time since the newest block'
  if (latestAt <= at) return `${name} has ended${estimate}, and how far the next one is, is not known`
  const next = `the next one starts in ${duration(latestAt - at)} at the latest${basis}`
  return expectedAt > at
    ? `${name} ends in about ${duration(expectedAt - at)}; ${next}`
    : `${name} has ended${estimate}; ${next}`
}
