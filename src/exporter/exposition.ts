import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { MetricDefinition, Recorder, Sample } from '../core/metric.ts'

/** The metrics in the Prometheus text format, and their media type. */
export interface Exposition {
  readonly recorder: Recorder
  readonly contentType: string
  /** Renders these samples and everything recorded. Does no I/O, so it is fast and cannot fail. */
  render(samples: Iterable<Sample>): Promise<string>
  /** The same as values: one for each line of the text. */
  values(samples: Iterable<Sample>): Promise<readonly ExposedValue[]>
}

export interface ExposedValue {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * Default metrics of prom-client that are excluded: gauges named like counters, which `promtool check metrics` rejects,
 * and metrics with many series that are rarely needed: heap spaces, garbage collection, handles by kind.
 */
const EXCLUDED_METRICS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_active_handles',
  'nodejs_active_requests',
  'nodejs_active_resources',
  'nodejs_gc_duration_seconds',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
]

interface ExpositionOptions {
  /** Whether the process runs only the agent: only then are its process metrics exported. */
  readonly ownsProcess?: boolean
  /** The metrics that the process exports: those of the agent, or of a service. */
  readonly catalogue: Readonly<Record<string, MetricDefinition>>
}

/**
 * Creates the metrics of the catalogue in prom-client, which only this file imports. `complain` is called for duplicate
 * series.
 */
export const createExposition = (
  complain: (message: string) => void,
  { ownsProcess = true, catalogue }: ExpositionOptions,
): Exposition => {
  const registry = new Registry()
  if (ownsProcess) collectDefaultMetrics({ register: registry })
  for (const name of EXCLUDED_METRICS) registry.removeSingleMetric(name)

  const values = new Map<string, { readonly metric: Value; readonly labelNames: readonly string[] }>()
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  for (const [name, definition] of Object.entries(catalogue)) {
    const options = optionsOf(name, definition, registry)
    if (definition.type === 'histogram') histograms.set(name, clear(new Histogram(options), options))
    else if (definition.type === 'counter') counters.set(name, clear(new Counter(options), options))
    else if (definition.type === 'external counter')
      values.set(name, { metric: clear(new Counter(options), options), ...options })
    else values.set(name, { metric: clear(new Gauge(options), options), ...options })
  }

  const set = (samples: Iterable<Sample>): void => {
    for (const value of values.values()) clear(value.metric, value)
    const seen = new Set<string>()
    for (const { name, labels, value } of samples) {
      const key = `${name}${JSON.stringify(labels)}`
      // Two readings of one series would be summed to a value that was never read.
      if (seen.has(key)) complain(`two readings have the series ${key}; the first is exported`)
      else values.get(name)?.metric.inc(labels, value)
      seen.add(key)
    }
  }

  return {
    contentType: registry.contentType,
    recorder: {
      count: (name, by, ...[labels]) => counters.get(name)?.inc({ ...labels }, Number(by)),
      countByName: (name, by, labels) => counters.get(name)?.inc({ ...labels }, by),
      observe: (name, seconds, ...[labels]) => histograms.get(name)?.observe({ ...labels }, seconds),
    },
    // Synchronous up to the collection, so that concurrent scrapes each see a consistent state.
    render: (samples) => {
      set(samples)
      return registry.metrics()
    },
    values: async (samples) => {
      set(samples)
      return (await registry.getMetricsAsJSON()).flatMap((metric) => {
        const all: readonly { metricName?: string; labels: Partial<Record<string, string | number>>; value: number }[] =
          metric.values
        return all.map(({ metricName = metric.name, labels, value }) => ({
          name: metricName,
          labels: Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)])),
          value,
        }))
      })
    },
  }
}

type Value = Counter | Gauge

/** prom-client exports a metric without labels as 0 before it is set, and after `reset`. Unknown must be absent. */
const clear = <Metric extends Value | Histogram>(
  metric: Metric,
  { labelNames }: { readonly labelNames: readonly string[] },
): Metric => {
  metric.reset()
  if (labelNames.length === 0) metric.remove()
  return metric
}

const optionsOf = (name: string, definition: MetricDefinition, registry: Registry) => ({
  name,
  help: definition.help,
  labelNames: Object.keys(definition.labels ?? {}),
  registers: [registry],
  ...(definition.buckets && { buckets: [...definition.buckets] }),
})
