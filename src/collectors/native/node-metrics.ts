import type { Quantity } from '../../core/bounds.ts'
import type { ReadingName } from '../../core/metric.ts'
import { BROADCAST_CHANNELS, NATIVE_EVENTS, NATIVE_PARTS, SESSION_STATES, VOTE_PERCENTILES } from './definition.ts'

/**
 * A metric of the node. All of them are gauges in its exposition, also those that count; a version without a metric
 * omits it. scripts/compare-source/node-source.yaml has what sets or counts it.
 */
export interface NodeMetric {
  /** Without the name prefix. */
  readonly name: string
  /** The exported metric, its labels, and the number of units of the node in one base unit. */
  readonly exports: ReadingName
  readonly labels?: Readonly<Record<string, string>>
  readonly divisor?: number
  /** What the exported metric can be at most, if less than any metric. */
  readonly quantity?: Quantity
}

const MICROSECONDS = 1_000_000
const MILLISECONDS = 1000
const BASIS_POINTS = 10_000

const EVENTS: Readonly<Record<(typeof NATIVE_EVENTS)[number], string>> = {
  committed_block: 'consensus_events_commit_block',
  local_timeout: 'consensus_events_local_timeout',
  vote_created: 'consensus_events_created_vote',
  round_entered_by_qc: 'consensus_events_enter_new_round_qc',
  round_entered_by_tc: 'consensus_events_enter_new_round_tc',
  execution_lagging: 'consensus_events_rx_execution_lagging',
  bad_state_root: 'consensus_events_rx_bad_state_root',
  base_fee_error: 'consensus_events_rx_base_fee_error',
  statesync_target_set: 'consensus_events_trigger_state_sync',
  proposal_created: 'consensus_events_creating_proposal',
  vote_received: 'consensus_events_vote_received',
  remote_timeout: 'consensus_events_remote_timeout_msg',
  timestamp_rejected: 'consensus_events_failed_ts_validation',
  transactions_rejected: 'consensus_events_failed_txn_validation',
  version_rejected: 'validation_errors_invalid_version',
  blocksync_requested: 'blocksync_events_self_headers_request',
  blocksync_timeout: 'blocksync_events_request_timeout',
  blocksync_no_peers: 'blocksync_events_request_failed_no_peers',
  blocksync_invalid_headers: 'blocksync_events_headers_validation_failed',
}

/** Metrics that are exported only under a condition, or are read for another purpose, too. */
export const NODE_METRICS = {
  uptime: {
    name: 'total_uptime_us',
    exports: 'chain_native_uptime_seconds',
    divisor: MICROSECONDS,
    quantity: 'age',
  },
  stateUpdate: {
    name: 'state_total_update_us',
    exports: 'chain_native_executor_seconds_total',
    labels: { part: 'state' },
    divisor: MICROSECONDS,
  },
  statesyncActive: { name: 'statesync_syncing', exports: 'chain_native_statesync_active' },
  statesyncProgress: { name: 'statesync_progress_estimate', exports: 'chain_native_statesync_progress_block' },
  statesyncTarget: { name: 'statesync_last_target', exports: 'chain_native_statesync_target_block' },
  stake: {
    name: 'state_node_state_self_stake_bps',
    exports: 'chain_native_stake_ratio',
    divisor: BASIS_POINTS,
    quantity: 'ratio',
  },
  /** Absent if consensus could not open the database. */
  migrationPhase: { name: 'triedb_migration_phase', exports: 'chain_native_migration_phase' },
  info: { name: 'node_info', exports: 'chain_native_info' },
} as const satisfies Readonly<Record<string, NodeMetric>>

/** Metrics that are exported whenever their value is known. */
export const EXPORTED: readonly NodeMetric[] = [
  NODE_METRICS.uptime,
  { name: 'peer_disc_num_peers', exports: 'chain_native_peers' },
  { name: 'peer_disc_num_upstream_validators', exports: 'chain_native_upstream_validators' },
  { name: 'peer_disc_num_downstream_fullnodes', exports: 'chain_native_downstream_nodes' },
  ...SESSION_STATES.map((state) => ({
    // Consensus communicates over UDP; some versions also have sessions over TCP.
    name: `wireauth_udp_state_${state}_sessions`,
    exports: 'chain_native_sessions' as const,
    labels: { state },
  })),
  ...VOTE_PERCENTILES.map((percentile) => ({
    // Since v0.14.0.
    name: `state_vote_delay_ready_after_timer_start_p${percentile}_ms`,
    exports: 'chain_native_vote_delay_seconds' as const,
    labels: { percentile },
    divisor: MILLISECONDS,
  })),
  { name: 'triedb_disk_used_bytes', exports: 'chain_native_database_used_bytes' },
  { name: 'bft_txpool_pool_tracked_txs', exports: 'chain_native_pool_transactions' },
  ...BROADCAST_CHANNELS.map((channel) => ({
    name: `bft_raptorcast_udp_${channel}_broadcast_latency_p99_ms`,
    exports: 'chain_native_broadcast_latency_seconds' as const,
    labels: { channel },
    divisor: MILLISECONDS,
  })),
  ...NATIVE_PARTS.map((part): NodeMetric =>
    part === 'state'
      ? NODE_METRICS.stateUpdate
      : {
          name: `executor_${part}_total_exec_us`,
          exports: 'chain_native_executor_seconds_total',
          labels: { part },
          divisor: MICROSECONDS,
        },
  ),
  ...NATIVE_EVENTS.map((event) => ({
    name: `state_${EVENTS[event]}`,
    exports: 'chain_native_events_total' as const,
    labels: { event },
  })),
]

/** Every metric of the node that the agent reads. */
export const ALL_NODE_METRICS: readonly NodeMetric[] = [
  ...new Set<NodeMetric>([...Object.values(NODE_METRICS), ...EXPORTED]),
]
