import { BLOCK_TAGS, REQUEST_FAILURES } from '../../../src/collectors/rpc/definition.ts'
import { LEDGER_EVENTS } from '../../../src/collectors/ledger/definition.ts'
import { BLOCKS_PER_SECOND, type NodeState, TIMEOUT_SHARE } from './node-states.ts'
import type { Recorder } from './recorder.ts'
import { FINDINGS } from '../../../src/collectors/consensus/findings.ts'
import { MIGRATION_PHASES, NATIVE_EVENTS } from '../../../src/collectors/native/definition.ts'
import { FLAGS } from '../../../src/collectors/staking/definition.ts'
import { CRITERIA } from '../../../src/collectors/slo/definition.ts'
import { SET_VIEWS } from '../../../src/parsers/staking.ts'
import type { NodeProfile, Trouble } from './profiles.ts'

/** Blocks that a tag is behind the newest one. */
const DEPTH = { latest: 0, safe: 1, finalized: 2, proposed: 0 } as const
const WINDOW_BLOCKS = 800
const CHAIN_ID = '31143'
const STATESYNC_BLOCKS = 120_000

/** The chapters rpc, reference and ledger, and the height metrics of derived. */
export const recordChain = (to: Recorder, moment: NodeState): void => {
  recordRpc(to, moment)
  recordReferences(to, moment)
  recordLedger(to, moment)
  recordLag(to, moment)
}

/** The metrics that longer windows are computed from: enough for the days before the complete hours. */
export const recordBefore = (to: Recorder, moment: NodeState): void => {
  to.gauge('chain_native_statesync_active', moment.statesync !== null)
  if (moment.consensusRuns) to.gauge('chain_native_stake_ratio', moment.statesync === null ? stakeOf(moment) : 0)
  if (!moment.consensusRuns || moment.statesync !== null) return
  to.gauge('chain_ledger_block_timestamp_seconds', moment.blockTime, { event: 'proposed' })
}

const recordRpc = (to: Recorder, moment: NodeState): void => {
  const { rpcAnswers, at } = moment
  to.gauge('chain_rpc_up', rpcAnswers)
  for (const method of ['eth_blockNumber', 'eth_getBlockByNumber'] as const) {
    const perSecond = method === 'eth_blockNumber' ? 0.5 : 1.5
    const median = (moment.isSlow ? 0.2 : 0.008) * (1 + 0.3 * moment.noise(1))
    to.observe('chain_rpc_request_duration_seconds', { perSecond: rpcAnswers ? perSecond : 0, median }, { method })
    for (const reason of REQUEST_FAILURES) {
      const fails = (!rpcAnswers && reason === 'refused') || (moment.isSlow && reason === 'timeout')
      const share = rpcAnswers ? 0.02 : 1
      to.total('chain_rpc_errors_total', fails ? perSecond * share : 0, { method, reason })
    }
  }
  if (!rpcAnswers) return
  for (const tag of BLOCK_TAGS) {
    to.gauge('chain_rpc_block_number', moment.own - DEPTH[tag], { tag })
    const time = Math.floor(moment.blockTime - DEPTH[tag] / BLOCKS_PER_SECOND)
    to.gauge('chain_rpc_block_timestamp_seconds', time, { tag })
  }
  to.gauge('chain_rpc_last_advance_timestamp_seconds', moment.follows ? at - 0.2 : moment.blockTime)
  to.gauge('chain_rpc_info', 1, {
    client_version: `Chain/${moment.version}`,
    chain_id: CHAIN_ID,
    net_version: CHAIN_ID,
  })
}

const recordReferences = (to: Recorder, moment: NodeState): void => {
  for (const [reference, late] of [
    ['other-rpc', 1],
    ['query-service', 3],
  ] as const) {
    to.gauge('chain_reference_up', 1, { reference })
    to.gauge('chain_reference_block_number', moment.height - late, { reference })
  }
  to.gauge('chain_reference_agreeing', 2)
  if (moment.rpcAnswers) to.gauge('chain_block_difference', moment.behind)
}

const recordLedger = (to: Recorder, moment: NodeState): void => {
  const { follows, profile, timeoutShare, ownTimeoutShare } = moment
  const blocks = follows ? BLOCKS_PER_SECOND : 0
  const rounds = blocks * (1 + timeoutShare)
  const own = rounds * stakeOf(moment)
  for (const event of LEDGER_EVENTS) {
    const depth = event === 'proposed' ? 0 : DEPTH.finalized
    to.total('chain_ledger_blocks_total', blocks, { event })
    if (profile.isValidator) to.total('chain_ledger_own_blocks_total', own * (1 - ownTimeoutShare), { event })
    if (!moment.consensusRuns || moment.statesync !== null) continue
    to.gauge('chain_ledger_round', moment.round - depth, { event })
    to.gauge('chain_ledger_seq_num', moment.own - depth, { event })
    const time = moment.blockTime - depth / BLOCKS_PER_SECOND
    to.gauge('chain_ledger_block_timestamp_seconds', time, { event })
  }
  to.total('chain_ledger_timeouts_total', blocks * timeoutShare)
  to.total('chain_ledger_empty_blocks_total', blocks * 0.02)
  if (profile.isValidator) {
    to.total('chain_ledger_own_empty_blocks_total', own * 0.02)
    to.total('chain_ledger_own_timeouts_total', own * ownTimeoutShare)
    to.gauge('chain_ledger_own_consecutive_timeouts', ownTimeoutShare > 0.2 ? 3 : 0)
  }
}

const recordLag = (to: Recorder, moment: NodeState): void => {
  to.gauge('chain_blocks_per_second', BLOCKS_PER_SECOND * (1 + 0.02 * moment.noise(6)))
  const { statesync } = moment
  if (statesync === null) {
    const left = Math.max(0, WINDOW_BLOCKS - moment.behind)
    to.gauge('chain_blocksync_window_remaining_blocks', left)
  } else {
    const pace = 1.5 * 3600
    to.gauge('chain_statesync_eta_seconds', (1 - statesync) * pace)
    to.gauge('chain_statesync_last_progress_timestamp_seconds', moment.at - 4)
  }
  to.gauge('chain_native_zombie', 0)
}

/** Current and target block of statesync; null if it is not active. */
export const statesyncBlocks = ({
  height,
  statesync,
}: NodeState): { readonly reached: number; readonly target: number } | null =>
  statesync === null ? null : { reached: Math.round(height - (1 - statesync) * STATESYNC_BLOCKS), target: height }

const DUTY_SECONDS = 6 * 3600

/** The chapters consensus and native, and the duty metrics of derived. */
export const recordConsensus = (to: Recorder, moment: NodeState): void => {
  recordLog(to, moment)
  recordNative(to, moment)
  recordDuty(to, moment)
}

const recordLog = (to: Recorder, moment: NodeState): void => {
  if (!moment.consensusRuns) return
  if (moment.follows) {
    to.gauge('chain_consensus_round', moment.round)
    to.gauge('chain_consensus_block_number', moment.own)
  }
  to.gauge('chain_consensus_statesync_active', moment.statesync !== null)
  to.gauge('chain_consensus_start_active', 0)
  const found = new Set([
    ...(moment.follows || moment.statesync !== null ? [] : ['not_committing']),
    ...(moment.statesync === null ? [] : ['statesync_active']),
    ...(moment.ownTimeoutShare > 0.2 ? ['local_timeouts'] : []),
  ])
  for (const { finding } of FINDINGS) to.gauge('chain_consensus_finding', found.has(finding), { finding })
}

/** Messages per second. */
const paceOf = (moment: NodeState) => {
  const rounds = moment.follows ? BLOCKS_PER_SECOND : 0
  const timeouts = moment.follows
    ? rounds * moment.timeoutShare
    : moment.consensusRuns && moment.statesync === null
      ? 0.4
      : 0
  return {
    committed_block: rounds,
    round_timed_out: timeouts,
    local_timeout: timeouts,
    vote_created: moment.profile.isValidator ? rounds * 0.995 : 0,
  }
}

const recordNative = (to: Recorder, moment: NodeState): void => {
  to.gauge('chain_native_up', moment.consensusRuns, { source: 'native' })
  if (!moment.consensusRuns) {
    to.gauge('chain_native_up', 0, { source: 'otel' })
    return
  }
  to.gauge('chain_native_info', 1, { network: 'simulated', version: moment.version })
  to.gauge('chain_native_uptime_seconds', moment.at - moment.consensusSince)
  to.gauge('chain_native_peers', Math.round(340 + 20 * moment.noise(10)))
  to.gauge('chain_native_upstream_validators', Math.round(4 + moment.noise(11)))
  const sessions = Math.round(30 + 4 * moment.noise(12))
  to.gauge('chain_native_sessions', sessions - 2, { state: 'transport' })
  to.gauge('chain_native_sessions', 2, { state: 'initiating' })
  const blocks = statesyncBlocks(moment)
  to.gauge('chain_native_statesync_active', blocks !== null)
  to.gauge('chain_native_start_active', 0)
  to.gauge('chain_native_statesync_progress_block', blocks?.reached ?? null)
  to.gauge('chain_native_statesync_target_block', blocks?.target ?? null)
  to.gauge('chain_native_stake_ratio', blocks === null ? stakeOf(moment) : 0)
  for (const phase of MIGRATION_PHASES) to.gauge('chain_native_migration_phase', phase === 'page_encoded', { phase })
  if (moment.profile.isValidator && moment.follows) {
    const slower = moment.isSlow || moment.ownTimeoutShare > 0.2 ? 4 : 1
    for (const [percentile, seconds] of [
      ['50', 0.047],
      ['90', 0.11],
      ['99', 0.16],
    ] as const) {
      const delay = seconds * slower * (1 + 0.2 * moment.noise(13))
      to.gauge('chain_native_vote_delay_seconds', delay, { percentile })
    }
  }
  recordEvents(to, moment)
}

const recordEvents = (to: Recorder, moment: NodeState): void => {
  const { committed_block, local_timeout, vote_created, round_timed_out } = paceOf(moment)
  const pace: Readonly<Record<(typeof NATIVE_EVENTS)[number], number>> = {
    committed_block,
    local_timeout,
    vote_created,
    round_entered_by_qc: committed_block,
    round_entered_by_tc: round_timed_out,
    execution_lagging: moment.isSlow ? 0.05 : 0.0005,
    bad_state_root: 0,
    base_fee_error: 0,
    statesync_target_set: moment.starts.consensus && moment.statesync !== null ? 1 : 0,
    proposal_created: committed_block / 200,
    vote_received: committed_block / 200,
    remote_timeout: round_timed_out * 150,
    timestamp_rejected: 0.0005,
    transactions_rejected: 0,
    version_rejected: 0,
    blocksync_requested: moment.isSlow ? 0.2 : 0.002,
    blocksync_timeout: moment.isSlow ? 0.05 : 0,
    blocksync_no_peers: 0,
    blocksync_invalid_headers: 0,
  }
  to.gauge('chain_native_database_used_bytes', Math.round(moment.storage * 1.8e12))
  for (const event of NATIVE_EVENTS) to.total('chain_native_events_total', pace[event], { event })
}

const recordDuty = (to: Recorder, moment: NodeState): void => {
  const { profile, ownTimeoutShare, statesync } = moment
  if (statesync !== null) return
  to.gauge('chain_duty_timeout_ratio', TIMEOUT_SHARE * (1 + 0.1 * moment.noise(14)), { scope: 'network' })
  to.gauge('chain_duty_identity_active', moment.consensusRuns, {
    identity: `02${(profile.keyOf ?? profile.name).replaceAll(/\W/g, '')}`,
    boot: profile.name,
  })
  if (!profile.isValidator) return
  const expected = stakeOf(moment) * DUTY_SECONDS * BLOCKS_PER_SECOND * (1 + TIMEOUT_SHARE)
  const timeouts = Math.round(expected * ownTimeoutShare)
  to.gauge('chain_duty_expected_slots', expected)
  to.gauge('chain_duty_slots', Math.round(expected * (1 + 0.02 * moment.noise(15))) - timeouts, { result: 'block' })
  to.gauge('chain_duty_slots', timeouts, { result: 'timeout' })
  to.gauge('chain_duty_timeout_ratio', ownTimeoutShare, { scope: 'own' })
  to.gauge('chain_duty_shortfall_probability_ratio', ownTimeoutShare > 0.2 ? 0.0004 : 0.5 + 0.3 * moment.noise(16))
}

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

const stakeOf = ({ profile }: NodeState): number => (profile.isValidator ? SHARE : 0)

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
  const { at, round, follows, profile } = moment
  to.gauge('chain_schedule_proved', follows)
  to.total('chain_schedule_misses_total', 0)
  // A full node is no member of the set.
  if (!follows || !profile.isValidator) return
  const roundsPerSecond = BLOCKS_PER_SECOND * 1.02
  const every = 1 / SHARE
  const next = (Math.floor(round / every) + 1) * every
  const epochLeft = EPOCH_BLOCKS - ((moment.height + SHIFT - DELAY_BLOCKS) % EPOCH_BLOCKS)
  to.gauge('chain_schedule_next_own_round', next)
  to.gauge('chain_schedule_next_own_timestamp_seconds', at + (next - round) / roundsPerSecond)
  const ahead = Math.floor(epochLeft * SHARE)
  // The agent knows no number for the hour if the epoch ends before: here a panel without a value would be a finding.
  const inHour = Math.min(ahead, Math.floor(HOUR * roundsPerSecond * SHARE))
  to.gauge('chain_schedule_own_rounds_next_hour', inHour)
  to.gauge('chain_schedule_own_rounds_ahead', ahead)
}

const DOWN: readonly Trouble[] = ['outage', 'stall', 'crash', 'statesync']
const OBJECTIVE = 0.98

/** The uptime of the week until now. */
const recordUptime = (to: Recorder, { profile }: NodeState): void => {
  const down = profile.happenings
    .filter(({ what }) => DOWN.includes(what))
    .reduce((hours, { from, to: until }) => hours + from - Math.max(until, 0), 0)
  const uptime = { fresh_block: 1 - down / WEEK_HOURS, own_rounds: profile.name === LEAVES.name ? 0.976 : 0.991 }
  to.gauge('chain_slo_objective_ratio', OBJECTIVE)
  to.gauge('chain_slo_known_ratio', 0.998)
  for (const criterion of CRITERIA) {
    if (criterion === 'own_rounds' && !profile.isValidator) continue
    to.gauge('chain_slo_uptime_ratio', uptime[criterion], { criterion })
    to.gauge('chain_slo_budget_remaining_ratio', 1 - (1 - uptime[criterion]) / (1 - OBJECTIVE), { criterion })
  }
}
