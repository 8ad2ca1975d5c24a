import type { Quantity } from '../../core/bounds.ts'
import { type NodeSource, own, received } from '../../domain/node-source.ts'
import type { ReadingName } from '../../core/metric.ts'
import { BROADCAST_CHANNELS, NATIVE_EVENTS, NATIVE_PARTS, SESSION_STATES, VOTE_PERCENTILES } from './definition.ts'

/**
 * A metric of the node. All of them are gauges in its exposition, also those that count; a version without a metric
 * omits it.
 */
export interface NodeMetric {
  /** Without the name prefix. */
  readonly name: string
  /** Its names in older versions of the node. */
  readonly formerNames?: readonly string[]
  /** The exported metric, its labels, and the number of units of the node in one base unit. */
  readonly exports: ReadingName
  readonly labels?: Readonly<Record<string, string>>
  readonly divisor?: number
  /** What the exported metric can be at most, if less than any metric. */
  readonly quantity?: Quantity
  /** The functions that set or count it; empty if none was found in the source. */
  readonly sources: readonly NodeSource[]
  /** The name that they use, if it differs from both the constant and the field. */
  readonly identifier?: string
  /** What the name does not show. */
  readonly note?: string
}

const NODE = 'monad-bft/monad-node/src/metrics.rs'
const DISCOVERY = 'monad-bft/monad-peer-discovery/src/discovery.rs'
const STATESYNC = 'monad-bft/monad-statesync-executor/src/lib.rs'
const STATE = 'monad-bft/monad-state/src/lib.rs'
const CONSENSUS = 'monad-bft/monad-consensus-state/src/lib.rs'
const BLOCKTREE = 'monad-bft/monad-blocktree/src/blocktree.rs'
const BLOCKSYNC = 'monad-bft/monad-blocksync/src/blocksync.rs'
const PACEMAKER = 'monad-bft/monad-consensus/src/pacemaker.rs'
const STATE_CONSENSUS = 'monad-bft/monad-state/src/consensus.rs'
const WIREAUTH = 'monad-bft/monad-wireauth/src/state.rs'

const MICROSECONDS = 1_000_000
const MILLISECONDS = 1000
const BASIS_POINTS = 10_000

const RECHECKED = 'a block is checked again with each one on top of it: it may count many times'
/** What the names of events do not show. */
const NOTES: Readonly<Partial<Record<(typeof NATIVE_EVENTS)[number], string>>> = {
  vote_created: 'own vote computed; a full node counts its votes, and sends none',
  statesync_target_set: 'one at the start, if statesync is needed, and one for each newer target; never of a live node',
  execution_lagging: RECHECKED,
  bad_state_root: RECHECKED,
  base_fee_error: RECHECKED,
  timestamp_rejected: 'the clock of the leader or of this node is off',
  version_rejected: 'messages of another version',
  remote_timeout: 'timeout messages of other validators',
  blocksync_requested: 'requests of headers to peers, after the own ledger did not have them',
  blocksync_timeout: 'requests that no peer answered in time',
  blocksync_invalid_headers: 'answers of peers',
}

const EVENTS: Readonly<
  Record<(typeof NATIVE_EVENTS)[number], readonly [name: string, sources: readonly NodeSource[]]>
> = {
  committed_block: ['consensus_events_commit_block', own(CONSENSUS, 'try_commit')],
  local_timeout: ['consensus_events_local_timeout', own(CONSENSUS, 'handle_timeout_expiry')],
  vote_created: ['consensus_events_created_vote', own(CONSENSUS, 'send_vote_and_reset_timer')],
  round_entered_by_qc: ['consensus_events_enter_new_round_qc', received(PACEMAKER, 'process_certificate')],
  round_entered_by_tc: ['consensus_events_enter_new_round_tc', received(PACEMAKER, 'process_certificate')],
  execution_lagging: [
    'consensus_events_rx_execution_lagging',
    [...received(BLOCKTREE, 'try_update_coherency'), ...own(CONSENSUS, 'try_propose')],
  ],
  bad_state_root: ['consensus_events_rx_bad_state_root', received(BLOCKTREE, 'try_update_coherency')],
  base_fee_error: ['consensus_events_rx_base_fee_error', received(BLOCKTREE, 'try_update_coherency')],
  statesync_target_set: [
    'consensus_events_trigger_state_sync',
    [...own(STATE, 'maybe_start_consensus'), ...own(STATE_CONSENSUS, 'update')],
  ],
  proposal_created: ['consensus_events_creating_proposal', own(STATE_CONSENSUS, 'handle_mempool_event')],
  vote_received: ['consensus_events_vote_received', received(CONSENSUS, 'handle_vote_message')],
  remote_timeout: ['consensus_events_remote_timeout_msg', received(CONSENSUS, 'handle_timeout_message')],
  timestamp_rejected: ['consensus_events_failed_ts_validation', received(CONSENSUS, 'try_vote')],
  transactions_rejected: [
    'consensus_events_failed_txn_validation',
    received('monad-bft/monad-eth-block-validator/src/lib.rs', 'validate'),
  ],
  version_rejected: ['validation_errors_invalid_version', received(STATE, 'handle_validation_error')],
  blocksync_requested: ['blocksync_events_self_headers_request', own(BLOCKSYNC, 'handle_headers_response_for_self')],
  blocksync_timeout: ['blocksync_events_request_timeout', received(BLOCKSYNC, 'handle_timeout')],
  blocksync_no_peers: ['blocksync_events_request_failed_no_peers', own(BLOCKSYNC, 'handle_headers_response_for_self')],
  blocksync_invalid_headers: [
    'blocksync_events_headers_validation_failed',
    received(BLOCKSYNC, 'handle_headers_response_for_self'),
  ],
}

/** Metrics that are exported only under a condition, or are read for another purpose, too. */
export const NODE_METRICS = {
  uptime: {
    name: 'total_uptime_us',
    exports: 'chain_native_uptime_seconds',
    divisor: MICROSECONDS,
    quantity: 'age',
    sources: own(NODE, 'refresh_dynamic_metrics'),
    identifier: 'total_uptime',
    note: 'computed at each scrape of the own endpoint, in the thread of the metrics server',
  },
  stateUpdate: {
    name: 'state_total_update_us',
    exports: 'chain_native_executor_seconds_total',
    labels: { part: 'state' },
    divisor: MICROSECONDS,
    sources: own('monad-bft/monad-node/src/main.rs', 'run'),
    identifier: 'record_state_update_elapsed',
    note: 'set by the main loop with every event: it has one every 5 ms at least',
  },
  statesyncActive: {
    name: 'statesync_syncing',
    exports: 'chain_native_statesync_active',
    sources: own(STATESYNC, 'update_syncing_metrics'),
    note: '1 from every start until consensus is live, whether or not it needs statesync: `chain_native_start_active` without a target',
  },
  statesyncProgress: {
    name: 'statesync_progress_estimate',
    exports: 'chain_native_statesync_progress_block',
    sources: own(STATESYNC, 'poll_next'),
    note: 'an estimate, the mean over 256 prefixes: it may not change while data arrives, and may jump at a new target',
  },
  statesyncTarget: {
    name: 'statesync_last_target',
    exports: 'chain_native_statesync_target_block',
    sources: own(STATESYNC, 'exec'),
  },
  stake: {
    name: 'state_node_state_self_stake_bps',
    exports: 'chain_native_stake_ratio',
    divisor: BASIS_POINTS,
    quantity: 'ratio',
    sources: own(STATE, 'update'),
    note: 'set when a round is entered, rounded up',
  },
  /** Absent if consensus could not open the database. */
  migrationPhase: {
    name: 'triedb_migration_phase',
    exports: 'chain_native_migration_phase',
    sources: own(NODE, 'record_triedb_phase_metrics'),
    note: 'read once, at the start of the process; the main branch has the values 0 to 2',
  },
  info: {
    name: 'node_info',
    exports: 'chain_native_info',
    sources: own(NODE, 'default_prometheus_labels'),
    identifier: 'labels',
  },
} as const satisfies Readonly<Record<string, NodeMetric>>

const plain = (name: string, exports: ReadingName, sources: readonly NodeSource[]): NodeMetric => ({
  name,
  exports,
  sources,
})

/** Metrics that are exported whenever their value is known. */
export const EXPORTED: readonly NodeMetric[] = [
  NODE_METRICS.uptime,
  plain('peer_disc_num_peers', 'chain_native_peers', received(DISCOVERY, 'refresh')),
  plain(
    'peer_disc_num_upstream_validators',
    'chain_native_upstream_validators',
    own(DISCOVERY, 'look_for_upstream_validators'),
  ),
  plain('peer_disc_num_downstream_fullnodes', 'chain_native_downstream_nodes', received(DISCOVERY, 'refresh')),
  ...SESSION_STATES.map((state) => ({
    // Consensus communicates over UDP; some versions also have sessions over TCP.
    ...plain(
      `wireauth_udp_state_${state}_sessions`,
      'chain_native_sessions',
      received(WIREAUTH, 'insert_transport', 'terminate_session'),
    ),
    labels: { state },
  })),
  ...VOTE_PERCENTILES.map((percentile) => ({
    // Since v0.14.0.
    ...plain(
      `state_vote_delay_ready_after_timer_start_p${percentile}_ms`,
      'chain_native_vote_delay_seconds',
      received('monad-bft/monad-consensus-state/src/vote_delay_metrics.rs', 'update_metrics'),
    ),
    labels: { percentile },
    divisor: MILLISECONDS,
  })),
  plain('triedb_disk_used_bytes', 'chain_native_database_used_bytes', own(NODE, 'record_triedb_storage_metrics')),
  {
    ...plain(
      'bft_txpool_pool_tracked_txs',
      'chain_native_pool_transactions',
      received('monad-bft/monad-eth-txpool/src/event_tracker.rs', 'update_aggregate_metrics'),
    ),
    identifier: 'txs',
  },
  ...BROADCAST_CHANNELS.map((channel) => ({
    ...plain(
      `bft_raptorcast_udp_${channel}_broadcast_latency_p99_ms`,
      'chain_native_broadcast_latency_seconds',
      received('monad-bft/monad-raptorcast/src/metrics.rs', 'record_broadcast_latency'),
    ),
    labels: { channel },
    divisor: MILLISECONDS,
    identifier: `${channel}_broadcast`,
  })),
  ...NATIVE_PARTS.map((part) =>
    part === 'state'
      ? NODE_METRICS.stateUpdate
      : {
          ...plain(
            `executor_${part}_total_exec_us`,
            'chain_native_executor_seconds_total',
            own('monad-bft/monad-updaters/src/parent.rs', 'exec'),
          ),
          labels: { part },
          divisor: MICROSECONDS,
        },
  ),
  ...NATIVE_EVENTS.map((event) => {
    const [name, sources] = EVENTS[event]
    const note = NOTES[event]
    const metric = { ...plain(`state_${name}`, 'chain_native_events_total', sources), labels: { event } }
    return note === undefined ? metric : { ...metric, note }
  }),
]

/** Every metric of the node that the agent reads. */
export const ALL_NODE_METRICS: readonly NodeMetric[] = [
  ...new Set<NodeMetric>([...Object.values(NODE_METRICS), ...EXPORTED]),
]
