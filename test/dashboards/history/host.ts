import { COLLECTORS } from '../../../src/collectors/index.ts'
import { DROP_KINDS, KERNELS } from '../../../src/collectors/host/definition.ts'
import { KEY_KINDS, KEY_STATES, KEYS } from '../../../src/collectors/keys/definition.ts'
import { LINE_RESULTS } from '../../../src/domain/log-state.ts'
import { MAINTENANCE_REASONS } from '../../../src/domain/maintenance.ts'
import type { NodeState } from './node-states.ts'
import type { Recorder } from './recorder.ts'

const GIB = 2 ** 30
const DAY = 24 * 3600
const FORMATS = 'ledger-tail consensus-log execution-log'.split(' ')
const JOURNALS = ['ledger-tail', 'bft', 'execution', 'logs', 'init']

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
  to.total('chain_host_cpu_throttles_total', moment.isSlow ? 0.03 : 0)
  for (const resource of ['io', 'memory'] as const)
    to.total('chain_host_pressure_stalled_seconds_total', 0.01, { resource })
  to.total('chain_host_udp_received_total', 8000)
  for (const kind of ['receive_buffer', 'send_buffer'] as const) {
    to.total('chain_host_udp_errors_total', 0, { kind })
  }
  to.total('chain_host_network_received_total', 8500, { device: 'enp1s0' })
  for (const kind of DROP_KINDS) to.total('chain_host_network_drops_total', 0, { device: 'enp1s0', kind })
  to.total('chain_host_oom_kills_total', 0)
  const available = 0.6 + 0.03 * moment.noise(41)
  to.gauge('chain_host_memory_available_ratio', available)
  to.gauge('chain_host_clock_synchronized', 1)
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
  to.gauge('chain_host_file_modified_timestamp_seconds', at - (at % DAY) - 20 * DAY, {
    file: 'node',
  })
  for (const [file, every] of [
    ['forkpoint', 30],
    ['validators', 7200],
  ] as const)
    to.gauge('chain_host_file_modified_timestamp_seconds', at - (at % every), { file })
  const device = 'nvme0'
  to.gauge('chain_host_nvme_info', 1, { device, model: 'NVME 3840G', firmware: 'A1B2Q3' })
  const temperature = (moment.isSlow ? 66 : 47) + Math.round(4 * moment.noise(43))
  to.gauge('chain_host_nvme_temperature_celsius', temperature, { device })
  to.gauge('chain_host_nvme_critical_warning', 0, { device })
  to.total('chain_host_nvme_media_errors_total', 0, { device })
  to.gauge('chain_host_nvme_used_ratio', 0.07, { device })
  to.gauge('chain_host_nvme_endurance_eta_seconds', 2425 * DAY, { device })
  to.total('chain_host_nvme_written_bytes_total', 20_480_000, { device })
}

const recordAgent = (to: Recorder, moment: NodeState): void => {
  const { at } = moment
  const isStalled = !moment.follows && moment.statesync === null
  const health = moment.isInMaintenance ? 'maintenance' : isStalled ? 'critical' : 'healthy'
  to.gauge('chain_agent_build_info', 1, {
    version: '0.1.0',
    revision: 'ea67c08',
    profile: 'node',
    node_version: '20.20.2',
  })
  for (const state of ['critical', 'unknown', 'warning', 'maintenance', 'healthy'] as const)
    to.gauge('chain_node_health', state === health, { state })
  for (const role of ['validator', 'full-node', 'rpc'] as const)
    to.gauge('chain_node_role', role === (moment.profile.isValidator ? 'validator' : 'full-node'), { role })
  for (const severity of ['critical', 'warning', 'info'] as const)
    to.gauge('chain_node_findings', severity === health ? 2 : 0, { severity })
  to.gauge('chain_agent_state_saved', 1)
  to.gauge('chain_agent_certificate_expiry_timestamp_seconds', at + 60 * 86_400, { endpoint: 'listener' })
  to.gauge('chain_agent_config_last_reload_successful', 1)
  for (const collector of Object.keys(COLLECTORS)) {
    const fails = collector === 'native' && !moment.consensusRuns
    to.gauge('chain_agent_collector_up', !fails, { collector })
    if (!fails) {
      const period = collector === 'status' ? 300 : 1
      const last = at - (at % period)
      to.gauge('chain_agent_collector_last_success_timestamp_seconds', last, { collector })
    }
    const usual = collector === 'status' ? 0.9 : 0.03
    to.gauge('chain_agent_collector_duration_seconds', usual * (1 + 0.3 * moment.noise(44)), { collector })
    to.total('chain_agent_collector_failures_total', fails ? 0.1 : 0, { collector })
  }
  to.total('chain_agent_internal_failures_total', 0)
  for (const format of FORMATS) {
    for (const result of LINE_RESULTS) {
      const lines = moment.consensusRuns && result === 'parsed' ? 12 : 0
      to.total('chain_agent_lines_total', lines, { format, result })
    }
  }
  for (const service of JOURNALS) {
    if (service !== 'init') to.gauge('chain_agent_journal_last_entry_timestamp_seconds', at - 1, { service })
    to.total('chain_agent_journal_restarts_total', 0, { service })
    to.total('chain_agent_journal_gaps_total', 0, { service })
  }
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

/** The event loop, and the default metrics of prom-client. */
const recordProcess = (to: Recorder, moment: NodeState): void => {
  to.observe('chain_agent_event_loop_delay_seconds', { perSecond: 10, median: 0.002 })
  to.other('process_start_time_seconds', moment.agentSince)
  to.otherTotal('process_cpu_user_seconds_total', 0.03)
  to.otherTotal('process_cpu_system_seconds_total', 0.01)
  to.otherTotal('process_cpu_seconds_total', 0.04)
  const gauges: Readonly<Record<string, number>> = {
    process_resident_memory_bytes: 121e6,
    process_virtual_memory_bytes: 12.1e9,
    process_heap_bytes: 181e6,
    process_open_fds: 42,
    process_max_fds: 20_000,
  }
  for (const [name, usual] of Object.entries(gauges)) {
    const isFixed = name === 'process_max_fds'
    to.other(name, isFixed ? usual : usual * (1 + 0.05 * moment.noise(45)))
  }
}
