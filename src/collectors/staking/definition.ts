import { z } from 'zod'
import { address, polling, timed } from '../../core/settings.ts'
import { counter, gauge, open } from '../../core/metric.ts'
import { SET_VIEWS } from '../../parsers/staking.ts'
import { each, listOf, objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

/** Flags of a validator, by bit. */
export const FLAGS = ['stake_low', 'withdrawn', 'double_sign'] as const

const perView = objectOf({ execution: orNull.amount, consensus: orNull.amount, snapshot: orNull.amount })
const count = z.int().positive()

export const definition = {
  name: 'staking',
  help: 'stake, commission, rewards and epoch of the validator, from the staking precompile of the node',
  introduction:
    'The staking precompile, read with `eth_call` at one finalized block per poll: four requests, and those for the sets when the epoch changes or after ten minutes. Nothing is read until the public key of the node is known (`node.publicKey`, or the status report). A node whose key is not registered exports the epoch and `chain_staking_registered` 0. `view`: `execution` is the current state, `consensus` is frozen by the boundary block, `snapshot` is the consensus view before that. The set in force is that of `consensus`, in the delay that of `snapshot`. Amounts are floats of tokens, exact to 15 digits; the API has them exactly, in wei. Progress and estimates need the epoch length of the chain (`networks/staking.yaml`) and are absent if the epoch of the node contradicts it. With `staking.expected.beneficiary` one more request per own block: the RPC returns the beneficiary as `miner`. The balance of the authority is read every ten minutes with `eth_getBalance`.',
  settings: timed('60s', '30s', {
    ...polling('60s'),
    validatorId: count
      .nullable()
      .default(null)
      .describe('the id of the validator; null: found by its public key, and remembered'),
    withdrawals: z
      .array(z.int().min(0).max(255), 'expected a list of ids from 0 to 255')
      .max(16, 'expected 16 ids at most')
      .default([])
      .describe('ids of withdrawal requests of the authority, 0 to 255: exported until they are withdrawn'),
    expected: z
      .strictObject({
        beneficiary: address
          .nullable()
          .default(null)
          .describe('the address, in quotes, that own blocks should have as beneficiary'),
        authorityBalance: z
          .number('expected a number of tokens')
          .positive('expected a number of tokens above 0')
          .nullable()
          .default(null)
          .describe('tokens that the authority should have at least, to pay for its transactions'),
      })
      .prefault({}),
  }),
  reading: objectOf({
    ...each(orNull.flag, 'hasKey', 'up'),
    ...each(orNull.text, 'failure', 'reason'),
    block: objectOrNull({ number: orNull.integer, at: orNull.time }),
    epoch: objectOrNull({
      epoch: orNull.integer,
      isInDelay: orNull.flag,
      progress: objectOrNull({
        boundaryBlock: orNull.integer,
        progress: orNull.number,
        ...each(orNull.time, 'boundaryAt', 'nextEpochAt'),
      }),
    }),
    isRegistered: orNull.flag,
    authority: objectOrNull({ address: orNull.text, balance: orNull.amount }),
    validator: objectOrNull({
      ...each(orNull.integer, 'id', 'flags'),
      ...each(orNull.flag, 'isActive', 'isActiveNext'),
      /** In wei. */
      stake: perView,
      /** In parts of 10^18. */
      commission: perView,
      ...each(orNull.amount, 'selfStake', 'minimumSelfStake'),
      pending: objectOf({ all: orNull.amount, own: orNull.amount }),
      unclaimed: objectOf({ all: orNull.amount, own: orNull.amount }),
      threshold: orNull.amount,
      ...each(orNull.number, 'margin', 'rank'),
    }),
    withdrawals: listOf(
      objectOf({ request: orNull.number, amount: orNull.amount, epoch: orNull.integer, isReady: orNull.flag }),
    ),
    rewards: listOf(
      objectOf({
        epoch: orNull.integer,
        /** In wei. */
        pool: orNull.amount,
        commission: orNull.amount,
        ...each(orNull.time, 'fromAt', 'toAt'),
      }),
    ),
    sets: objectOrNull({
      ...each(orNull.number, 'execution', 'consensus', 'snapshot', 'limit'),
    }),
  }),
  metrics: {
    chain_staking_up: gauge('Whether the node answered the last poll of the staking precompile.'),
    chain_staking_registered: gauge('Whether the public key of the node belongs to a validator.'),
    chain_staking_info: gauge('Constant 1; the id of the validator.', { validator_id: open }),
    chain_staking_block_timestamp_seconds: gauge(
      'Timestamp of the finalized block at which the staking precompile was read.',
    ),
    chain_staking_epoch: gauge('Epoch of the staking precompile.'),
    chain_staking_in_epoch_delay: gauge(
      'Whether the boundary block of the epoch has passed: the set of the next epoch is fixed.',
    ),
    chain_staking_epoch_progress_ratio: gauge('Blocks since the last boundary block, as a ratio of an epoch.'),
    chain_staking_boundary_block: gauge(
      'Block number of the next boundary block of the epoch; in the delay that of the last one.',
    ),
    chain_staking_boundary_timestamp_seconds: gauge(
      'Expected end of the epoch: the time of its boundary block, by the mean block time of the last 1,000 blocks.',
    ),
    chain_staking_next_epoch_timestamp_seconds: gauge(
      'Latest start of the next epoch: the end of the delay after the boundary block, in which rounds without a block count, too.',
    ),
    chain_staking_active: gauge('Whether the validator is a member of the set in force.'),
    chain_staking_active_next: gauge(
      'Whether the validator is a member of the set of the next epoch; absent until that set is fixed.',
    ),
    chain_staking_flag: gauge('Whether the flag of the validator is set, which excludes it from the next set.', {
      flag: FLAGS,
    }),
    chain_staking_stake_tokens: gauge('Stake of the validator, by view; 0 in a set of which it is no member.', {
      view: SET_VIEWS,
    }),
    chain_staking_commission_ratio: gauge('Commission of the validator, by view; absent where it is no member.', {
      view: SET_VIEWS,
    }),
    chain_staking_beneficiary_matches: gauge(
      'Whether the newest finalized block that this node led has the beneficiary that the configuration expects.',
    ),
    chain_staking_authority_balance_tokens: gauge(
      'Native balance of the authority of the validator, which pays for staking transactions.',
    ),
    chain_staking_authority_balance_minimum_tokens: gauge(
      'Native balance that the configuration expects of the authority at least.',
    ),
    chain_staking_self_stake_tokens: gauge('Stake of the authority, with delegations that do not count yet.'),
    chain_staking_self_stake_minimum_tokens: gauge('Stake that the authority of a member needs at least.'),
    chain_staking_threshold_tokens: gauge(
      'Stake that a member needs: the minimum, or in a full set the stake of its weakest member at the last boundary.',
    ),
    chain_staking_margin_ratio: gauge(
      'Stake of the validator above the threshold, as a ratio of the threshold; negative below it, absent while a flag is set.',
    ),
    chain_staking_rank: gauge('Rank of the validator by stake in the consensus view; absent if it is no member.'),
    chain_staking_set_members: gauge('Members of the set of validators, by view.', { view: SET_VIEWS }),
    chain_staking_pending_tokens: gauge('Pending stake of all delegators: the change at the next boundary.'),
    chain_staking_self_pending_tokens: gauge('Delegations of the authority that do not count yet.'),
    chain_staking_unclaimed_reward_tokens: gauge('Rewards in the pool of all delegators that were not claimed.'),
    chain_staking_self_unclaimed_reward_tokens: gauge(
      'Rewards of the authority that were not claimed, with its commission.',
    ),
    chain_staking_reward_tokens_total: counter(
      'Rewards earned: for the pool of all delegators, and commission, computed from the pool; without priority fees.',
      { share: ['pool', 'commission'] },
    ),
    chain_staking_withdrawal_tokens: gauge('Amount of a configured withdrawal request.', { request: open }),
    chain_staking_withdrawal_ready: gauge('Whether the withdrawal request can be withdrawn.', { request: open }),
  },
} as const
