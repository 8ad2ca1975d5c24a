import { z } from 'zod'
import { polling, timed, url } from '../../core/settings.ts'
import { externalCounter, gauge, opens } from '../../core/metric.ts'

/** Endpoints of the node's metrics: consensus, or the OpenTelemetry collector. */
export const NATIVE_SOURCES = ['native', 'otel'] as const
/** Events that the node counts and logs only at DEBUG, or not at all. */
export const NATIVE_EVENTS = [
  'committed_block',
  'local_timeout',
  'vote_created',
  'round_entered_by_qc',
  'round_entered_by_tc',
  'execution_lagging',
  'bad_state_root',
  'base_fee_error',
  'statesync_target_set',
  'proposal_created',
  'vote_received',
  'remote_timeout',
  'timestamp_rejected',
  'transactions_rejected',
  'version_rejected',
  'blocksync_requested',
  'blocksync_timeout',
  'blocksync_no_peers',
  'blocksync_invalid_headers',
] as const
/** Parts of consensus whose working time it reports; `state` is the state machine itself. */
export const NATIVE_PARTS = ['ledger', 'router', 'statesync', 'txpool', 'state'] as const
/** Validators send blocks to each other over the primary channel, and to full nodes over the secondary one. */
export const BROADCAST_CHANNELS = ['primary', 'secondary'] as const
/**
 * Phases of the migration of the database to page-encoded timelines, by their value in the node's metric. `promoted`: the
 * primary timeline is the page-encoded one.
 */
export const MIGRATION_PHASES = ['legacy', 'dual', 'page_encoded', 'promoted'] as const
/** Sessions of the authenticated transport: established, and being set up. */
export const SESSION_STATES = ['transport', 'initiating'] as const
export const VOTE_PERCENTILES = ['50', '90', '99'] as const

export const definition = {
  name: 'native',
  help: 'metrics exported by consensus: peers, sessions, votes, statesync',
  introduction:
    'Metrics exported by the node, read from `native.url`, else from `native.fallbackUrl`: only those that no other source provides. When the main loop of consensus stops updating them they are absent here, and `chain_native_frozen` is 1.',
  settings: timed('10s', '5s', {
    ...polling('10s'),
    url: url('the metrics endpoint of consensus; without a path, /metrics is used').default('http://localhost:9143'),
    fallbackUrl: url('the fallback endpoint: the OpenTelemetry collector').nullable().default('http://localhost:8889'),
    namePrefix: z
      .string()
      .regex(/^[a-z][a-z0-9]*$/, 'expected the prefix of the metric names')
      .nullable()
      .default(null)
      .describe('prefix of the metric names; null: the name prefix'),
  }),
  metrics: {
    chain_native_up: gauge('Whether the endpoint returned metrics of consensus.', { source: NATIVE_SOURCES }),
    chain_native_frozen: gauge(
      'Whether the metrics that the main loop of consensus updates have stopped changing; absent if no endpoint returns them.',
    ),
    chain_native_info: gauge('Constant 1; network and version reported by consensus.', opens('network', 'version')),
    chain_native_uptime_seconds: gauge(
      'Uptime of consensus in seconds, from its own metrics, computed at each scrape of its endpoint, also while the main loop hangs.',
    ),
    chain_native_peers: gauge('Number of peers whose address consensus has verified, without pending ones.'),
    chain_native_upstream_validators: gauge(
      'Number of validators that this full node receives blocks from or has asked to, pending ones included; 0 on a validator.',
    ),
    chain_native_downstream_nodes: gauge('Number of full nodes that this validator sends blocks to; 0 on a full node.'),
    chain_native_sessions: gauge(
      'Sessions of the authenticated transport of consensus over UDP, by state: established (transport) or being set up (initiating).',
      {
        state: SESSION_STATES,
      },
    ),
    chain_native_start_active: gauge(
      'Whether consensus starts: it is not live yet and has no target of statesync, by its metrics.',
    ),
    chain_native_statesync_active: gauge(
      'Whether consensus runs statesync: it is not live and has a target, by its metrics.',
    ),
    chain_native_statesync_progress_block: gauge(
      'Estimate of the block that statesync has reached, from the metrics of consensus: a mean over parts of the state, which may not move while data arrives.',
    ),
    chain_native_statesync_target_block: gauge(
      'Target block of statesync, from the metrics of consensus; absent until this process has requested one.',
    ),
    chain_native_vote_delay_seconds: gauge(
      'Time from the own vote until the proposal of the next round was accepted, in seconds, by percentile of the last 5 minutes, from the metrics of consensus; late leaders increase it, and full nodes have it, too.',
      {
        percentile: VOTE_PERCENTILES,
      },
    ),
    chain_native_stake_ratio: gauge(
      'Ratio of the stake of the node to that of the network, from the metrics of consensus; 0 outside the active set, absent until consensus is live, unchanged while it enters no round.',
    ),
    chain_native_migration_phase: gauge(
      'Phase of the migration of the database as a state set, read once at the start of consensus; exactly one is 1.',
      {
        phase: MIGRATION_PHASES,
      },
    ),
    chain_native_database_used_bytes: gauge('Used bytes of the database, from the metrics of consensus.'),
    chain_native_pool_transactions: gauge('Number of transactions in the transaction pool of consensus.'),
    chain_native_broadcast_latency_seconds: gauge(
      'Time from the clock of the sender to that of this node for each decoded message of the channel, in seconds, 99th percentile of the last 30 seconds, from the metrics of consensus; wrong clocks of senders move it.',
      { channel: BROADCAST_CHANNELS },
    ),
    chain_native_executor_seconds_total: externalCounter(
      'Working time of the parts of consensus in seconds since it was started: which of them is slow.',
      { part: NATIVE_PARTS },
    ),
    chain_native_events_total: externalCounter(
      'Events of consensus since it was started, or since its counters were cleared.',
      {
        event: NATIVE_EVENTS,
      },
    ),
  },
} as const
