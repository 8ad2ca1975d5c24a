import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { inSeconds } from '../../core/units.ts'
import {
  FULL_COMMISSION,
  SET_VIEWS,
  type SetView,
  type StakingDelegator,
  type StakingEpoch,
  WEI,
} from '../../parsers/staking.ts'
import type { StakingConstants } from '../../config/staking.ts'
import type { ReadingOf } from '../dependencies.ts'
import { definition, FLAGS } from './definition.ts'
import { type IdentifiedValidator, membership, type progressOf, viewInForce } from './epoch.ts'

type PerView<T> = Readonly<Record<SetView, T>>

/** Members of each set, and what follows from them. */
export interface ValidatorSets {
  readonly size: PerView<number>
  readonly limit: number
  /** The members of the consensus view, by stake. */
  readonly consensus: readonly bigint[]
  /** The current stake of the last member of the consensus view; null if the set is not full. */
  readonly weakest: bigint | null
}

/** Without null, what the collector always knows. */
export type StakingReading = ReadingOf<typeof definition> & {
  readonly hasKey: boolean
  readonly up: boolean
  readonly epoch: (StakingEpoch & { readonly progress: ReturnType<typeof progressOf> }) | null
  readonly validator: ValidatorReading | null
  /** In tokens. */
  readonly expectedBalance: number | null
  /** That of the newest own block; null without an expected one, and until an own block is finalized. */
  readonly beneficiary: { readonly address: string; readonly isExpected: boolean } | null
}

export const NOTHING_READ: StakingReading = {
  ...definition.reading.parse({}),
  hasKey: false,
  up: false,
  epoch: null,
  validator: null,
  expectedBalance: null,
  beneficiary: null,
}

interface ValidatorParts extends IdentifiedValidator {
  readonly epoch: StakingEpoch
  /** The delegation of its authority. */
  readonly own: StakingDelegator
  readonly sets: ValidatorSets | null
  readonly constants: StakingConstants
}

export const validatorReading = ({ id, epoch, validator, own, sets, constants }: ValidatorParts) => {
  const threshold = sets && thresholdOf(sets, constants)
  const { execution, consensus, snapshot } = validator
  const rank = sets?.consensus.indexOf(id) ?? -1
  const isEligible = validator.flags === 0n
  return {
    id,
    ...membership(epoch, validator),
    flags: validator.flags,
    stake: { execution: execution.stake, consensus: consensus.stake, snapshot: snapshot.stake },
    commission: { execution: execution.commission, consensus: consensus.commission, snapshot: snapshot.commission },
    selfStake: own.stake + own.deltaStake + own.nextDeltaStake,
    minimumSelfStake: constants.minimumSelfStake * WEI,
    pending: { all: execution.stake - validator[viewInForce(epoch)].stake, own: own.deltaStake + own.nextDeltaStake },
    unclaimed: { all: validator.unclaimedRewards, own: own.unclaimedRewards },
    threshold,
    margin: threshold !== null && isEligible ? inTokens(execution.stake - threshold) / inTokens(threshold) : null,
    rank: rank >= 0 && isEligible ? rank + 1 : null,
  }
}

type ValidatorReading = ReturnType<typeof validatorReading>

/** In a full set a member needs the stake of the weakest one, or the minimum if that has fallen below it. */
const thresholdOf = ({ size, limit, weakest }: ValidatorSets, { minimumStake }: StakingConstants): bigint | null => {
  const minimum = minimumStake * WEI
  if (size.execution <= limit) return minimum
  if (weakest === null) return null
  return weakest > minimum ? weakest : minimum
}

/** The nearest float: Number parses a decimal with one rounding. */
export const inTokens = (wei: bigint): number => Number(`${wei}e-18`)

const tokens = (wei: bigint | null | undefined): number | null => (typeof wei === 'bigint' ? inTokens(wei) : null)

export const samplesOf = (reading: StakingReading): readonly Sample[] => {
  const { hasKey, up, block, epoch, isRegistered, validator, sets } = reading
  if (!hasKey) return []
  return [
    sample('chain_staking_up', up),
    ...sampleIfKnown('chain_staking_registered', isRegistered),
    ...sampleIfKnown('chain_staking_block_timestamp_seconds', inSeconds(block?.at)),
    ...sampleIfKnown('chain_staking_epoch', epoch?.epoch),
    ...sampleIfKnown('chain_staking_in_epoch_delay', epoch?.isInDelay),
    ...sampleIfKnown('chain_staking_epoch_progress_ratio', epoch?.progress?.progress),
    ...sampleIfKnown('chain_staking_boundary_block', epoch?.progress?.boundaryBlock),
    ...sampleIfKnown('chain_staking_boundary_timestamp_seconds', inSeconds(epoch?.progress?.boundaryAt)),
    ...sampleIfKnown('chain_staking_next_epoch_timestamp_seconds', inSeconds(epoch?.progress?.nextEpochAt)),
    ...SET_VIEWS.flatMap((view) => sampleIfKnown('chain_staking_set_members', sets?.[view], { view })),
    ...(validator ? validatorSamples(validator) : []),
    ...sampleIfKnown('chain_staking_beneficiary_matches', reading.beneficiary?.isExpected),
    ...sampleIfKnown('chain_staking_authority_balance_tokens', tokens(reading.authority?.balance)),
    ...sampleIfKnown('chain_staking_authority_balance_minimum_tokens', reading.expectedBalance),
    ...reading.withdrawals.flatMap(({ request, amount, isReady }) => [
      ...sampleIfKnown('chain_staking_withdrawal_tokens', tokens(amount), { request: `${request}` }),
      ...sampleIfKnown('chain_staking_withdrawal_ready', isReady, { request: `${request}` }),
    ]),
  ]
}

const validatorSamples = (validator: ValidatorReading): readonly Sample[] => {
  const { id, flags, stake, commission, pending, unclaimed } = validator
  return [
    sample('chain_staking_info', 1, { validator_id: id.toString() }),
    sample('chain_staking_active', validator.isActive),
    ...sampleIfKnown('chain_staking_active_next', validator.isActiveNext),
    ...FLAGS.map((flag, bit) => sample('chain_staking_flag', (flags >> BigInt(bit)) & 1n, { flag })),
    ...SET_VIEWS.flatMap((view) => [
      ...sampleIfKnown('chain_staking_stake_tokens', tokens(stake[view]), { view }),
      ...(stake[view] > 0n
        ? [sample('chain_staking_commission_ratio', Number(commission[view]) / Number(FULL_COMMISSION), { view })]
        : []),
    ]),
    ...sampleIfKnown('chain_staking_self_stake_tokens', tokens(validator.selfStake)),
    ...sampleIfKnown('chain_staking_self_stake_minimum_tokens', tokens(validator.minimumSelfStake)),
    ...sampleIfKnown('chain_staking_threshold_tokens', tokens(validator.threshold)),
    ...sampleIfKnown('chain_staking_margin_ratio', validator.margin),
    ...sampleIfKnown('chain_staking_rank', validator.rank),
    ...sampleIfKnown('chain_staking_pending_tokens', tokens(pending.all)),
    ...sampleIfKnown('chain_staking_self_pending_tokens', tokens(pending.own)),
    ...sampleIfKnown('chain_staking_unclaimed_reward_tokens', tokens(unclaimed.all)),
    ...sampleIfKnown('chain_staking_self_unclaimed_reward_tokens', tokens(unclaimed.own)),
  ]
}
