import { z } from 'zod'
import { ACCUMULATOR_SCALE, FULL_COMMISSION, type StakingEpoch, type StakingValidator } from '../../parsers/staking.ts'
import { savedInteger } from '../shared/saved-counts.ts'
import { type EpochLength, epochPosition } from '../../domain/epoch.ts'

/** A finalized block; `at` in milliseconds since the epoch, null if its time is unknown. */
export interface FinalizedBlock {
  readonly number: bigint
  readonly at: number | null
}

export interface IdentifiedValidator {
  readonly id: bigint
  readonly validator: StakingValidator
}

/**
 * Progress of the epoch at a block. Null if the length of an epoch is unknown, or the epoch of the node contradicts
 * it: the constants are those of another chain. `blockTime` is in milliseconds.
 */
export const progressOf = (
  { epoch, isInDelay }: StakingEpoch,
  block: FinalizedBlock,
  { length, blockTime }: { readonly length: EpochLength | null; readonly blockTime: number | null },
) => {
  const height = Number(block.number)
  const position = length && epochPosition({ height, epoch: Number(epoch) }, length)
  if (!length || !position || (position.phase === 'delay') !== isInDelay) return null
  const sinceBoundary = (height + 1) % length.blocks
  const boundaryBlock = isInDelay ? height - sinceBoundary : height + position.blocksLeft
  const atBlock = (number: number): number | null =>
    blockTime === null || block.at === null ? null : Math.round(block.at + (number - height) * blockTime)
  return {
    /** Before the boundary the next boundary block, in the delay the last one. */
    boundaryBlock: BigInt(boundaryBlock),
    /** Blocks since the last boundary, as a part of an epoch. */
    progress: sinceBoundary / length.blocks,
    /** When the boundary block is expected, or was; null while the block time is unknown. */
    boundaryAt: atBlock(boundaryBlock),
    /** When the next epoch starts at the latest, at the current block time: rounds without a block count, too. */
    nextEpochAt: atBlock(boundaryBlock + length.delayRounds),
  }
}

/** The view that is in force: the boundary block fixes a new consensus view for the next epoch. */
export const viewInForce = ({ isInDelay }: StakingEpoch): 'consensus' | 'snapshot' =>
  isInDelay ? 'snapshot' : 'consensus'

/** Whether the validator is a member of the set of this epoch, and of the next one; null before that set is fixed. */
export const membership = (epoch: StakingEpoch, validator: StakingValidator) => ({
  isActive: validator[viewInForce(epoch)].stake > 0n,
  isActiveNext: epoch.isInDelay ? validator.consensus.stake > 0n : null,
})

/** What a later reading is compared with. */
export const rewardBaseline = z.object({
  id: savedInteger,
  epoch: savedInteger,
  accumulatedReward: savedInteger,
  /** Stake in wei and commission of the set in force. */
  stake: savedInteger,
  commission: savedInteger,
  /** The time of the block, in milliseconds since the epoch. */
  at: z.number().nullable(),
})
export type RewardBaseline = Readonly<z.output<typeof rewardBaseline>>

/** Rewards of an epoch in wei, as far as the agent has read them: between two times, in milliseconds since the epoch. */
export const epochRewards = z.object({
  epoch: savedInteger,
  /** For all delegators, after the commission. */
  pool: savedInteger,
  /** For the authority, computed from the pool; null at a commission of 100 %, at which the pool gets nothing. */
  commission: savedInteger.nullable(),
  fromAt: z.number().nullable(),
  toAt: z.number().nullable(),
})
export type EpochRewards = Readonly<z.output<typeof epochRewards>>
type Rewards = Pick<EpochRewards, 'pool' | 'commission'>

export const baselineOf = (
  { id, validator }: IdentifiedValidator,
  epoch: StakingEpoch,
  block: FinalizedBlock,
): RewardBaseline => ({
  id,
  epoch: epoch.epoch,
  accumulatedReward: validator.accumulatedReward,
  ...validator[viewInForce(epoch)],
  at: block.at,
})

/**
 * Rewards by the growth of the accumulator, exact to 1 wei within an epoch. Null without a comparable reading: an
 * accumulator or an epoch that has decreased (a new chain), or more than one new epoch, because the stake in between is
 * unknown. Not by the unclaimed rewards, which decrease when a delegator claims.
 */
export const rewardsBetween = (before: RewardBaseline | null, now: RewardBaseline): Rewards | null => {
  if (before === null || before.id !== now.id) return null
  const growth = now.accumulatedReward - before.accumulatedReward
  const epochs = now.epoch - before.epoch
  if (growth < 0n || epochs < 0n || epochs > 1n) return null
  const pool = (growth * before.stake) / ACCUMULATOR_SCALE
  const rest = FULL_COMMISSION - before.commission
  return { pool, commission: rest <= 0n ? null : (pool * before.commission) / rest }
}

/** Epochs of 4 to 6 hours: ten days. */
const MAX_EPOCHS = 60

/** Adds rewards since `before` to those of its epoch: the poll after a boundary counts for the epoch that has ended. */
export const addRewards = (
  all: readonly EpochRewards[],
  { pool, commission }: Rewards,
  { before, now }: { readonly before: RewardBaseline; readonly now: RewardBaseline },
): readonly EpochRewards[] => {
  const { epoch } = before
  const known = all.find((one) => one.epoch === epoch) ?? { pool: 0n, commission: 0n, fromAt: before.at }
  const sum: EpochRewards = {
    epoch,
    pool: known.pool + pool,
    commission: commission === null || known.commission === null ? null : known.commission + commission,
    fromAt: known.fromAt,
    toAt: now.at,
  }
  return [...all.filter((one) => one.epoch < epoch), sum].slice(-MAX_EPOCHS)
}
