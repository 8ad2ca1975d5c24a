import { FINDINGS } from '../../../src/collectors/consensus/findings.ts'
import { NETWORK_ERROR_KINDS } from '../../../src/collectors/consensus/definition.ts'
import { MIGRATION_PHASES, NATIVE_EVENTS } from '../../../src/collectors/native/definition.ts'
import { statesyncBlocks } from './chain.ts'
import { BLOCKS_PER_SECOND, type NodeState, TIMEOUT_SHARE } from './node-states.ts'
import type { Recorder } from './recorder.ts'
import { stakeOf } from './staking.ts'

const DUTY_SECONDS = 6 * 3600

/** The chapters consensus and native, and the duty metrics of derived. */
export const recordConsensus = (to: Recorder, moment: NodeState): void => {
  recordLog(to, moment)
  recordNative(to, moment)
  recordDuty(to, moment)
}

const recordLog = (to: Recorder, moment: NodeState): void => {
  for (const kind of NETWORK_ERROR_KINDS)
    to.total('chain_consensus_network_errors_total', kind === 'session_timeout' ? 0.004 : 0, {
      kind,
    })
  if (!moment.consensusRuns) return
  to.gauge('chain_consensus_network_error_peers', 1)
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
  to.gauge('chain_duty_timeout_ratio', TIMEOUT_SHARE * (1 + 0.1 * moment.noise(14)), {
    scope: 'network',
  })
  to.gauge('chain_duty_identity_active', moment.consensusRuns, {
    identity: `02${(profile.keyOf ?? profile.name).replaceAll(/\W/g, '')}`,
    boot: profile.name,
  })
  if (!profile.isValidator) return
  const expected = stakeOf(moment) * DUTY_SECONDS * BLOCKS_PER_SECOND * (1 + TIMEOUT_SHARE)
  const timeouts = Math.round(expected * ownTimeoutShare)
  to.gauge('chain_duty_expected_slots', expected)
  to.gauge('chain_duty_slots', Math.round(expected * (1 + 0.02 * moment.noise(15))) - timeouts, {
    result: 'block',
  })
  to.gauge('chain_duty_slots', timeouts, { result: 'timeout' })
  to.gauge('chain_duty_timeout_ratio', ownTimeoutShare, { scope: 'own' })
  to.gauge('chain_duty_shortfall_probability_ratio', ownTimeoutShare > 0.2 ? 0.0004 : 0.5 + 0.3 * moment.noise(16))
}
