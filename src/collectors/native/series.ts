import { BROADCAST_CHANNELS, COPY_DIRECTIONS, MIGRATION_PHASES, NATIVE_EVENTS, NATIVE_PARTS } from './definition.ts'
import type { Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import type { PrometheusSample } from '../../parsers/prometheus-text.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { plainText } from '../../core/redact.ts'
import { type UnknownValue, unknownValue } from '../../core/unknown-values.ts'

/**
 * Names of the node's metrics, without the name prefix. All of them are gauges, also those that count; a version
 * without a metric omits it.
 */
const NATIVE_NAMES = {
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
  databaseUsed: 'triedb_disk_used_bytes',
  databaseCapacity: 'triedb_disk_capacity_bytes',
  // Cumulative, of execution's process.
  upsertWrites: 'triedb_nodes_created_or_updated',
  expiryWrites: 'triedb_expire_nodes_updated',
  compactionReads: 'triedb_compaction_reads',
  expiryReads: 'triedb_expire_reads',
  // Of the cache of consensus; absent if its backend has none.
  cacheHits: 'triedb_node_cache_hits',
  cacheMisses: 'triedb_node_cache_misses',
  cacheEvictions: 'triedb_node_cache_evictions',
  cacheUsed: 'triedb_node_cache_used_bytes',
  cacheCapacity: 'triedb_node_cache_max_bytes',
  cacheEntries: 'triedb_node_cache_entries',
  cacheMaxEntries: 'triedb_node_cache_max_entries',
  poolTransactions: 'bft_txpool_pool_tracked_txs',
} as const

const EVENT_NAMES: Readonly<Record<(typeof NATIVE_EVENTS)[number], string>> = {
  committed_block: 'state_consensus_events_commit_block',
  local_timeout: 'state_consensus_events_local_timeout',
  vote_created: 'state_consensus_events_created_vote',
  round_entered_by_qc: 'state_consensus_events_enter_new_round_qc',
  round_entered_by_tc: 'state_consensus_events_enter_new_round_tc',
  execution_lagging: 'state_consensus_events_rx_execution_lagging',
  bad_state_root: 'state_consensus_events_rx_bad_state_root',
  base_fee_error: 'state_consensus_events_rx_base_fee_error',
  statesync_target_set: 'state_consensus_events_trigger_state_sync',
  proposal_created: 'state_consensus_events_creating_proposal',
  vote_received: 'state_consensus_events_vote_received',
  remote_timeout: 'state_consensus_events_remote_timeout_msg',
  timestamp_rejected: 'state_consensus_events_failed_ts_validation',
  transactions_rejected: 'state_consensus_events_failed_txn_validation',
  version_rejected: 'state_validation_errors_invalid_version',
  blocksync_requested: 'state_blocksync_events_self_headers_request',
  blocksync_timeout: 'state_blocksync_events_request_timeout',
  blocksync_no_peers: 'state_blocksync_events_request_failed_no_peers',
  blocksync_invalid_headers: 'state_blocksync_events_headers_validation_failed',
}

/** Microseconds. */
const PART_NAMES: Readonly<Record<(typeof NATIVE_PARTS)[number], string>> = {
  ledger: 'executor_ledger_total_exec_us',
  router: 'executor_router_total_exec_us',
  statesync: 'executor_statesync_total_exec_us',
  txpool: 'executor_txpool_total_exec_us',
  state: 'state_total_update_us',
}

/** Milliseconds. */
const BROADCAST_NAMES: Readonly<Record<(typeof BROADCAST_CHANNELS)[number], string>> = {
  primary: 'bft_raptorcast_udp_primary_broadcast_latency_p99_ms',
  secondary: 'bft_raptorcast_udp_secondary_broadcast_latency_p99_ms',
}

/** Consensus communicates over UDP; some versions also have sessions over TCP. */
const SESSION_NAMES = {
  transport: 'wireauth_udp_state_transport_sessions',
  initiating: 'wireauth_udp_state_initiating_sessions',
} as const

/** In milliseconds, since v0.14.0. */
const VOTE_DELAY_NAMES = {
  '50': 'state_vote_delay_ready_after_timer_start_p50_ms',
  '90': 'state_vote_delay_ready_after_timer_start_p90_ms',
  '99': 'state_vote_delay_ready_after_timer_start_p99_ms',
} as const

const COPY_NAMES: Readonly<Record<(typeof COPY_DIRECTIONS)[number], string>> = {
  fast_to_slow: 'triedb_compacted_bytes_fast_to_slow',
  slow_to_slow: 'triedb_compacted_bytes_slow_to_slow',
  slow_to_fast: 'triedb_copied_bytes_slow_to_fast',
}

/** Whether a name without the name prefix is a metric of consensus. */
const isOfConsensus = (rest: string): boolean => ALL.has(rest)

const ALL: ReadonlySet<string> = new Set([
  ...Object.values(NATIVE_NAMES),
  ...Object.values(EVENT_NAMES),
  ...Object.values(PART_NAMES),
  ...Object.values(BROADCAST_NAMES),
  ...Object.values(COPY_NAMES),
  ...Object.values(SESSION_NAMES),
  ...Object.values(VOTE_DELAY_NAMES),
  'node_info',
  'execution_ledger_block_num',
])

/** The metrics of consensus that an endpoint returned. */
export interface NativeSeries {
  /** The value of a metric by its name without the name prefix; undefined if it is unknown. */
  value(name: string): number | undefined
  /** The value of a label of any of the series. */
  label(name: string): string | undefined
  /** The newest timestamp, in milliseconds since the epoch; null without timestamps. */
  readonly newestAt: number | null
}

/** Consensus updates its values every second; older ones are from a process that has exited. In milliseconds. */
const STALE_AFTER = minute / 2

/**
 * Returns undefined if there are no metrics of consensus. Series are selected by name only: labels differ between
 * versions, and operators add labels. After an upgrade an OpenTelemetry collector may serve two series of one name for
 * a while, of the old and of the new version: the newest is used.
 */
export const readNativeSeries = (samples: readonly PrometheusSample[], prefix: string): NativeSeries | undefined => {
  const own = samples
    .map(withoutDots)
    .filter(({ name }) => name.startsWith(`${prefix}_`) && isOfConsensus(name.slice(prefix.length + 1)))
  if (own.length === 0) return undefined
  const times = own.flatMap(({ timestampMs }) => (timestampMs === null ? [] : [timestampMs]))
  const newestAt = times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b))
  const fresh = own.filter(
    ({ timestampMs }) => timestampMs === null || newestAt === null || newestAt - timestampMs <= STALE_AFTER,
  )
  const byName = new Map<string, PrometheusSample[]>()
  for (const one of fresh) {
    const name = one.name.slice(prefix.length + 1)
    const sameName = byName.get(name)
    if (sameName) sameName.push(one)
    else byName.set(name, [one])
  }
  return {
    newestAt,
    value: (name) => known(newestOf(byName.get(name) ?? [])),
    label: (name) => {
      const [value] = fresh
        .toSorted((a, b) => (b.timestampMs ?? 0) - (a.timestampMs ?? 0))
        .flatMap(({ labels }) => labels[name] || [])
      return value
    },
  }
}

/** OpenTelemetry's own form of the names, `zephyr.total_uptime_us`, which some collectors serve unchanged. */
const withoutDots = (one: PrometheusSample): PrometheusSample => {
  if (!one.name.includes('.')) return one
  const labels = Object.entries(one.labels).map(([name, value]): [string, string] => [name.replaceAll('.', '_'), value])
  return { ...one, name: one.name.replaceAll('.', '_'), labels: Object.fromEntries(labels) }
}

/** Two different values with the same timestamp are unknown: either may be of this node. */
const newestOf = (samples: readonly PrometheusSample[]): number | undefined => {
  const newest = samples.reduce((latest, { timestampMs }) => Math.max(latest, timestampMs ?? 0), -Infinity)
  const values = new Set(samples.filter(({ timestampMs }) => (timestampMs ?? 0) === newest).map(({ value }) => value))
  const [value] = values
  return values.size === 1 ? value : undefined
}

/**
 * The sentinel for "never set" is 2^64 − 1 in the node, and 2^64 as a double. An integer beyond 2^53 is already rounded,
 * so it is unknown too.
 */
const known = (value: number | undefined): number | undefined =>
  value !== undefined && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value + 0 : undefined

/** Whether the values change: `standing` means that they do not, `unknown` that they have no timestamps and were read once. */
export type Movement = 'moving' | 'standing' | 'unknown'

/** Consensus updates its uptime every second, and a poll may be faster than that. In milliseconds. */
const STOPPED_AFTER = 3 * second

/**
 * Detects whether the values of one endpoint are from a running process: an OpenTelemetry collector serves the last
 * values for a minute after the exit of consensus, or for hours, depending on its configuration. They have old
 * timestamps or, without timestamps, an uptime that does not increase.
 */
export const createMovementDetector = (clock: Clock) => {
  let last: { readonly uptime: number; readonly at: number } | undefined
  let movement: Movement = 'unknown'
  const byUptime = (uptime: number): Movement => {
    const at = clock.elapsed()
    if (last?.uptime === uptime) return at - last.at >= STOPPED_AFTER ? 'standing' : movement
    const isFirst = last === undefined
    last = { uptime, at }
    return isFirst ? 'unknown' : 'moving'
  }
  return {
    update: ({ newestAt, value }: NativeSeries): Movement => {
      const uptime = value(NATIVE_NAMES.uptime)
      // Without an uptime no value must increase.
      movement = uptime === undefined ? 'unknown' : byUptime(uptime)
      if (newestAt === null) return movement
      if (clock.now() - newestAt > STALE_AFTER) return 'standing'
      return movement === 'standing' ? movement : 'moving'
    },
    /** To be called when the endpoint was not read: the next values are the first ones. */
    reset: (): void => {
      last = undefined
      movement = 'unknown'
    },
  } as const
}

const labelText = (text: string | undefined): string | null => (text === undefined ? null : plainText(text, 100))

/** Network and version. `service_name` is omitted: it contains the name that the operator gave the node. */
const infoOf = ({ label }: NativeSeries) => ({
  network: labelText(label('network')),
  version: labelText(label('service_version')),
})

/** The metrics of the node that no other source provides, in base units. */
export const nativeSamples = (series: NativeSeries): readonly Sample[] => {
  const { value } = series
  const { network, version } = infoOf(series)
  return [
    ...(network === null && version === null
      ? []
      : [sample('chain_native_info', 1, { network: network ?? '', version: version ?? '' })]),
    ...sampleIfKnown('chain_native_uptime_seconds', divided(value(NATIVE_NAMES.uptime), 1_000_000)),
    ...sampleIfKnown('chain_native_peers', value(NATIVE_NAMES.peers)),
    ...sampleIfKnown('chain_native_upstream_validators', value(NATIVE_NAMES.upstreamValidators)),
    ...sampleIfKnown('chain_native_downstream_nodes', value(NATIVE_NAMES.downstreamNodes)),
    ...STATES.flatMap((state) => sampleIfKnown('chain_native_sessions', value(SESSION_NAMES[state]), { state })),
    ...statesyncSamples(series),
    ...PERCENTILES.flatMap((percentile) =>
      sampleIfKnown('chain_native_vote_delay_seconds', divided(value(VOTE_DELAY_NAMES[percentile]), 1000), {
        percentile,
      }),
    ),
    // It is 0 until consensus is live, whatever the stake.
    ...sampleIfKnown(
      'chain_native_stake_ratio',
      isNotLive(series) ? undefined : divided(value(NATIVE_NAMES.stake), 10_000),
    ),
    ...phaseSamples(value(NATIVE_NAMES.migrationPhase)),
    ...sampleIfKnown('chain_native_database_used_bytes', value(NATIVE_NAMES.databaseUsed)),
    ...sampleIfKnown('chain_native_database_capacity_bytes', value(NATIVE_NAMES.databaseCapacity)),
    ...databaseWorkSamples(series),
    ...cacheSamples(series),
    ...sampleIfKnown('chain_native_pool_transactions', value(NATIVE_NAMES.poolTransactions)),
    ...BROADCAST_CHANNELS.flatMap((channel) =>
      sampleIfKnown('chain_native_broadcast_latency_seconds', divided(value(BROADCAST_NAMES[channel]), 1000), {
        channel,
      }),
    ),
    ...NATIVE_PARTS.flatMap((part) =>
      sampleIfKnown('chain_native_executor_seconds_total', divided(value(PART_NAMES[part]), 1_000_000), { part }),
    ),
    ...NATIVE_EVENTS.flatMap((event) =>
      sampleIfKnown('chain_native_events_total', value(EVENT_NAMES[event]), { event }),
    ),
  ]
}

const STATES = ['transport', 'initiating'] as const
const PERCENTILES = ['50', '90', '99'] as const

const divided = (value: number | undefined, by: number): number | undefined =>
  value === undefined ? undefined : value / by

/** Whether consensus is not live. It sets this at every start, whether or not it needs statesync. */
const isNotLive = ({ value }: NativeSeries): boolean => value(NATIVE_NAMES.statesyncActive) === 1

/** A target of 0 is a process that has not needed statesync: while it is not live, it starts. */
const statesyncSamples = (series: NativeSeries): readonly Sample[] => {
  const { value } = series
  const target = value(NATIVE_NAMES.statesyncTarget)
  const isLive = value(NATIVE_NAMES.statesyncActive) === 0
  const isKnown = isLive || (isNotLive(series) && target !== undefined)
  return [
    ...(isKnown
      ? [
          sample('chain_native_start_active', !isLive && target === 0),
          sample('chain_native_statesync_active', !isLive && target !== 0),
        ]
      : []),
    ...(target === undefined || target === 0
      ? []
      : [
          ...sampleIfKnown('chain_native_statesync_progress_block', value(NATIVE_NAMES.statesyncProgress)),
          sample('chain_native_statesync_target_block', target),
        ]),
  ]
}

/**
 * Consensus reports 0 until it has read the file of execution: before the first block was written, the numbers are
 * unknown.
 */
const databaseWorkSamples = ({ value }: NativeSeries): readonly Sample[] =>
  (value(NATIVE_NAMES.upsertWrites) ?? 0) === 0
    ? []
    : [
        ...sampleIfKnown('chain_native_database_writes_total', value(NATIVE_NAMES.upsertWrites), { task: 'upsert' }),
        ...sampleIfKnown('chain_native_database_writes_total', value(NATIVE_NAMES.expiryWrites), { task: 'expiry' }),
        ...sampleIfKnown('chain_native_database_reads_total', value(NATIVE_NAMES.compactionReads), {
          task: 'compaction',
        }),
        ...sampleIfKnown('chain_native_database_reads_total', value(NATIVE_NAMES.expiryReads), { task: 'expiry' }),
        ...COPY_DIRECTIONS.flatMap((direction) =>
          sampleIfKnown('chain_native_database_copied_bytes_total', value(COPY_NAMES[direction]), { direction }),
        ),
      ]

const cacheSamples = ({ value }: NativeSeries): readonly Sample[] => [
  ...sampleIfKnown('chain_native_cache_requests_total', value(NATIVE_NAMES.cacheHits), { result: 'hit' }),
  ...sampleIfKnown('chain_native_cache_requests_total', value(NATIVE_NAMES.cacheMisses), { result: 'miss' }),
  ...sampleIfKnown('chain_native_cache_evictions_total', value(NATIVE_NAMES.cacheEvictions)),
  ...sampleIfKnown('chain_native_cache_used_bytes', value(NATIVE_NAMES.cacheUsed)),
  ...sampleIfKnown('chain_native_cache_capacity_bytes', value(NATIVE_NAMES.cacheCapacity)),
  ...sampleIfKnown('chain_native_cache_entries', value(NATIVE_NAMES.cacheEntries)),
  ...sampleIfKnown('chain_native_cache_max_entries', value(NATIVE_NAMES.cacheMaxEntries)),
]

/** An unknown value of the phase is not exported. */
const phaseSamples = (value: number | undefined): readonly Sample[] =>
  MIGRATION_PHASES.some((_, code) => code === value)
    ? MIGRATION_PHASES.map((phase, code) => sample('chain_native_migration_phase', code === value, { phase }))
    : []

const FLAG = ['0', '1']

/** The values that this version of the agent does not know. */
export const unknownNativeValues = ({ value }: NativeSeries): readonly UnknownValue[] => [
  ...unknownValue('migration phase', value(NATIVE_NAMES.migrationPhase), Object.keys(MIGRATION_PHASES)),
  ...unknownValue('statesync active', value(NATIVE_NAMES.statesyncActive), FLAG),
]
