import type { MIGRATION_PHASES, NATIVE_EVENTS } from './definition.ts'

/**
 * Names of the node's metrics, without the name prefix. All of them are gauges, also those that count; a version
 * without a metric omits it.
 */
export const NATIVE_NAMES = {
  uptime: 'total_uptime_us',
  peers: 'peer_disc_num_peers',
  upstreamValidators: 'peer_disc_num_upstream_validators',
  downstreamNodes: 'peer_disc_num_downstream_fullnodes',
  statesyncActive: 'statesync_syncing',
  statesyncProgress: 'statesync_progress_estimate',
  statesyncTarget: 'statesync_last_target',
  // In ten thousandths.
  stake: 'state_node_state_self_stake_bps',
  // Absent if consensus could not open the database.
  migrationPhase: 'triedb_migration_phase',
} as const

export const EVENT_NAMES: Readonly<Record<(typeof NATIVE_EVENTS)[number], string>> = {
  committed_block: 'state_consensus_events_commit_block',
  local_timeout: 'state_consensus_events_local_timeout',
  vote_sent: 'state_consensus_events_created_vote',
  round_entered_by_qc: 'state_consensus_events_enter_new_round_qc',
  round_entered_by_tc: 'state_consensus_events_enter_new_round_tc',
  execution_lagging: 'state_consensus_events_rx_execution_lagging',
  bad_state_root: 'state_consensus_events_rx_bad_state_root',
  base_fee_error: 'state_consensus_events_rx_base_fee_error',
  statesync_triggered: 'state_consensus_events_trigger_state_sync',
}

/** Consensus communicates over UDP; some versions also have sessions over TCP. */
export const SESSION_NAMES = {
  total: 'wireauth_udp_state_total_sessions',
  transport: 'wireauth_udp_state_transport_sessions',
  initiating: 'wireauth_udp_state_initiating_sessions',
} as const

/** In milliseconds, since v0.14.0. */
export const VOTE_DELAY_NAMES = {
  p50: 'state_vote_delay_ready_after_timer_start_p50_ms',
  p90: 'state_vote_delay_ready_after_timer_start_p90_ms',
  p99: 'state_vote_delay_ready_after_timer_start_p99_ms',
} as const

/** The value of the node's metric for each phase. */
export const MIGRATION_VALUES: Readonly<Record<(typeof MIGRATION_PHASES)[number], number>> = {
  legacy: 0,
  dual: 1,
  page_encoded: 2,
}

/** Whether a name without the name prefix is a metric of consensus. */
export const isOfConsensus = (rest: string): boolean => ALL.has(rest)

const ALL: ReadonlySet<string> = new Set([
  ...Object.values(NATIVE_NAMES),
  ...Object.values(EVENT_NAMES),
  ...Object.values(SESSION_NAMES),
  ...Object.values(VOTE_DELAY_NAMES),
  'node_info',
  'execution_ledger_block_num',
])
