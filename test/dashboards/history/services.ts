import { LOG_PATTERNS } from '../../../src/parsers/log-patterns/list.ts'
import { EXIT_RESULTS } from '../../../src/collectors/lifecycle/definition.ts'
import { FORK_CHECKS } from '../../../src/collectors/version/definition.ts'
import { SERVICE_STATES } from '../../../src/collectors/services/definition.ts'
import type { NodeState } from './node-states.ts'
import type { Recorder } from './recorder.ts'

const GIB = 2 ** 30
const HOUR = 3600
const DAY = 24 * HOUR

interface Service {
  readonly name: string
  readonly memory: number
  readonly cores: number
  readonly tasks: number
}

const SERVICES: readonly Service[] = [
  { name: 'bft', memory: 5.5 * GIB, cores: 0.8, tasks: 47 },
  { name: 'execution', memory: 22 * GIB, cores: 1.9, tasks: 68 },
  { name: 'rpc', memory: 2.2 * GIB, cores: 0.35, tasks: 39 },
  { name: 'ledger-tail', memory: 0.1 * GIB, cores: 0.01, tasks: 9 },
  { name: 'otelcol', memory: 0.17 * GIB, cores: 0.12, tasks: 14 },
]
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

const recordService = (to: Recorder, moment: NodeState, { name, ...usual }: Service): void => {
  const service = name
  const isUp = runs(moment, name)
  const failed = !isUp && moment.nodeRuns
  const state = isUp ? 'active' : failed ? 'failed' : 'inactive'
  recordState(to, service, state)
  to.gauge('chain_service_expected', name !== 'ledger-tail', { service })
  to.total('chain_service_restarts_total', 0, { service })
  const since = name === 'bft' ? moment.consensusSince : moment.nodeSince
  const starts = name === 'bft' ? moment.starts.consensus : moment.starts.node
  const hasStarted = starts && name !== 'otelcol'
  to.total('chain_service_starts_total', hasStarted ? 1 / moment.elapsed : 0, { service })
  const hasEnded = (name === 'bft' ? moment.ends.consensus : moment.ends.node) && name !== 'otelcol'
  for (const result of EXIT_RESULTS) {
    const isSo = hasEnded && result === (failed ? 'core-dump' : 'success')
    to.total('chain_service_exits_total', isSo ? 1 / moment.elapsed : 0, { service, result })
  }
  to.total('chain_service_cpu_seconds_total', isUp ? usual.cores : 0, { service })
  if (failed) to.gauge('chain_service_last_exit_status', 134, { service })
  if (!isUp) return
  to.gauge('chain_service_start_timestamp_seconds', since, { service })
  const memory = usual.memory * (1 + 0.03 * moment.noise(20))
  to.gauge('chain_service_memory_bytes', Math.round(memory), { service })
  to.gauge('chain_service_tasks', usual.tasks, { service })
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
  to.gauge('chain_service_last_exit_status', 0, { service })
  to.gauge('chain_service_start_timestamp_seconds', last, { service })
  to.total('chain_service_restarts_total', 0, { service })
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
    for (const level of ['warning', 'error'] as const) {
      const lines = { warning: moment.isSlow ? 0.2 : 0.01, error: consensusRuns ? 0 : 0.05 }
      to.total('chain_log_lines_total', service === 'cruft' ? 0 : lines[level], { service, level })
    }
    to.total('chain_log_suppressed_messages_total', 0, { service })
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
  for (const of of ['node', 'kernel'] as const) to.gauge('chain_package_held', of === 'node', { package: of })
  if (moment.rpcAnswers) to.gauge('chain_node_running_info', 1, { source: 'rpc', version })
  if (moment.consensusRuns) to.gauge('chain_node_running_info', 1, { source: 'native', version })
  to.gauge('chain_version_mismatch', 0)
  for (const { fork, hours, needs } of FORKS) {
    to.gauge('chain_fork_activation_timestamp_seconds', now + hours * HOUR, { fork })
    for (const check of FORK_CHECKS)
      to.gauge('chain_fork_ready', check === 'timeline' || version >= needs, { fork, check })
  }
}
