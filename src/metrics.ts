import { COLLECTORS } from './collectors/index.ts'
import { counter, externalCounter, gauge, type MetricDefinition, metricsOf, open } from './core/metric.ts'
import { ofProcess } from './core/process-metrics.ts'
import { FINDING_SEVERITIES, HEALTH_STATES } from './domain/health.ts'
import { LINE_RESULTS } from './domain/log-state.ts'
import { queryService, serviceMetrics } from '../query/service/metrics.ts'

/** The metrics of the agent itself. */
const agent = {
  introduction: 'The agent itself. `process_*` is exported in addition.',
  metrics: {
    chain_agent_build_info: gauge('Constant 1; version of the agent and of Node, and its profile.', {
      version: open,
      revision: open,
      profile: ['node', 'watcher'],
      node_version: open,
    }),
    chain_agent_state_saved: gauge(
      'Whether the last attempt to save journal cursors, counts and other state succeeded; absent before the first.',
    ),
    chain_agent_certificate_expiry_timestamp_seconds: gauge(
      'Time at which a TLS certificate ends: of the listener of the agent, and of each server that the agent requests.',
      { endpoint: open },
    ),
    chain_agent_collector_up: gauge(
      'Whether the last attempt of the collector succeeded and its reading is fresh; absent before the first, and for a disabled collector.',
      { collector: open },
    ),
    chain_agent_collector_last_success_timestamp_seconds: gauge('Time of the last reading of the collector.', {
      collector: open,
    }),
    chain_agent_collector_duration_seconds: gauge(
      'Duration of the last poll of the collector in seconds; absent for a collector that follows a log.',
      { collector: open },
    ),
    chain_agent_collector_failures_total: externalCounter(
      'Attempts of the collector that failed; its state in the status has the reason.',
      { collector: open },
    ),
    chain_agent_internal_failures_total: externalCounter('Failures of collectors that are a fault of the agent.'),
    chain_agent_lines_total: counter('Lines of streams and reports that the agent read, by parse result.', {
      format: open,
      result: LINE_RESULTS,
    }),
    chain_agent_journal_last_entry_timestamp_seconds: gauge(
      'Time of the newest entry of the service that the agent read from the journal.',
      {
        service: open,
      },
    ),
    chain_agent_journal_restarts_total: counter(
      'Restarts of the journalctl that follows the journal of the service, because it ended or went silent.',
      { service: open },
    ),
    chain_agent_journal_gaps_total: counter(
      'Times that the saved journal cursor of the service was no longer in the journal, or ahead of it.',
      {
        service: open,
      },
    ),
  },
} as const

/** The metrics of the health of the node, by the alert rules that the agent evaluates. */
const health = {
  introduction: 'Health of the node. The agent evaluates the alert rules on its own samples every 15 s.',
  metrics: {
    chain_node_health: gauge('Health of the node: 1 for the current state, 0 for the others.', {
      state: HEALTH_STATES,
    }),
    chain_node_role: gauge('Role of the node as a state set, as configured or by its stake; absent if unknown.', {
      role: ['validator', 'full-node', 'rpc'],
    }),
    chain_node_recovery_info: gauge(
      'First step of the recovery that the node needs; absent if none is needed or known.',
      {
        action: open,
      },
    ),
    chain_node_recovery_deadline_timestamp_seconds: gauge(
      'Time until which that step is enough, because peers still serve the blocks that the node lacks; absent if unknown.',
    ),
    chain_node_findings: gauge('Alert rules that fire for the node, by severity.', { severity: FINDING_SEVERITIES }),
  },
} as const

/**
 * The catalogue: every metric, by the collector or the part of the agent that exports it. /metrics and docs/reference/metrics.md
 * are generated from it; dashboards and alerts are checked against it.
 */
export const chapters = { ...COLLECTORS, health, agent, process: ofProcess, queryService }

type MetricsOf<Chapters> = {
  [Name in keyof Chapters]: Chapters[Name] extends { readonly metrics: infer Metrics } ? Metrics : never
}[keyof Chapters]
type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
type AllMetrics = Intersection<MetricsOf<typeof chapters>>

declare module './core/metric.ts' {
  interface Catalogue extends AllMetrics {}
}

/** The metrics of the agent. */
export const agentMetrics = metricsOf([...Object.values(COLLECTORS), health, agent, ofProcess])

export const metrics: Readonly<Record<string, MetricDefinition>> = { ...agentMetrics, ...serviceMetrics }
