import { FLAGS } from '../../../src/collectors/staking/definition.ts'
import { CRITERIA } from '../../../src/collectors/slo/definition.ts'
import { SET_VIEWS } from '../../../src/parsers/staking.ts'
import { BLOCKS_PER_SECOND, type NodeState } from './node-states.ts'
import type { NodeProfile, Trouble } from './profiles.ts'
import type { Recorder } from './recorder.ts'

const HOUR = 3600
const WEEK_HOURS = 7 * 24
const EPOCH_BLOCKS = 50_000
const DELAY_BLOCKS = 5000
/** Shifts the boundaries so that the history ends in a delay, in which the set of the next epoch is known. */
const SHIFT = DELAY_BLOCKS / 2
const THRESHOLD = 10_000_000
const MEMBERS = 20
/** Share of the stake: one of twenty equal validators. */
const SHARE = 1 / MEMBERS
const TOKENS_PER_BLOCK = 25

const STAKES: Readonly<Record<string, number>> = { 'validator-1': 12_400_000, 'validator-2': 10_150_000 }
const COMMISSION = 0.1
/** A delegator leaves the second validator: its stake falls below the threshold, and it leaves the set. */
const LEAVES = { name: 'validator-2', tokens: 250_000, hours: 0.7 } as const

export const stakeOf = ({ profile }: NodeState): number => (profile.isValidator ? SHARE : 0)

const boundariesAt = (height: number): number => Math.floor((height + SHIFT) / EPOCH_BLOCKS)

/** Of the newest block of the node. */
const epochOf = ({ own }: NodeState): number => Math.floor((own + SHIFT - DELAY_BLOCKS) / EPOCH_BLOCKS) + 1

/** The chapters staking, schedule and slo. */
export const recordStaking = (to: Recorder, moment: NodeState, now: number): void => {
  recordSchedule(to, moment)
  recordUptime(to, moment)
  // The agent of a spare node has the collector disabled.
  if (moment.profile.keyOf === undefined) recordPrecompile(to, moment, now)
}

const recordPrecompile = (to: Recorder, moment: NodeState, now: number): void => {
  const { at, own: height, profile, blockTime } = moment
  to.gauge('chain_staking_up', moment.rpcAnswers)
  if (profile.isValidator) recordRewards(to, moment)
  if (!moment.rpcAnswers) return
  const boundaries = boundariesAt(height)
  const epoch = epochOf(moment)
  const isInDelay = epoch === boundaries
  const atBlock = (number: number): number => blockTime + (number - height) / BLOCKS_PER_SECOND
  const lastBoundary = boundaries * EPOCH_BLOCKS - SHIFT
  const boundary = isInDelay ? lastBoundary : lastBoundary + EPOCH_BLOCKS
  to.gauge('chain_staking_registered', profile.isValidator)
  to.gauge('chain_staking_block_timestamp_seconds', Math.floor(blockTime - 1))
  to.gauge('chain_staking_epoch', epoch)
  to.gauge('chain_staking_in_epoch_delay', isInDelay)
  to.gauge('chain_staking_epoch_progress_ratio', (height - lastBoundary) / EPOCH_BLOCKS)
  to.gauge('chain_staking_boundary_block', boundary)
  to.gauge('chain_staking_boundary_timestamp_seconds', Math.round(atBlock(boundary)))
  to.gauge('chain_staking_next_epoch_timestamp_seconds', Math.round(atBlock(boundary + DELAY_BLOCKS)))
  for (const view of SET_VIEWS) to.gauge('chain_staking_set_members', MEMBERS, { view })
  if (!profile.isValidator) return
  const stakeAt = (time: number): number => stakeOfValidator(profile, time - now)
  const memberAt = (time: number): number => (stakeAt(time) < THRESHOLD ? 0 : stakeAt(time))
  const views = {
    execution: stakeAt(at),
    consensus: memberAt(atBlock(lastBoundary)),
    snapshot: memberAt(atBlock(lastBoundary - EPOCH_BLOCKS)),
  }
  const inForce = isInDelay ? views.snapshot : views.consensus
  const isLow = views.execution < THRESHOLD
  to.gauge('chain_staking_info', 1, { validator_id: profile.name.slice(-1) })
  to.gauge('chain_staking_active', inForce > 0)
  if (isInDelay) to.gauge('chain_staking_active_next', views.consensus > 0)
  for (const flag of FLAGS) to.gauge('chain_staking_flag', isLow && flag === 'stake_low', { flag })
  for (const view of SET_VIEWS) {
    to.gauge('chain_staking_stake_tokens', views[view], { view })
    if (views[view] > 0) to.gauge('chain_staking_commission_ratio', COMMISSION, { view })
  }
  to.gauge('chain_staking_expected_commission_ratio', COMMISSION)
  to.gauge('chain_staking_beneficiary_matches', 1)
  to.gauge('chain_staking_authority_balance_tokens', 24.5)
  to.gauge('chain_staking_authority_balance_minimum_tokens', 5)
  to.gauge('chain_staking_self_stake_tokens', 100_500)
  to.gauge('chain_staking_self_stake_minimum_tokens', 100_000)
  to.gauge('chain_staking_threshold_tokens', THRESHOLD)
  if (!isLow) to.gauge('chain_staking_margin_ratio', views.execution / THRESHOLD - 1)
  if (!isLow) to.gauge('chain_staking_rank', profile.name === LEAVES.name ? 18 : 7)
  to.gauge('chain_staking_pending_tokens', views.execution - inForce)
  to.gauge('chain_staking_self_pending_tokens', 500)
  to.gauge('chain_staking_unclaimed_reward_tokens', 84_000 + (at - now))
  to.gauge('chain_staking_self_unclaimed_reward_tokens', 9400 + (at - now) / 10)
  const isReady = profile.name === LEAVES.name
  to.gauge('chain_staking_withdrawal_tokens', isReady ? 40_000 : 2500, { request: isReady ? '0' : '3' })
  to.gauge('chain_staking_withdrawal_ready', isReady, { request: isReady ? '0' : '3' })
}

/** `ahead` in seconds after now. */
const stakeOfValidator = ({ name }: NodeProfile, ahead: number): number => {
  const grown = 4000 * Math.floor(ahead / HOUR)
  const left = name === LEAVES.name && ahead >= -LEAVES.hours * HOUR ? LEAVES.tokens : 0
  return (STAKES[name] ?? 0) + grown - left
}

const recordRewards = (to: Recorder, { follows, ownTimeoutShare, timeoutShare }: NodeState): void => {
  const led = follows ? BLOCKS_PER_SECOND * (1 + timeoutShare) * SHARE * (1 - ownTimeoutShare) : 0
  for (const share of ['pool', 'commission'] as const) {
    const part = share === 'pool' ? 1 - COMMISSION : COMMISSION
    to.total('chain_staking_reward_tokens_total', led * TOKENS_PER_BLOCK * part, { share })
  }
}

const recordSchedule = (to: Recorder, moment: NodeState): void => {
  const { at, round, follows, profile, ownTimeoutShare } = moment
  to.gauge('chain_schedule_proved', follows)
  to.total('chain_schedule_misses_total', 0)
  // A full node is no member of the set.
  if (!follows || !profile.isValidator) return
  const roundsPerSecond = BLOCKS_PER_SECOND * 1.02
  const every = 1 / SHARE
  const next = (Math.floor(round / every) + 1) * every
  const epochLeft = EPOCH_BLOCKS - ((moment.height + SHIFT - DELAY_BLOCKS) % EPOCH_BLOCKS)
  const past = Math.floor((EPOCH_BLOCKS - epochLeft) * SHARE)
  to.gauge('chain_schedule_next_own_round', next)
  to.gauge('chain_schedule_next_own_timestamp_seconds', at + (next - round) / roundsPerSecond)
  const ahead = Math.floor(epochLeft * SHARE)
  // The agent knows no number for the hour if the epoch ends before: here a panel without a value would be a finding.
  const inHour = Math.min(ahead, Math.floor(HOUR * roundsPerSecond * SHARE))
  to.gauge('chain_schedule_own_rounds_next_hour', inHour)
  to.gauge('chain_schedule_own_rounds_ahead', ahead)
  const missed = Math.floor(past * ownTimeoutShare)
  to.gauge('chain_schedule_own_rounds', past - missed, { result: 'led' })
  to.gauge('chain_schedule_own_rounds', missed, { result: 'missed' })
}

const DOWN: readonly Trouble[] = ['outage', 'stall', 'crash', 'statesync']
const OBJECTIVE = 0.98

/** The uptime of the week until now. */
const recordUptime = (to: Recorder, { profile }: NodeState): void => {
  const down = profile.happenings
    .filter(({ what }) => DOWN.includes(what))
    .reduce((hours, { from, to: until }) => hours + from - Math.max(until, 0), 0)
  const uptime = {
    fresh_block: 1 - down / WEEK_HOURS,
    own_rounds: profile.name === LEAVES.name ? 0.976 : 0.991,
  }
  to.gauge('chain_slo_objective_ratio', OBJECTIVE)
  to.gauge('chain_slo_known_ratio', 0.998)
  for (const criterion of CRITERIA) {
    if (criterion === 'own_rounds' && !profile.isValidator) continue
    to.gauge('chain_slo_uptime_ratio', uptime[criterion], { criterion })
    to.gauge('chain_slo_budget_remaining_ratio', 1 - (1 - uptime[criterion]) / (1 - OBJECTIVE), { criterion })
  }
}
