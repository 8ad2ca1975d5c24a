import { COLLECTORS } from './collectors/index.ts'
import { agent, health, reload } from './core/agent-metrics.ts'
import type { MetricDefinition } from './core/metric.ts'
import { queryService } from '../query/service/metrics.ts'

/**
 * The catalogue: every metric, by the collector or the part of the agent that exports it. /metrics and docs/reference/metrics.md
 * are generated from it; dashboards and alerts are checked against it.
 */
export const chapters = { ...COLLECTORS, health, agent, reload, queryService }

const metricsOf = (
  list: readonly { readonly metrics: Readonly<Record<string, MetricDefinition>> }[],
): Readonly<Record<string, MetricDefinition>> =>
  Object.fromEntries(list.flatMap(({ metrics }) => Object.entries(metrics)))

/** The metrics of the query service, which is a separate process. */
export const serviceMetrics = metricsOf([queryService, reload])

/** The metrics of the agent. */
export const agentMetrics = metricsOf([...Object.values(COLLECTORS), health, agent, reload])

export const metrics: Readonly<Record<string, MetricDefinition>> = {
  ...agentMetrics,
  ...serviceMetrics,
}
