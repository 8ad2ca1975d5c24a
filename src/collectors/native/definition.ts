import { z } from 'zod'
import { POLL, timing, url } from '../../config/values.ts'
import { externalCounter, gauge, open } from '../../core/metric.ts'

/** Where the node's own metrics come from: consensus itself, or the OpenTelemetry collector. */
export const NATIVE_SOURCES = ['native', 'otel'] as const
/** What the node counts of itself and its log tells only under DEBUG, or not at all. */
export const NATIVE_EVENTS = [
  'committed_block',
  'local_timeout',
  'vote_sent',
  'round_entered_by_qc',
  'round_entered_by_tc',
  'execution_lagging',
  'bad_state_root',
  'base_fee_error',
  'statesync_triggered',
] as const
/** How far the database has moved to page-encoded timelines. */
export const MIGRATION_PHASES = ['legacy', 'dual', 'page_encoded'] as const

export const definition = {
  name: 'native',
  help: "consensus' own metrics: peers, sessions, votes, statesync",
  introduction:
    "The node's own metrics, asked at `native.url`, else at `native.fallbackUrl`: only what nothing else gives. Metrics that do not change are absent here, and `chain_native_frozen` is 1.",
  settings: z
    .strictObject({
      ...timing('10s', '5s', POLL),
      url: url('the metrics of consensus itself; /metrics is asked where it names no path').default(
        'http://localhost:9143',
      ),
      fallbackUrl: url('where else they are: the OpenTelemetry collector')
        .nullable()
        .default('http://localhost:8889'),
      namePrefix: z
        .string()
        .regex(/^[a-z][a-z0-9]*$/, "expected the first word of the metrics' names")
        .nullable()
        .default(null)
        .describe("the first word of the metrics' names; the maker's word without one"),
    })
    .prefault({}),
  metrics: {
    chain_native_up: gauge('Whether the endpoint answered with metrics of consensus.', {
      source: NATIVE_SOURCES,
    }),
    chain_native_frozen: gauge(
      'Whether the metrics of consensus have stopped moving; absent where nobody gives any.',
    ),
    chain_native_info: gauge('Constant 1; what consensus says of itself.', {
      network: open,
      version: open,
    }),
    chain_native_uptime_seconds: gauge('Uptime of consensus.'),
    chain_native_peers: gauge('Peers that consensus has discovered.'),
    chain_native_upstream_validators: gauge('Validators that feed this node.'),
    chain_native_downstream_nodes: gauge('Full nodes that this node feeds.'),
    chain_native_sessions: gauge('Sessions of the authenticated transport over UDP.', {
      state: ['total', 'transport', 'initiating'],
    }),
    chain_native_statesync_active: gauge('Whether consensus says that it needs statesync.'),
    chain_native_statesync_progress_block: gauge('Block that statesync has reached.'),
    chain_native_statesync_target_block: gauge('Block that statesync goes to.'),
    chain_native_vote_delay_seconds: gauge(
      'From the start of the vote timer until the vote was ready.',
      { percentile: ['p50', 'p90', 'p99'] },
    ),
    chain_native_stake_ratio: gauge('Share of the stake of the network; 0 outside the active set.'),
    chain_native_migration_phase: gauge(
      'Phase of the migration of the database as a state set; exactly one is 1.',
      { phase: MIGRATION_PHASES },
    ),
    chain_native_events_total: externalCounter('Events of consensus since it was started.', {
      event: NATIVE_EVENTS,
    }),
  },
} as const
