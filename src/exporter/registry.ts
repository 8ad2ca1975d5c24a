import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Recorder } from '../core/recorder.ts'
import { agentMetrics, type MetricDefinition, type Sample } from '../metrics.ts'

/** The exposition as Prometheus reads it, and the media type to send it with. */
export interface Exposition {
  readonly recorder: Recorder
  readonly contentType: string
  /** Renders these samples and all that was recorded. Does no I/O: it cannot be slow, and cannot fail. */
  render(samples: Iterable<Sample>): Promise<string>
}

/**
 * Default metrics of the library that are left out: gauges named like counters, which `promtool check
 * metrics` rejects, and what has many series and nobody asks for at night: spaces of the heap,
 * collections of garbage, handles by kind.
 */
const LEFT_OUT = [
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
  /** Whether the process is the agent's alone: only then is its memory told as the agent's. */
  readonly ownsProcess?: boolean
  /** What the process exposes: the metrics of the agent, or of a service. */
  readonly catalogue?: Readonly<Record<string, MetricDefinition>>
}

/** Puts the catalogue into prom-client. The only importer of it. `complain` hears of duplicate series. */
export const createExposition = (
  complain: (message: string) => void,
  { ownsProcess = true, catalogue = agentMetrics }: ExpositionOptions = {},
): Exposition => {
  const registry = new Registry()
  if (ownsProcess) collectDefaultMetrics({ register: registry })
  for (const name of LEFT_OUT) registry.removeSingleMetric(name)

  const values = new Map<
    string,
    { readonly metric: Value; readonly labelNames: readonly string[] }
  >()
  const tallies = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  for (const [name, definition] of Object.entries(catalogue)) {
    const options = optionsOf(name, definition, registry)
    if (definition.type === 'histogram')
      histograms.set(name, forget(new Histogram(options), options))
    else if (definition.type === 'tally') tallies.set(name, forget(new Counter(options), options))
    else if (definition.type === 'counter')
      values.set(name, { metric: forget(new Counter(options), options), ...options })
    else values.set(name, { metric: forget(new Gauge(options), options), ...options })
  }

  return {
    contentType: registry.contentType,
    recorder: {
      count: (name, by, ...[labels]) => tallies.get(name)?.inc({ ...labels }, Number(by)),
      observe: (name, seconds, ...[labels]) =>
        histograms.get(name)?.observe({ ...labels }, seconds),
    },
    render: (samples) => {
      // All of this happens in one turn, so that two scrapes at once both see a whole picture.
      for (const value of values.values()) forget(value.metric, value)
      const seen = new Set<string>()
      for (const { name, labels, value } of samples) {
        const key = `${name}${JSON.stringify(labels)}`
        // Two readings of one series would add up to a number that nobody read.
        if (seen.has(key)) complain(`two readings claim the series ${key}; the first is shown`)
        else values.get(name)?.metric.inc(labels, value)
        seen.add(key)
      }
      return registry.metrics()
    },
  }
}

type Value = Counter | Gauge

/** prom-client shows a metric without labels as 0 before it is known, and after `reset`. Unknown is absent. */
const forget = <Metric extends Value | Histogram>(
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
