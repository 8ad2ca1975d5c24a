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
/** systemd's results of a service; the rare ones, and what it invents later, are `other`. */
export const EXIT_RESULTS = [
  'success',
  'exit-code',
  'signal',
  'core-dump',
  'oom-kill',
  'timeout',
  'watchdog',
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
/** What the time of a block in execution is made of. */
export const EXECUTION_PHASES = ['sender_recovery', 'execution', 'commit', 'total'] as const
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
/** Who tells the version that runs: the process of the RPC, the metrics of consensus. */
export const RUNNING_SOURCES = ['rpc', 'native'] as const
/** What a node must have by the time of a fork. */
export const FORK_CHECKS = ['version', 'timeline'] as const
/** The secrets of a node; `password` is the one of the keystores. */
export const KEYS = ['secp', 'bls', 'password'] as const
export const KEY_KINDS = ['keystore', 'backup'] as const
export const KEY_STATES = ['ok', 'missing', 'invalid', 'exposed', 'unverified'] as const
/** Whether the kernel that runs, or the one that a reboot would start, is known to be bad. */
export const KERNELS = ['running', 'pending'] as const
export const MAINTENANCE_REASONS = ['upgrade', 'hardware', 'network', 'other'] as const
export const FAILURE_KINDS = ['source', 'parse', 'timeout', 'internal'] as const
export const LINE_RESULTS = ['parsed', 'ignored', 'unparsed'] as const
/** What the ingest of the query service is at. */
export const INGEST_PHASES = ['starting', 'back-fill', 'tail', 'waiting', 'stopped'] as const
/** Why a step of it failed. */
export const INGEST_FAILURES = [
  'unreachable',
  'overload',
  'refused',
  'incomplete',
  'unlinked',
  'nonsense',
  'store',
] as const
/** What the query service is asked for; all but the two is `other`. */
const QUERY_PATHS = ['/query', '/height', 'other'] as const

/** The chapters of the catalogue, named after the collector that fills them; `queryService` is filled by another process. */
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
      'Time to an answer of the node to what is asked at every poll, valid or not.',
      [0.001, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 2.5],
      { method: ['eth_blockNumber', 'eth_getBlockByNumber'] },
    ),
    chain_rpc_errors_total: tally('Requests of the poll that got no valid answer.', {
      method: ['eth_blockNumber', 'eth_getBlockByNumber'],
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
      [0.2, 0.3, 0.35, 0.4, 0.5, 0.75, 1, 2, 5],
    ),
    chain_ledger_propagation_seconds: histogram(
      'From the own time of a proposed block to its line in the ledger stream.',
      [0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.5, 3],
    ),
    chain_ledger_finality_seconds: histogram(
      'From the own time of a block to the line that says it is final.',
      [0.5, 0.7, 0.8, 1, 1.2, 1.5, 2, 3, 5],
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
    chain_status_statesync_progress_ratio: gauge(
      'Progress of statesync as reported; absent while the reported target is 0.',
    ),
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
  },
  execution: {
    chain_execution_block_number: gauge(
      'Highest block that was executed since execution was started.',
    ),
    chain_execution_block_timestamp_seconds: gauge('Time that the highest block itself carries.'),
    chain_execution_finalized_block_number: gauge(
      'Highest block that execution was told to be final.',
    ),
    chain_execution_blocks_total: tally(
      'Executions of blocks; one that is executed again counts again.',
    ),
    chain_execution_reexecutions_total: tally(
      'Blocks that were executed at a height at which another one had been.',
    ),
    chain_execution_transactions_total: tally('Transactions of executed blocks.'),
    chain_execution_retried_transactions_total: tally(
      'Transactions that had to be executed again, in conflict with others of their block.',
    ),
    chain_execution_gas_total: tally('Gas of executed blocks.'),
    chain_execution_block_duration_seconds: histogram(
      'Time that a block took, by phase.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.4],
      { phase: EXECUTION_PHASES },
    ),
    chain_execution_upsert_duration_seconds: histogram(
      'Time to write the state of a block into the database.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.4],
      { timeline: TIMELINES },
    ),
    chain_execution_storage_used_ratio: gauge('Used share of the database as execution logs it.'),
    chain_execution_storage_chunks: gauge('Chunks of the database as execution logs them.', {
      list: CHUNK_LISTS,
    }),
    chain_execution_history_earliest_block: gauge(
      'Earliest block whose state is retained, as execution logs it.',
      { timeline: TIMELINES },
    ),
    chain_execution_memory_bytes: gauge(
      'Resident memory as execution logs it; absent where it has been silent for a minute.',
    ),
  },
  logs: {
    chain_log_pattern_total: tally('Lines that mean trouble, by what they say.', {
      service: open,
      pattern: open,
    }),
    chain_log_lines_total: tally('Warnings and errors in the log.', {
      service: open,
      level: ['warning', 'error'],
    }),
    chain_log_suppressed_messages_total: tally(
      'Messages that journald dropped: absence of others proves nothing then.',
      { service: open },
    ),
    chain_log_oldest_entry_timestamp_seconds: gauge(
      'Time of the oldest entry of the service that the journal still holds.',
      { service: open },
    ),
  },
  version: {
    chain_node_build_info: gauge('Constant 1; the installed program as it says itself.', {
      program: open,
      version: open,
      tag: open,
      commit: open,
      branch: open,
      modified: open,
    }),
    chain_node_running_info: gauge(
      'Constant 1; the version that runs: of the RPC, and of consensus by its own metrics.',
      { source: RUNNING_SOURCES, version: open },
    ),
    chain_package_info: gauge('Constant 1; the installed package.', {
      package: open,
      version: open,
    }),
    chain_version_mismatch: gauge(
      'Whether a process runs another version than the installed one: a restart is pending.',
    ),
    chain_fork_activation_timestamp_seconds: gauge(
      'When the fork or the mandatory release of the network takes effect.',
      { fork: open },
    ),
    chain_fork_ready: gauge('Whether the node has what the fork asks for.', {
      fork: open,
      check: FORK_CHECKS,
    }),
  },
  keys: {
    chain_key_file_state: gauge('State of a secret file as a state set; exactly one is 1.', {
      key: KEYS,
      kind: KEY_KINDS,
      state: KEY_STATES,
    }),
    chain_key_backup_timestamp_seconds: gauge('When the backup was last written.', { key: KEYS }),
    chain_key_backup_copies: gauge('Rotated copies that lie beside the backup.', { key: KEYS }),
  },
  host: {
    chain_host_boot_timestamp_seconds: gauge('When the host was booted.'),
    chain_host_kernel_info: gauge('Constant 1; the kernel that runs, and that after a reboot.', {
      kernel: KERNELS,
      release: open,
    }),
    chain_host_kernel_blocked: gauge('Whether the kernel is known to break such nodes.', {
      kernel: KERNELS,
    }),
    chain_host_hugepages: gauge('Huge pages that the kernel holds.', {
      size: ['2Mi', '1Gi'],
      state: ['total', 'free'],
    }),
    chain_host_smt_active: gauge('Whether simultaneous multithreading is on.'),
    chain_host_governor_cpus: gauge('Processors by frequency governor.', { governor: open }),
    chain_host_cpu_throttles_total: counter('Times that the processors were slowed down by heat.'),
    chain_host_cpu_busy_ratio: gauge('Share of processor time that was not idle.'),
    chain_host_memory_available_bytes: gauge('Memory that programs can still have.'),
    chain_host_memory_available_ratio: gauge('The same as a share of the memory of the host.'),
    chain_host_clock_synchronized: gauge('Whether the clock is kept by a time service.'),
    chain_host_clock_offset_seconds: gauge('By how much the clock is ahead of the time service.'),
    chain_host_port_exposed: gauge(
      'Whether something listens on the port on more than the loopback interface.',
      { port: open },
    ),
    chain_host_filesystem_size_bytes: gauge('Size of the file system of the directory.', {
      directory: open,
    }),
    chain_host_filesystem_available_bytes: gauge('Free space of the file system.', {
      directory: open,
    }),
    chain_host_directory_bytes: gauge('Space that the files of the directory take.', {
      directory: open,
    }),
    chain_host_file_modified_timestamp_seconds: gauge(
      'When a file of the configuration was last written.',
      { file: open },
    ),
    chain_host_nvme_info: gauge('Constant 1; model and firmware of the drive.', {
      device: open,
      model: open,
      firmware: open,
    }),
    chain_host_nvme_temperature_celsius: gauge('Temperature of the drive.', { device: open }),
    chain_host_nvme_critical_warning: gauge(
      'Bits of the critical warning of the drive; 0 is well.',
      {
        device: open,
      },
    ),
    chain_host_nvme_media_errors_total: counter('Errors that the drive could not correct.', {
      device: open,
    }),
    chain_host_nvme_used_ratio: gauge('Share of the life of the drive that is used up.', {
      device: open,
    }),
    chain_service_max_file_descriptors: gauge(
      'Open files that the main process of the service may have.',
      { service: open },
    ),
    chain_service_open_file_descriptors: gauge(
      'Open files that the main process of the service has.',
      { service: open },
    ),
  },
  native: {
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
    chain_native_events_total: counter('Events of consensus since it was started.', {
      event: NATIVE_EVENTS,
    }),
  },
  tokens: {
    chain_token_balance: gauge(
      'What the holder has by the events of the token, as a float of raw units divided by 10 to the power of its decimals; exact in the API.',
      { token: open, holder: open, id: open },
    ),
    chain_token_through_block: gauge('Last block whose events are in the balances of the token.', {
      token: open,
    }),
  },
  derived: {
    chain_blocks_per_second: gauge('Rate of blocks of the chain as measured.'),
    chain_blocksync_window_remaining_blocks: gauge(
      'Blocks that the node can still fall behind before peers no longer serve it by blocksync.',
    ),
    chain_blocksync_window_remaining_seconds: gauge(
      'The same in time, at the measured rate, for a stalled node.',
    ),
    chain_statesync_eta_seconds: gauge(
      'Until statesync is done, by its pace; absent while it is stalled.',
    ),
    chain_statesync_last_progress_timestamp_seconds: gauge('When statesync last moved.'),
    chain_storage_seconds_until_compaction: gauge(
      'Until the database reaches the threshold of compaction, by its growth.',
    ),
    chain_native_zombie: gauge(
      'Whether the metrics of consensus do not change while the node moves on.',
    ),
    chain_duty_expected_slots: gauge('Rounds that should have been led, by stake, in the window.'),
    chain_duty_slots: gauge('Rounds that were led in the window, by how they ended.', {
      result: ['block', 'timeout'],
    }),
    chain_duty_timeout_ratio: gauge('Share of rounds in the window that timed out.', {
      scope: ['own', 'network'],
    }),
    chain_duty_shortfall_probability_ratio: gauge(
      'Probability of so few own blocks in the window, or fewer, by chance.',
    ),
    chain_duty_identity_active: gauge('Whether this node signs with the identity.', {
      identity: open,
    }),
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
    chain_agent_maintenance: gauge('Whether the operator has announced maintenance.', {
      reason: MAINTENANCE_REASONS,
    }),
    chain_agent_heartbeat_last_success_timestamp_seconds: gauge(
      'When the heartbeat was last accepted.',
    ),
    chain_agent_heartbeats_total: tally('Heartbeats, by whether they were accepted.', {
      result: ['accepted', 'failed'],
    }),
  },
  reload: {
    chain_agent_config_last_reload_successful: gauge(
      'Whether the last attempt to load the configuration succeeded.',
    ),
    chain_agent_config_last_reload_success_timestamp_seconds: gauge(
      'When the configuration was last loaded without an error.',
    ),
  },
  queryService: {
    chain_query_service_node_height: gauge(
      'Finalized block of the node as it was last told; absent until it was, and while the node is silent.',
    ),
    chain_query_service_height: gauge('Last block that is indexed; all from the first on are.'),
    chain_query_service_first_block: gauge('First block that is held.'),
    chain_query_service_indexed_block_timestamp_seconds: gauge(
      'Time that the last indexed block itself carries.',
    ),
    chain_query_service_phase: gauge(
      'What the ingest is at, as a state set; exactly one is 1, and waiting is for a node that is behind or does not answer.',
      { phase: INGEST_PHASES },
    ),
    chain_query_service_blocks_indexed_total: counter('Blocks that were indexed by this run.'),
    chain_query_service_logs_indexed_total: counter('Logs that were indexed by this run.'),
    chain_query_service_ingest_errors_total: counter('Steps of the ingest that failed.', {
      kind: INGEST_FAILURES,
    }),
    chain_query_service_requests_total: tally(
      'Answers, by status code; 499 is a client that left before its answer.',
      { path: QUERY_PATHS, code: open },
    ),
    chain_query_service_request_duration_seconds: histogram(
      'From a request to the end of its answer.',
      [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      { path: QUERY_PATHS },
    ),
    chain_query_service_response_bytes_total: tally('Bytes of answers as they were sent.', {
      path: QUERY_PATHS,
    }),
    chain_query_service_logs_returned_total: tally('Logs in answers.'),
    chain_query_service_store_bytes: gauge('Space that the store takes on disk.'),
    chain_query_service_store_limit_bytes: gauge(
      'Bound on that space; absent where it is not bounded by bytes.',
    ),
    chain_query_service_store_logs: gauge('Logs that are held.'),
    chain_query_service_store_blocks: gauge('Blocks that are held.'),
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

/** What the query service exposes; it is another process. */
export const serviceMetrics = { ...chapters.queryService, ...chapters.reload }

/** What the agent exposes. */
export const agentMetrics = {
  ...chapters.rpc,
  ...chapters.reference,
  ...chapters.services,
  ...chapters.lifecycle,
  ...chapters.ledger,
  ...chapters.storage,
  ...chapters.status,
  ...chapters.consensus,
  ...chapters.execution,
  ...chapters.logs,
  ...chapters.version,
  ...chapters.keys,
  ...chapters.host,
  ...chapters.native,
  ...chapters.tokens,
  ...chapters.derived,
  ...chapters.agent,
  ...chapters.reload,
}

export const metrics: Readonly<Record<MetricName, MetricDefinition>> = {
  ...agentMetrics,
  ...serviceMetrics,
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
