import { ACCUMULATOR_SCALE, FULL_COMMISSION, type StakingEpoch, type StakingValidator } from '../../parsers/staking.ts'
import { viewInForce } from './epoch.ts'

/** What a later reading is compared with. */
export interface RewardBaseline {
  readonly id: bigint
  readonly epoch: bigint
  readonly accumulatedReward: bigint
  /** Stake in wei and commission of the set in force. */
  readonly stake: bigint
  readonly commission: bigint
}

/** Rewards in wei between two readings. */
interface Rewards {
  /** For all delegators, after the commission. */
  readonly pool: bigint
  /** For the authority, computed from the pool; null at a commission of 100 %, at which the pool gets nothing. */
  readonly commission: bigint | null
}

export const baselineOf = (id: bigint, epoch: StakingEpoch, validator: StakingValidator): RewardBaseline => ({
  id,
  epoch: epoch.epoch,
  accumulatedReward: validator.accumulatedReward,
  ...validator[viewInForce(epoch)],
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
