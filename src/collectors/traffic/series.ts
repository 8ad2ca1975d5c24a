import { withinBounds } from '../../core/bounds.ts'
import { second } from '../../core/units.ts'
import type { PrometheusSample } from '../../parsers/prometheus-text.ts'
import { sample, type Sample, sampleIfKnown } from '../../core/metric.ts'
import { withoutDots } from '../native/series.ts'
import { STATUS_CLASSES, TRAFFIC_DURATIONS, TRAFFIC_METHODS } from './definition.ts'

/** The metrics of the RPC at one time. */
export interface Traffic {
  readonly samples: readonly Sample[]
  /** The newest timestamp, in milliseconds since the epoch; null without timestamps. */
  readonly newestAt: number | null
  /** The executed requests. The agent's own increase it every few seconds. */
  readonly requests: number
}

/**
 * The series of one push have the same time, and the next push follows after 2.5 s (monad-rpc/src/middleware/metrics.rs,
 * new_with_otel_endpoint). Older ones are left over from the process before: added, they would look like new requests.
 */
const ONE_PUSH_MS = 4 * second

/**
 * Reads the metrics of monad-rpc/src/middleware/metrics.rs (Metrics), and the durations that monad-tracing-timing/src/lib.rs
 * (TimingsLayer::on_close) records for each method. Undefined if there are none. `ambiguous`: a collector without
 * timestamps serves the series of a process that has ended until they expire, next to those of the one that runs.
 */
export const readTraffic = (all: readonly PrometheusSample[]): Traffic | 'ambiguous' | undefined => {
  const own = all.map(withoutDots).flatMap((one) => {
    const [, name] = METRIC.exec(one.name) ?? []
    return name === undefined ? [] : [{ ...one, name: name.replace('_duration_seconds', '_duration') }]
  })
  const times = own.flatMap(({ timestampMs }) => (timestampMs === null ? [] : [timestampMs]))
  const newestAt = times.length === 0 ? null : times.reduce((a, b) => Math.max(a, b))
  const current = own.filter(
    ({ timestampMs }) => timestampMs === null || newestAt === null || newestAt - timestampMs <= ONE_PUSH_MS,
  )
  if (haveSeveralProcesses(current)) return 'ambiguous'
  const executions = current.filter(({ labels }) => labels['type'] === 'total' && (labels['secondary'] ?? '') === '')
  const samples = [
    ...methodSamples(executions),
    ...durationSamples(executions),
    ...statusSamples(current),
    ...sampleIfKnown('chain_traffic_active_requests', sumOf(current, 'rpc_active_requests')),
    ...sampleIfKnown('chain_traffic_websockets', sumOf(current, 'ws_active_connections')),
  ]
  if (samples.length === 0) return undefined
  return {
    samples,
    newestAt,
    requests: sumOf(executions, 'rpc_execution_duration_count') ?? 0,
  }
}

/**
 * The labels of the metrics: monad-rpc/src/middleware/metrics.rs (attributes_from_request, MetricsMiddleware), and
 * monad-tracing-timing/src/lib.rs. Series are added over them: server_address is the Host header of a client.
 */
const OWN_LABELS = new Set([
  'main',
  'secondary',
  'type',
  'le',
  'server_address',
  'server_port',
  'http_response_status_code',
])

/** Whether series of one metric differ in other labels: those of the process, as its version or the name of the node. */
const haveSeveralProcesses = (series: readonly PrometheusSample[]): boolean => {
  const processes = new Map<string, string>()
  return series.some(({ name, labels }) => {
    const others = Object.entries(labels).filter(([label, value]) => value !== '' && !OWN_LABELS.has(label))
    const process = JSON.stringify(others.map((pair) => pair.join('=')).toSorted())
    const before = processes.get(name) ?? process
    processes.set(name, process)
    return before !== process
  })
}

/** After the name prefix. Collectors differ in whether they add the unit to a name. */
const METRIC =
  /^[a-z][a-z0-9]*_(rpc_(?:request|execution)_duration(?:_seconds)?_(?:bucket|sum|count)|rpc_active_requests|ws_active_connections)$/

/** Undefined without a series, or if the value of one, or their sum, is unknown. */
const sumOf = (series: readonly PrometheusSample[], name: string): number | undefined => {
  const values = series.flatMap((one) => (one.name === name ? [withinBounds('metric', one.value)] : []))
  if (values.length === 0 || values.includes(null)) return undefined
  return (
    withinBounds(
      'metric',
      values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
    ) ?? undefined
  )
}

type Method = (typeof TRAFFIC_METHODS)[number]

const methodOf = (name = ''): Method =>
  name.startsWith('debug_trace') ? 'trace' : (TRAFFIC_METHODS.find((method) => method === name) ?? 'other')

/** A method without a request has no series in the node, and is absent until its first one. */
const methodSamples = (executions: readonly PrometheusSample[]): readonly Sample[] =>
  TRAFFIC_METHODS.flatMap((method) => {
    const series = executions.filter(({ labels }) => methodOf(labels['main']) === method)
    return [
      ...sampleIfKnown('chain_traffic_requests_total', sumOf(series, 'rpc_execution_duration_count'), { method }),
      ...sampleIfKnown('chain_traffic_execution_seconds_total', sumOf(series, 'rpc_execution_duration_sum'), {
        method,
      }),
    ]
  })

/** These wait for a block, or read many blocks. */
const LONG_METHODS = /^(?:debug_|admin_|eth_getLogs$|eth_simulateV1$|eth_sendRawTransactionSync$)/

const BOUNDS = [0.01, 0.1, 1, Infinity] as const

/** The buckets of the node are cumulative. */
const durationSamples = (executions: readonly PrometheusSample[]): readonly Sample[] => {
  const bounded = executions.filter(({ labels }) => !LONG_METHODS.test(labels['main'] ?? ''))
  const upTo = BOUNDS.map((bound) =>
    sumOf(
      bounded.filter(({ labels }) => Number((labels['le'] ?? '').replace('+Inf', 'Infinity')) === bound),
      'rpc_execution_duration_bucket',
    ),
  )
  return TRAFFIC_DURATIONS.flatMap((duration, index) => {
    const total = upTo[index]
    const below = index === 0 ? 0 : upTo[index - 1]
    if (total === undefined || below === undefined || total < below) return []
    return [sample('chain_traffic_bounded_requests_total', total - below, { duration })]
  })
}

/** All classes once there is a response: without one there are no errors. */
const statusSamples = (series: readonly PrometheusSample[]): readonly Sample[] => {
  if (sumOf(series, 'rpc_request_duration_count') === undefined) return []
  return STATUS_CLASSES.map((status) => {
    const own = series.filter(({ labels }) => labels['http_response_status_code']?.charAt(0) === status.charAt(0))
    return sample('chain_traffic_responses_total', sumOf(own, 'rpc_request_duration_count') ?? 0, { status })
  })
}
