import { COLLECTORS } from '../../../src/collectors/index.ts'
import { KERNELS } from '../../../src/collectors/host/definition.ts'
import { KEY_KINDS, KEY_STATES, KEYS } from '../../../src/collectors/keys/definition.ts'
import { LINE_RESULTS } from '../../../src/domain/log-state.ts'
import { MAINTENANCE_REASONS } from '../../../src/domain/maintenance.ts'
import { type NodeState, BLOCKS_PER_SECOND } from './node-states.ts'
import type { Recorder } from './recorder.ts'
import { LOG_PATTERNS } from '../../../src/parsers/log-patterns/list.ts'
import { EXIT_RESULTS } from '../../../src/collectors/lifecycle/definition.ts'
import { FORK_CHECKS } from '../../../src/collectors/version/definition.ts'
import { SERVICE_STATES } from '../../../src/collectors/services/definition.ts'
import { BLOCK_STATES, CHUNK_LISTS, TIMELINES } from '../../../src/collectors/storage/definition.ts'
import { statesyncBlocks } from './chain.ts'
import { INGEST_FAILURES, INGEST_PHASES } from '../../../query/service/metrics.ts'

const GIB = 2 ** 30
const DAY = 24 * 3600
const JOURNALS = ['ledger-tail', 'bft', 'execution', 'logs']

/** The chapters keys, host and agent, and the metrics of every Node.js process. */
export const recordHost = (to: Recorder, moment: NodeState): void => {
  recordKeys(to)
  recordMachine(to, moment)
  recordDisks(to, moment)
  recordAgent(to, moment)
  recordProcess(to, moment)
}

const recordKeys = (to: Recorder): void => {
  for (const key of KEYS) {
    for (const kind of KEY_KINDS) {
      for (const state of KEY_STATES) to.gauge('chain_key_file_state', state === 'ok', { key, kind, state })
    }
  }
}

const recordMachine = (to: Recorder, moment: NodeState): void => {
  to.gauge('chain_host_boot_timestamp_seconds', moment.agentSince - 13 * DAY)
  for (const kernel of KERNELS) {
    const release = kernel === 'running' ? '6.8.0-87-generic' : '6.8.0-88-generic'
    to.gauge('chain_host_kernel_info', 1, { kernel, release })
    to.gauge('chain_host_kernel_blocked', 0, { kernel })
  }
  to.gauge('chain_host_hugepages', 2048, { size: '2Mi' })
  to.gauge('chain_host_hugepages', 4, { size: '1Gi' })
  to.gauge('chain_host_smt_active', 0)
  to.gauge('chain_host_governor_cpus', 16, { governor: 'performance' })
  to.total('chain_host_udp_received_total', 8000)
  for (const kind of ['receive_buffer', 'send_buffer'] as const) {
    to.total('chain_host_udp_errors_total', 0, { kind })
  }
  to.gauge('chain_host_clock_offset_seconds', 0.0003 * moment.noise(42))
  for (const port of ['8080', '8081', '8889', '9143']) to.gauge('chain_host_port_exposed', 0, { port })
}

const recordDisks = (to: Recorder, moment: NodeState): void => {
  const { at, storage } = moment
  for (const directory of ['ledger', 'wal']) {
    to.gauge('chain_host_filesystem_size_bytes', 250 * GIB, { directory })
    const free = Math.round(250 * GIB * (1 - storage * 0.8))
    to.gauge('chain_host_filesystem_available_bytes', free, { directory })
  }
  to.gauge('chain_host_file_modified_timestamp_seconds', at - (at % DAY) - 20 * DAY, { file: 'node' })
  for (const [file, every] of [
    ['forkpoint', 30],
    ['validators', 7200],
  ] as const)
    to.gauge('chain_host_file_modified_timestamp_seconds', at - (at % every), { file })
  to.gauge('chain_host_nvme_critical_warning', 0, { device: 'device-1' })
}

const recordAgent = (to: Recorder, moment: NodeState): void => {
  const { at } = moment
  to.gauge('chain_agent_build_info', 1, {
    version: '0.1.0',
    revision: 'ea67c08',
    profile: 'node',
    node_version: '20.20.2',
  })
  for (const role of ['validator', 'full-node', 'rpc'] as const)
    to.gauge('chain_node_role', role === (moment.profile.isValidator ? 'validator' : 'full-node'), { role })
  to.gauge('chain_agent_certificate_expiry_timestamp_seconds', at + 60 * 86_400, { endpoint: 'listener' })
  for (const collector of Object.keys(COLLECTORS)) {
    const fails = collector === 'native' && !moment.consensusRuns
    to.gauge('chain_agent_collector_up', !fails, { collector })
    if (!fails) {
      const period = collector === 'status' ? 300 : 1
      const last = at - (at % period)
      to.gauge('chain_agent_collector_last_success_timestamp_seconds', last, { collector })
    }
  }
  for (const result of LINE_RESULTS) {
    const lines = moment.consensusRuns && result === 'parsed' ? 12 : 0
    to.total('chain_agent_lines_total', lines, { format: 'ledger-tail', result })
  }
  for (const service of JOURNALS) to.gauge('chain_agent_journal_last_entry_timestamp_seconds', at - 1, { service })
  for (const reason of MAINTENANCE_REASONS)
    to.gauge('chain_agent_maintenance', moment.isInMaintenance && reason === 'upgrade', { reason })
  to.gauge('chain_watched_heartbeat_timestamp_seconds', at - (at % 60), { node: 'node-b' })
  for (const state of ['critical', 'unknown', 'warning', 'maintenance', 'healthy'] as const)
    to.gauge('chain_watched_health', state === 'healthy', { node: 'node-b', state })
  to.gauge('chain_watched_maintenance', 0, { node: 'node-b' })
  for (const state of ['open', 'refused', 'silent'] as const)
    to.gauge('chain_watched_port', state === 'open', { node: 'node-b', state })
  to.total('chain_agent_heartbeats_total', 1 / 60, { result: 'accepted' })
  to.total('chain_agent_heartbeats_total', 0, { result: 'failed' })
}

/** The event loop, and the metrics of prom-client that panels have. */
const recordProcess = (to: Recorder, moment: NodeState): void => {
  to.observe('chain_agent_event_loop_delay_seconds', { perSecond: 10, median: 0.002 })
  to.other('process_start_time_seconds', moment.agentSince)
  to.otherTotal('process_cpu_seconds_total', 0.04)
  to.other('process_resident_memory_bytes', 121e6 * (1 + 0.05 * moment.noise(45)))
}

const HOUR = 3600

const SERVICES = ['bft', 'execution', 'rpc', 'ledger-tail', 'otelcol']
const FOLLOWED = ['bft', 'execution', 'cruft'] as const
/** Forks of the network of the history, by hours after now. */
const FORKS = [
  { fork: 'first-light', hours: -700, needs: '0.16.0' },
  { fork: 'aurora', hours: 60, needs: '0.16.1' },
] as const

/** The chapters services, lifecycle, logs and version. */
export const recordServices = (to: Recorder, moment: NodeState, now: number): void => {
  for (const service of SERVICES) recordService(to, moment, service)
  recordCleanup(to, moment)
  to.gauge('chain_service_partial_restart', 0)
  recordLogs(to, moment)
  recordVersion(to, moment, now)
}

const runs = (moment: NodeState, name: string): boolean => {
  if (name === 'otelcol') return true
  return name === 'bft' ? moment.consensusRuns : moment.nodeRuns
}

const recordService = (to: Recorder, moment: NodeState, service: string): void => {
  const isUp = runs(moment, service)
  const failed = !isUp && moment.nodeRuns
  const state = isUp ? 'active' : failed ? 'failed' : 'inactive'
  recordState(to, service, state)
  to.gauge('chain_service_expected', service !== 'ledger-tail', { service })
  const since = service === 'bft' ? moment.consensusSince : moment.nodeSince
  const starts = service === 'bft' ? moment.starts.consensus : moment.starts.node
  const hasStarted = starts && service !== 'otelcol'
  to.total('chain_service_starts_total', hasStarted ? 1 / moment.elapsed : 0, { service })
  const hasEnded = (service === 'bft' ? moment.ends.consensus : moment.ends.node) && service !== 'otelcol'
  for (const result of EXIT_RESULTS) {
    const isSo = hasEnded && result === (failed ? 'core-dump' : 'success')
    to.total('chain_service_exits_total', isSo ? 1 / moment.elapsed : 0, { service, result })
  }
  if (!isUp) return
  to.gauge('chain_service_start_timestamp_seconds', since, { service })
  to.gauge('chain_service_max_file_descriptors', 524_288, { service })
  const files = Math.round(150 + 20 * moment.noise(21))
  to.gauge('chain_service_open_file_descriptors', files, { service })
}

const recordState = (to: Recorder, service: string, now: (typeof SERVICE_STATES)[number]): void => {
  for (const state of SERVICE_STATES) to.gauge('chain_service_state', state === now, { service, state })
  to.gauge('chain_service_active', now === 'active', { service })
}

/** Its timer starts it every hour for a few seconds. */
const recordCleanup = (to: Recorder, { at, elapsed }: NodeState): void => {
  const service = 'cruft'
  const last = at - (at % HOUR)
  recordState(to, service, 'inactive')
  to.gauge('chain_service_expected', 0, { service })
  to.gauge('chain_service_start_timestamp_seconds', last, { service })
  const hasRun = at - last < elapsed ? 1 / elapsed : 0
  to.total('chain_service_starts_total', hasRun, { service })
  for (const result of EXIT_RESULTS)
    to.total('chain_service_exits_total', result === 'success' ? hasRun : 0, { service, result })
  to.gauge('chain_timer_last_trigger_timestamp_seconds', last, { timer: service })
  to.gauge('chain_timer_next_trigger_timestamp_seconds', last + HOUR, { timer: service })
}

const recordLogs = (to: Recorder, moment: NodeState): void => {
  const { at, elapsed, consensusRuns, nodeRuns } = moment
  for (const service of FOLLOWED) {
    to.gauge('chain_agent_log_state', 1, { service, state: 'read' })
    for (const { name: pattern, services } of LOG_PATTERNS) {
      if (!services.some((speaker) => speaker === 'any' || speaker === service)) continue
      const crashed = service === 'bft' && pattern === 'assertion' && nodeRuns && !consensusRuns
      const cleaned = pattern === 'cleanup_completed' && at % HOUR < elapsed
      const slow = pattern === 'slow_commit' && moment.isSlow
      const perSecond = cleaned ? 1 / elapsed : slow ? 0.02 : crashed ? 0.0005 : 0
      to.total('chain_log_pattern_total', perSecond, { service, pattern })
    }
    if (service !== 'cruft') to.gauge('chain_log_oldest_entry_timestamp_seconds', at - 3 * DAY, { service })
  }
}

const recordVersion = (to: Recorder, moment: NodeState, now: number): void => {
  const { version } = moment
  to.gauge('chain_node_build_info', 1, {
    program: 'node',
    version,
    tag: `v${version}`,
    commit: 'ea67c08a40f590dd79b9958229314523b213484e',
    branch: '',
    modified: 'false',
  })
  to.gauge('chain_package_info', 1, { package: 'chain', version })
  to.gauge('chain_package_candidate_info', 1, { version })
  to.gauge('chain_package_upgrade_available', 0)
  to.gauge('chain_package_held', true, { package: 'node' })
  if (moment.rpcAnswers) to.gauge('chain_node_running_info', 1, { source: 'rpc', version })
  if (moment.consensusRuns) to.gauge('chain_node_running_info', 1, { source: 'native', version })
  to.gauge('chain_version_mismatch', 0)
  for (const { fork, hours, needs } of FORKS) {
    to.gauge('chain_fork_activation_timestamp_seconds', now + hours * HOUR, { fork })
    for (const check of FORK_CHECKS)
      to.gauge('chain_fork_ready', check === 'timeline' || version >= needs, { fork, check })
  }
}

const DEVICE = '/dev/nvme3n1p2'
const CAPACITY = 1_990_116_046_275
const CHUNK = 268_435_456
const CHUNKS = Math.floor(CAPACITY / CHUNK)
const THRESHOLD = 0.8

/** The chapters storage, execution and status. */
export const recordStorage = (to: Recorder, moment: NodeState): void => {
  if (moment.nodeRuns) {
    recordDatabase(to, moment)
    recordTimelines(to, moment)
  }
  recordExecution(to, moment)
  recordStatus(to, moment)
}

const chunksOf = ({ storage }: NodeState) => {
  const used = Math.round(CHUNKS * storage)
  const slow = Math.round(used * 0.13)
  return { fast: used - slow, slow, free: CHUNKS - used }
}

const recordDatabase = (to: Recorder, moment: NodeState): void => {
  const { storage, profile } = moment
  const device = DEVICE
  to.gauge('chain_storage_used_ratio', Math.round(storage * 10_000) / 10_000, { device })
  const chunks = chunksOf(moment)
  for (const list of CHUNK_LISTS) {
    to.gauge('chain_storage_chunks', chunks[list], { list })
    to.gauge('chain_execution_storage_chunks', chunks[list], { list })
  }
  to.gauge('chain_execution_storage_used_ratio', Math.round(storage * 10_000) / 10_000)
  const growth = (profile.storage[1] - profile.storage[0]) / (6 * 3600)
  if (storage < THRESHOLD) to.gauge('chain_storage_compaction_eta_seconds', (THRESHOLD - storage) / growth)
}

const recordTimelines = (to: Recorder, { own, consensusRuns }: NodeState): void => {
  for (const timeline of TIMELINES) {
    to.gauge('chain_storage_timeline_info', 1, { timeline, kind: timeline === 'primary' ? 'chain' : 'page' })
  }
  for (const [depth, state] of BLOCK_STATES.entries())
    to.gauge('chain_storage_latest_block', own - (consensusRuns ? depth : 0), { state })
}

const recordExecution = (to: Recorder, moment: NodeState): void => {
  const blocks = moment.follows ? BLOCKS_PER_SECOND : 0
  to.total('chain_execution_blocks_total', blocks)
  const slower = (moment.isSlow ? 9 : 1) * (1 + 0.2 * moment.noise(31))
  to.observe('chain_execution_block_duration_seconds', { perSecond: blocks, median: 0.0018 * slower })
  if (!moment.nodeRuns) return
  if (moment.statesync === null) {
    to.gauge('chain_execution_block_number', moment.own)
    to.gauge('chain_execution_block_started_timestamp_seconds', moment.blockTime)
    to.gauge('chain_execution_finalized_block_number', moment.own - 2)
  }
}

/** The report is read every five minutes; in between the values are constant. */
const recordStatus = (to: Recorder, moment: NodeState): void => {
  const { own, statesync, consensusRuns, nodeRuns } = moment
  if (!nodeRuns) return
  const blocks = statesyncBlocks(moment)
  to.gauge('chain_status_statesync_progress_ratio', statesync)
  to.gauge('chain_status_statesync_progress_block', blocks?.reached ?? null)
  to.gauge('chain_status_statesync_target_block', blocks?.target ?? null)
  if (consensusRuns && blocks === null) to.gauge('chain_status_block_number', own)
}

const FINAL = 2
const LOGS_PER_BLOCK = 120
const BYTES_PER_LOG = 60
const HELD_BLOCKS = 1_500_000
const LIMIT = HELD_BLOCKS * LOGS_PER_BLOCK * BYTES_PER_LOG

/** The chapter queryService: it follows the node, with a full store, and waits while the node does not answer. */
export const recordQueryService = (to: Recorder, moment: NodeState): void => {
  recordIngest(to, moment)
  recordAnswers(to, moment)
}

const recordIngest = (to: Recorder, moment: NodeState): void => {
  const { rpcAnswers, own, blockTime } = moment
  const indexed = own - FINAL
  const phase = rpcAnswers ? 'tail' : 'waiting'
  for (const one of INGEST_PHASES) to.gauge('chain_query_service_phase', one === phase, { phase: one })
  to.gauge('chain_query_service_node_height', rpcAnswers ? indexed + (moment.noise(60) > 0 ? 1 : 0) : null)
  to.gauge('chain_query_service_height', indexed)
  const time = Math.floor(blockTime - FINAL / BLOCKS_PER_SECOND)
  to.gauge('chain_query_service_indexed_block_timestamp_seconds', time)
  const failures = { unreachable: rpcAnswers ? 0 : 0.2, overload: moment.isSlow ? 0.02 : 0.0002 }
  for (const kind of INGEST_FAILURES) {
    const perSecond = kind === 'unreachable' || kind === 'overload' ? failures[kind] : 0
    to.total('chain_query_service_ingest_errors_total', perSecond, { kind })
  }
  to.gauge('chain_query_service_store_bytes', Math.round(LIMIT * (0.97 + 0.01 * moment.noise(62))))
  to.gauge('chain_query_service_store_limit_bytes', LIMIT)
}

const recordAnswers = (to: Recorder, moment: NodeState): void => {
  const busy = 1 + 0.5 * moment.noise(63)
  const answers = [
    ['/query', '200', 2 * busy],
    ['/query', '400', 0.02],
    ['/query', '429', 0.05 * busy],
    ['/query', '499', 0.005],
    ['/query', '503', moment.isSlow ? 0.03 : 0],
    ['/height', '200', 0.2],
    ['other', '404', 0.003],
  ] as const
  for (const [path, code, perSecond] of answers)
    to.total('chain_query_service_requests_total', perSecond, { path, code })
  const slower = moment.isSlow ? 6 : 1
  for (const [path, perSecond, median] of [
    ['/query', 2 * busy, 0.03 * slower],
    ['/height', 0.2, 0.0008],
    ['other', 0.003, 0.0008],
  ] as const)
    to.observe('chain_query_service_request_duration_seconds', { perSecond, median }, { path })
}
