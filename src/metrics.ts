import { COLLECTORS } from './collectors/index.ts'
import { type MetricDefinition, metricsOf } from './core/metric.ts'
import { agent, health, ofProcess } from './domain/agent-metrics.ts'
import { queryService, serviceMetrics } from '../query/service/metrics.ts'

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
