import Counter from 'prom-client/lib/counter.js'
import Histogram from 'prom-client/lib/histogram.js'
import osMemoryHeap from 'prom-client/lib/metrics/osMemoryHeap.js'
import processCpuTotal from 'prom-client/lib/metrics/processCpuTotal.js'
import processMaxFileDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import processOpenFileDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import processStartTime from 'prom-client/lib/metrics/processStartTime.js'
import Registry from 'prom-client/lib/registry.js'
import { type MetricDefinition, open, type Recorder, type Sample } from '../core/metric.ts'

export type Exposition = ReturnType<typeof createExposition>

export interface ExposedValue {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * The default metrics of prom-client that are exported. The others are gauges named like counters, which `promtool check
 * metrics` rejects; series that are rarely needed: the heap in detail, garbage collection, handles by kind; and the delay of the
 * event loop, which prom-client resets at each collection, so that a scrape misses what an evaluation of the rules took.
 */
const OF_PROCESS = [
  processCpuTotal,
  processStartTime,
  osMemoryHeap,
  processOpenFileDescriptors,
  processMaxFileDescriptors,
]

interface ExpositionOptions {
  /** Whether the process runs only the agent: only then are its process metrics exported. */
  readonly ownsProcess?: boolean
  /** The metrics that the process exports: those of the agent, or of a service. */
  readonly catalogue: Readonly<Record<string, MetricDefinition>>
}

/**
 * Renders samples, and counters and histograms of prom-client, which only this file imports. Samples come as complete
 * lists, for which prom-client has no use: it would only be set and cleared. `complain` is called for duplicate series.
 */
export const createExposition = (
  complain: (message: string) => void,
  { ownsProcess = true, catalogue }: ExpositionOptions,
) => {
  const registry = new Registry()
  if (ownsProcess) for (const register of OF_PROCESS) register(registry)

  const heads = new Map<string, string>()
  const recordedHeads = new Map<string, string>()
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  for (const [name, definition] of Object.entries(catalogue)) {
    const options = optionsOf(name, definition, registry)
    if (definition.type === 'histogram') histograms.set(name, clear(new Histogram(options), options))
    else if (definition.type === 'counter') counters.set(name, clear(new Counter(options), options))
    else heads.set(name, headOf(name, definition.help, definition.type))
  }

  /**
   * Every series, such as `up{job="a"}`, with its metric. Two readings of one series have no sum that was ever read.
   * Synchronous up to the collection, so that concurrent scrapes each see a consistent state.
   */
  const collect = async (samples: Iterable<Sample>): Promise<ReadonlyMap<string, CollectedSeries>> => {
    const all = new Map<string, CollectedSeries>()
    for (const one of samples) {
      const series = seriesOf(one)
      if (all.has(series)) complain(`two readings have the series ${series}; the first is exported`)
      else if (heads.has(one.name)) all.set(series, one)
    }
    // Not by its `metrics`, which takes as long as all samples.
    for (const metric of await registry.getMetricsAsJSON()) {
      recordedHeads.set(metric.name, headOf(metric.name, metric.help, String(metric.type)))
      for (const { metricName: name = metric.name, labels, value } of valuesOf(metric))
        all.set(seriesOf({ name, labels }), { metric: metric.name, name, labels, value })
    }
    return all
  }

  /** By series. */
  let exposed: ReadonlyMap<string, ExposedValue> = new Map()

  const recorder: Recorder = {
    count: (name, by, ...labels) => counters.get(name)?.inc({ ...labels[0] }, Number(by)),
    countByName: (name, by, labels) => {
      if (isLabelled(catalogue[name], labels)) counters.get(name)?.inc({ ...labels }, by)
    },
    observe: (name, seconds, ...labels) => histograms.get(name)?.observe({ ...labels[0] }, seconds),
  }

  return {
    contentType: registry.contentType,
    recorder,
    /** Renders these samples and everything recorded as text. Does no I/O, so it is fast and cannot fail. */
    render: async (samples: Iterable<Sample>): Promise<string> => {
      const all = await collect(samples)
      const texts = new Map([...heads, ...recordedHeads])
      all.forEach(({ name, metric = name, value }, series) =>
        texts.set(metric, `${texts.get(metric) ?? ''}${series} ${value}\n`),
      )
      return [...texts.values()].join('\n')
    },
    /** The same as values: one for each line of the text. The labels of a series are the same object as the last time. */
    values: async (samples: Iterable<Sample>): Promise<readonly ExposedValue[]> => {
      const values = new Map<string, ExposedValue>()
      for (const [series, { name, labels, value }] of await collect(samples))
        values.set(series, { name, labels: exposed.get(series)?.labels ?? textsOf(labels), value })
      exposed = values
      return [...values.values()]
    },
  }
}

/** Whether the labels are those of the metric: another version of the agent may have saved others. */
const isLabelled = (definition: MetricDefinition | undefined, labels: Readonly<Record<string, string>>): boolean => {
  const expected = Object.entries(definition?.labels ?? {})
  return (
    expected.length === Object.keys(labels).length &&
    expected.every(([label, values]) => {
      const value = labels[label]
      return value !== undefined && (values === open || values.includes(value))
    })
  )
}

type CollectedMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number]

interface CollectedValue {
  /** That of a histogram has a suffix. */
  readonly metricName?: string
  readonly labels: Readonly<Partial<Record<string, string | number>>>
  readonly value: number
}

interface CollectedSeries extends Omit<CollectedValue, 'metricName'> {
  /** The metric of which it is a series, if that is not its name: those of a histogram have a suffix. */
  readonly metric?: string
  readonly name: string
}

const valuesOf = ({ values }: CollectedMetric): readonly CollectedValue[] => values

const textsOf = (labels: CollectedValue['labels']): ExposedValue['labels'] =>
  Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, String(text)]))

const headOf = (name: string, help: string, type: string): string =>
  `# HELP ${name} ${help}\n# TYPE ${name} ${type === 'external counter' ? 'counter' : type}\n`

const seriesOf = ({ name, labels }: Omit<CollectedValue, 'value'> & { readonly name: string }): string => {
  let text = ''
  for (const label in labels) text += `${text === '' ? '{' : ','}${label}="${escapeLabel(String(labels[label] ?? ''))}"`
  return text === '' ? name : `${name}${text}}`
}

/** Most values need no escape. */
const escapeLabel = (value: string): string =>
  /[\\"\n]/.test(value) ? value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n') : value

/** prom-client exports a metric without labels as 0 before it is set. Unknown must be absent. */
const clear = <Metric extends Counter | Histogram>(
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
