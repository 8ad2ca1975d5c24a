/**
 * Every metric we expose: the one list that /metrics, docs/metrics.md, dashboards/ and alerts/
 * are generated from or checked against. A change in this file is a change of our public API.
 */

/** A label whose values are not known beforehand. The budget of series bounds how many there are. */
const open = 'open'

type Labels = Readonly<Record<string, readonly string[] | typeof open>>

/** A value read from somewhere: exported while its reading is fresh, absent otherwise. */
const gauge = <const L extends Labels = Record<never, never>>(help: string, labels?: L) =>
  ({ type: 'gauge', help, labels }) as const

/** A total that somebody else keeps (the node, systemd): exported by value, absent when stale. */
const counter = <const L extends Labels = Record<never, never>>(help: string, labels?: L) =>
  ({ type: 'counter', help, labels }) as const

/** A total that the agent keeps of what it saw: it stays until the agent ends. */
const tally = <const L extends Labels = Record<never, never>>(help: string, labels?: L) =>
  ({ type: 'tally', help, labels }) as const

/** Durations that the agent observed, in seconds; the buckets lie around points of decision. */
const histogram = <const L extends Labels = Record<never, never>>(
  help: string,
  buckets: readonly number[],
  labels?: L,
) => ({ type: 'histogram', help, buckets, labels }) as const

/** Block tags of JSON-RPC: newest proposed, voted, final. */
export const BLOCK_TAGS = ['latest', 'safe', 'finalized'] as const
/** Why a request brought nothing. */
export const REFUSALS = ['refused', 'timeout', 'http', 'jsonrpc', 'invalid'] as const
/** systemd's ActiveState, and a unit that it does not know. */
export const SERVICE_STATES = [
  'active',
  'reloading',
  'inactive',
  'failed',
  'activating',
  'deactivating',
  'maintenance',
  'not-found',
] as const
/** systemd's results of a service; what it invents later is `other`. */
export const EXIT_RESULTS = [
  'success',
  'exit-code',
  'signal',
  'core-dump',
  'oom-kill',
  'timeout',
  'watchdog',
  'protocol',
  'resources',
  'start-limit-hit',
  'other',
] as const
/** What the ledger stream tells of blocks. */
export const LEDGER_EVENTS = ['proposed', 'finalized'] as const
/** The database's timelines; labels of the slots, not of what is in them. */
export const TIMELINES = ['primary', 'secondary'] as const
export const CHUNK_LISTS = ['fast', 'slow', 'free'] as const
export const BLOCK_STATES = ['proposed', 'voted', 'finalized', 'verified'] as const
/** What lines of the consensus log are about. */
export const CONSENSUS_KINDS = [
  'committed_block',
  'round_advanced',
  'round_timed_out',
  'local_timeout',
  'statesync',
  'blocksync',
  'vote_sent',
  'proposal',
  'warning',
  'error',
] as const
export const NETWORK_ERROR_KINDS = ['decrypt', 'session_timeout', 'timestamp'] as const
export const FAILURE_KINDS = ['source', 'parse', 'timeout', 'internal'] as const
export const LINE_RESULTS = ['parsed', 'ignored', 'unparsed'] as const

/** The chapters of the catalogue, named after the collector that fills them. */
export const chapters = {
  rpc: {
    chain_rpc_up: gauge(
      'Whether the last eth_blockNumber got a valid answer; 0 when refused, late or wrong.',
    ),
    chain_rpc_block_number: gauge('Height of the chain as the node reports it, by block tag.', {
      tag: BLOCK_TAGS,
    }),
    chain_rpc_block_timestamp_seconds: gauge('Time that the block itself carries, by block tag.', {
      tag: BLOCK_TAGS,
    }),
    chain_rpc_last_advance_timestamp_seconds: gauge(
      'When the latest height last grew, by the clock of the agent.',
    ),
    chain_rpc_info: gauge('Constant 1; what the node says of itself.', {
      client_version: open,
      chain_id: open,
      net_version: open,
    }),
    chain_rpc_request_duration_seconds: histogram(
      'Time to an answer of the node, valid or not.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
      { method: open },
    ),
    chain_rpc_errors_total: tally('Requests to the node that got no valid answer.', {
      method: open,
      reason: REFUSALS,
    }),
  },
  reference: {
    chain_reference_up: gauge(
      'Whether the reference answered, and with the chain id of the node where both are known.',
      { reference: open },
    ),
    chain_reference_block_number: gauge('Height of the chain as the reference reports it.', {
      reference: open,
    }),
    chain_reference_agreeing: gauge(
      'References whose heights lie within the agreement window of each other.',
    ),
    chain_block_difference: gauge(
      'Blocks that the node is behind the agreed reference height; negative when ahead.',
    ),
  },
  services: {
    chain_service_state: gauge('State of the systemd unit as a state set; exactly one is 1.', {
      service: open,
      state: SERVICE_STATES,
    }),
    chain_service_active: gauge('Whether systemd reports the unit as active.', { service: open }),
    chain_service_expected: gauge(
      'Whether the unit should be active: enabled, or required by the configuration.',
      { service: open },
    ),
    chain_service_restarts_total: counter('Times that systemd itself has restarted the unit.', {
      service: open,
    }),
    chain_service_start_timestamp_seconds: gauge('When the main process last started.', {
      service: open,
    }),
    chain_service_last_exit_status: gauge(
      'Exit code of the last main process that ended, or the signal number where one ended it.',
      { service: open },
    ),
    chain_service_memory_bytes: gauge('Memory of the unit as systemd accounts it.', {
      service: open,
    }),
    chain_service_cpu_seconds_total: counter('Processor time of the unit since it was started.', {
      service: open,
    }),
    chain_service_tasks: gauge('Tasks of the unit as systemd accounts them.', { service: open }),
    chain_service_partial_restart: gauge(
      'Whether consensus was started anew and execution beside it was not.',
    ),
    chain_timer_last_trigger_timestamp_seconds: gauge('When the timer last fired.', {
      timer: open,
    }),
    chain_timer_next_trigger_timestamp_seconds: gauge('When the timer fires next.', {
      timer: open,
    }),
  },
  lifecycle: {
    chain_service_starts_total: tally(
      'Starts of the unit that the agent saw; the start before its first sight does not count.',
      { service: open },
    ),
    chain_service_exits_total: tally('Ends of the unit that the agent saw, by result of systemd.', {
      service: open,
      result: EXIT_RESULTS,
    }),
  },
  ledger: {
    chain_ledger_blocks_total: tally(
      'Blocks in the ledger stream, each height and round once; network includes own.',
      { event: LEDGER_EVENTS, scope: ['own', 'network'] },
    ),
    chain_ledger_timeouts_total: tally(
      'Rounds whose leader timed out according to the ledger stream; network includes own.',
      { scope: ['own', 'network'] },
    ),
    chain_ledger_skipped_rounds_total: tally(
      'Rounds between a proposed block and its parent that gave no block, each once.',
    ),
    chain_ledger_transactions_total: tally('Transactions of proposed blocks.'),
    chain_ledger_round: gauge('Highest consensus round seen.', { event: LEDGER_EVENTS }),
    chain_ledger_epoch: gauge('Highest epoch seen.', { event: LEDGER_EVENTS }),
    chain_ledger_seq_num: gauge('Highest block sequence number seen.', { event: LEDGER_EVENTS }),
    chain_ledger_block_timestamp_seconds: gauge('Time that the newest block itself carries.', {
      event: LEDGER_EVENTS,
    }),
    chain_ledger_block_interval_seconds: histogram(
      'Time between the own times of consecutive proposed blocks.',
      [0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.75, 1, 2, 5, 10],
    ),
    chain_ledger_propagation_seconds: histogram(
      'From the own time of a proposed block to its line in the ledger stream.',
      [0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.5, 3, 10],
    ),
    chain_ledger_finality_seconds: histogram(
      'From the own time of a block to the line that says it is final.',
      [0.3, 0.5, 0.7, 0.8, 1, 1.2, 1.5, 2, 3, 5, 10],
    ),
    chain_ledger_future_blocks_total: tally(
      'Proposed blocks whose own time lies after their line: the clock of their leader, or ours, is off.',
    ),
    chain_ledger_own_consecutive_timeouts: gauge(
      'Rounds in a row in which this node was leader and timed out.',
    ),
  },
  storage: {
    chain_storage_capacity_bytes: gauge('Capacity of the database on the device.', {
      device: open,
    }),
    chain_storage_used_bytes: gauge('Used space of the database on the device.', { device: open }),
    chain_storage_used_ratio: gauge('Used share of the device, from the printed percent.', {
      device: open,
    }),
    chain_storage_chunks: gauge('Chunks of 256 MiB in the list.', { list: CHUNK_LISTS }),
    chain_storage_chunks_capacity_bytes: gauge('Capacity of the chunks in the list.', {
      list: CHUNK_LISTS,
    }),
    chain_storage_chunks_used_bytes: gauge('Used space of the chunks in the list.', {
      list: CHUNK_LISTS,
    }),
    chain_storage_history_blocks: gauge('Blocks whose state is retained.', { timeline: TIMELINES }),
    chain_storage_history_earliest_block: gauge('Earliest block whose state is retained.', {
      timeline: TIMELINES,
    }),
    chain_storage_history_latest_block: gauge('Latest block whose state is retained.', {
      timeline: TIMELINES,
    }),
    chain_storage_history_max_blocks: gauge(
      'Bound on retained blocks; above 80 % of use the node shrinks it by itself.',
    ),
    chain_storage_latest_block: gauge('Latest block in the database, by state.', {
      state: BLOCK_STATES,
    }),
    chain_storage_auto_expire_block: gauge('Version below which state is expired by itself.', {
      timeline: TIMELINES,
    }),
    chain_storage_timeline_info: gauge('Constant 1; the kind of state machine in the timeline.', {
      timeline: TIMELINES,
      kind: open,
    }),
    chain_storage_compaction_threshold_ratio: gauge(
      'Share of use from which the node compacts by itself.',
    ),
  },
  status: {
    chain_status_info: gauge('Constant 1; what the status report says of the node.', {
      hostname: open,
      version: open,
      network: open,
      chain: open,
      chain_id: open,
      self_address: open,
      record_seq_num: open,
      secp_public_key: open,
    }),
    chain_status_uptime_seconds: gauge('Uptime of the consensus process as reported.'),
    chain_status_service_running: gauge('Whether the report says running of the service.', {
      service: open,
    }),
    chain_status_rpc_block_number: gauge('Height of the RPC as reported.'),
    chain_status_peers: gauge('Peers as reported.'),
    chain_status_in_sync: gauge('Whether the report says in-sync, the one healthy word.'),
    chain_status_live: gauge('Whether the report says live, the one healthy word.'),
    chain_status_rpc_active: gauge('Whether the report says active of the RPC.'),
    chain_status_state_info: gauge('Constant 1; the words of the report as they are.', {
      consensus: open,
      mode: open,
      rpc: open,
    }),
    chain_status_epoch: gauge('Epoch as reported.'),
    chain_status_round: gauge('Round as reported.'),
    chain_status_block_number: gauge('Height of consensus as reported.'),
    chain_status_external_block_number: gauge('Height elsewhere as reported.'),
    chain_status_block_difference: gauge('Difference of heights as reported.'),
    chain_status_statesync_progress_ratio: gauge('Progress of statesync as reported.'),
    chain_status_statesync_progress_block: gauge('Block that statesync has reached.'),
    chain_status_statesync_target_block: gauge('Block that statesync goes to.'),
    chain_status_cleanup_activated: gauge('Whether the clean-up timer is activated.'),
    chain_status_cleanup_previous_seconds: gauge('Since the last clean-up as reported.'),
    chain_status_cleanup_next_seconds: gauge('Until the next clean-up as reported.'),
  },
  consensus: {
    chain_consensus_round: gauge('Most recent round in the window of 60 seconds.'),
    chain_consensus_epoch: gauge('Most recent epoch in the window.'),
    chain_consensus_block_number: gauge('Most recent committed block in the window.'),
    chain_consensus_committing: gauge('Whether blocks are processed and being committed.'),
    chain_consensus_window_messages: gauge('Messages in the last 60 seconds.', {
      kind: CONSENSUS_KINDS,
    }),
    chain_consensus_messages_total: tally('Messages that the agent saw.', {
      kind: CONSENSUS_KINDS,
    }),
    chain_consensus_statesync_active: gauge('Whether the node itself needs statesync.'),
    chain_consensus_blocksync_active: gauge('Whether the node itself needs blocksync.'),
    chain_consensus_network_errors_total: tally('Errors of the network layer.', {
      kind: NETWORK_ERROR_KINDS,
    }),
    chain_consensus_network_error_peers: gauge(
      'Distinct peers behind network errors in five minutes.',
    ),
    chain_consensus_finding: gauge('Whether a finding of the analysis stands.', { finding: open }),
    chain_log_lines_total: tally('Warnings and errors in the log.', {
      service: open,
      level: ['warning', 'error'],
    }),
    chain_log_suppressed_messages_total: tally(
      'Messages that journald dropped: absence of others proves nothing then.',
      { service: open },
    ),
  },
  agent: {
    chain_agent_build_info: gauge('Constant 1; which agent this is.', {
      version: open,
      revision: open,
      node_version: open,
    }),
    chain_agent_collector_enabled: gauge('Whether the configuration turns the collector on.', {
      collector: open,
    }),
    chain_agent_collector_up: gauge(
      'Whether the last attempt succeeded and its reading is fresh.',
      {
        collector: open,
      },
    ),
    chain_agent_collector_last_success_timestamp_seconds: gauge(
      'When the collector last had a reading.',
      { collector: open },
    ),
    chain_agent_collector_duration_seconds: gauge('How long the last poll took.', {
      collector: open,
    }),
    chain_agent_collector_failures_total: counter('Attempts of the collector that failed.', {
      collector: open,
      kind: FAILURE_KINDS,
    }),
    chain_agent_lines_total: tally('Lines of streams and reports, by how they were understood.', {
      format: open,
      result: LINE_RESULTS,
    }),
    chain_agent_journal_last_entry_timestamp_seconds: gauge(
      'Time of the newest entry read from the journal.',
      { service: open },
    ),
    chain_agent_journal_restarts_total: tally('Times that a journal follower was started anew.', {
      service: open,
    }),
    chain_agent_journal_gaps_total: tally(
      'Times that the place where reading stopped was gone from the journal.',
      { service: open },
    ),
  },
} as const

type Chapters = typeof chapters
type Merge<C> = { [K in keyof C]: C[K] }[keyof C]
type UnionToIntersection<U> = (U extends unknown ? (u: U) => void : never) extends (
  i: infer I,
) => void
  ? I
  : never

/** The catalogue without its chapters: name → definition. */
type Catalogue = UnionToIntersection<Merge<Chapters>>

export const metrics: Readonly<Record<MetricName, MetricDefinition>> = {
  ...chapters.rpc,
  ...chapters.reference,
  ...chapters.services,
  ...chapters.lifecycle,
  ...chapters.ledger,
  ...chapters.storage,
  ...chapters.status,
  ...chapters.consensus,
  ...chapters.agent,
}

export interface MetricDefinition {
  readonly type: 'gauge' | 'counter' | 'tally' | 'histogram'
  readonly help: string
  readonly labels: Labels | undefined
  readonly buckets?: readonly number[]
}

export type MetricName = keyof Catalogue
type NamesOf<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: Catalogue[Name] extends { readonly type: Type } ? Name : never
}[MetricName]

/** Metrics that are exported by value, from a reading. */
export type ReadingName = NamesOf<'gauge' | 'counter'>
/** Counters that the agent keeps. */
export type TallyName = NamesOf<'tally'>
export type HistogramName = NamesOf<'histogram'>

/** The labels that a metric must carry, with the values that the catalogue allows. */
export type LabelsOf<Name extends MetricName> = Catalogue[Name] extends {
  readonly labels: (infer L) | undefined
}
  ? { readonly [K in keyof L]: L[K] extends readonly (infer Value)[] ? Value : string }
  : never

/** Nothing to pass where a metric has no labels, exactly its labels where it has some. */
export type LabelArgument<Name extends MetricName> = [keyof LabelsOf<Name>] extends [never]
  ? []
  : [labels: LabelsOf<Name>]

export interface Sample {
  readonly name: ReadingName
  readonly value: number
  readonly labels: Readonly<Record<string, string>>
}

/**
 * One value of one metric, in the unit that its name ends in. 64-bit heights become doubles here,
 * exact up to 2^53. Throws a RangeError for what is not a number: absent is the word for unknown.
 */
export const sample = <Name extends ReadingName>(
  name: Name,
  value: number | bigint | boolean,
  ...[labels]: LabelArgument<Name>
): Sample => {
  const number = Number(value)
  if (!Number.isFinite(number)) throw new RangeError(`${name} must be a number, got ${value}`)
  return { name, value: number, labels: { ...labels } }
}

/** A sample for a value that may be unknown: none then. */
export const sampleIfKnown = <Name extends ReadingName>(
  name: Name,
  value: number | bigint | boolean | null | undefined,
  ...labels: LabelArgument<Name>
): readonly Sample[] =>
  value === null || value === undefined ? [] : [sample(name, value, ...labels)]
