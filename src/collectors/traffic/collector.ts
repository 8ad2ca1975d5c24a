import type { Context } from '../../core/clock.ts'
import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import { withinBounds } from '../../core/bounds.ts'
import { sample, type Sample, sampleIfKnown } from '../../core/metric.ts'
import { minute, second } from '../../core/units.ts'
import { parsePrometheusText, type PrometheusSample, withoutFutureTimes } from '../../parsers/prometheus-text.ts'
import type { MetricsEndpoint } from '../../sources/endpoints.ts'
import { failureState, request, requestTimeout } from '../shared/request.ts'
import type { Settings, Uses } from '../dependencies.ts'
import { definition, OTEL_URL, STATUS_CLASSES, TRAFFIC_DURATIONS, TRAFFIC_METHODS } from './definition.ts'
import { freshSamples, withoutDots } from '../native/series.ts'

interface TrafficReading {
  /** Null if there are no current metrics of the RPC; undefined while that is not known. */
  readonly traffic: Traffic | null | undefined
  readonly state: string
}

interface TrafficEndpoint {
  readonly endpoint: MetricsEndpoint
  /** Whether the RPC itself responds: its values are never those of a process that has ended. */
  readonly isOwn: boolean
}

type TrafficUses = Uses<'rpcUrl' | 'isRpcOfNode' | 'nativeAt' | 'clock', Settings<typeof definition, 'url'>>

/** The RPC pushes every 2.5 s, and the agent alone sends two requests a second. In milliseconds. */
const STALE_AFTER = minute / 2

const AMBIGUOUS =
  'answering, with the metrics of several processes; set `send_timestamps: true` in the Prometheus exporter of otelcol'

/**
 * Requests of the users of the RPC. A branch of the node serves its metrics at the port of the RPC
 * (monad-rpc/src/middleware/metrics.rs, prometheus_metrics), without timestamps and in the names of the collector.
 */
export const traffic = (uses: TrafficUses): Collector<TrafficReading> => {
  const { url, rpcUrl, isRpcOfNode, nativeAt, clock, timing } = uses
  const at = (address: string, isOwn: boolean): TrafficEndpoint => ({
    endpoint: nativeAt(address, requestTimeout(timing, 2)),
    isOwn,
  })
  const otel = at(url ?? OTEL_URL, false)
  const own = url === null && isRpcOfNode ? at(new URL('/metrics', rpcUrl).href, true) : null
  /** `changedAt` is null until the number has changed: the first ones may be those of an RPC that has stopped. */
  let last: { readonly requests: number; readonly changedAt: number | null } | undefined

  /** Without timestamps, the number of requests must change; null until it is known. */
  const isCurrent = ({ newestAt, requests }: Traffic): boolean | null => {
    if (last?.requests !== requests) last = { requests, changedAt: last === undefined ? null : clock.elapsed() }
    if (newestAt !== null) return clock.now() - newestAt <= STALE_AFTER
    return last.changedAt === null ? null : clock.elapsed() - last.changedAt <= STALE_AFTER
  }

  const readFrom = async ({ endpoint, isOwn }: TrafficEndpoint, signal: AbortSignal): Promise<TrafficReading> => {
    const reply = await request(endpoint.metrics(signal), parsePrometheusText)
    if (!reply.ok) return { traffic: null, state: failureState(reply) }
    const found = readTraffic(withoutFutureTimes(reply.value.samples, clock.now()))
    if (!found) return { traffic: null, state: 'answering, with no metrics of the RPC' }
    if (found === 'ambiguous') return { traffic: undefined, state: AMBIGUOUS }
    const isNew = isOwn || isCurrent(found)
    if (isNew === null) return { traffic: undefined, state: 'answering; the metrics of the RPC have not changed yet' }
    return isNew
      ? { traffic: found, state: 'answering' }
      : { traffic: null, state: 'answering, with old metrics of the RPC' }
  }

  const read = async ({ signal }: Context): Promise<TrafficReading> => {
    const reading = own && (await readFrom(own, signal))
    return !reading || reading.traffic === null ? readFrom(otel, signal) : reading
  }

  return {
    ...metadataOf(definition, timing),
    run: poll(timing, read),
    samples: (reading) =>
      reading.traffic === undefined
        ? []
        : [sample('chain_traffic_up', reading.traffic !== null), ...(reading.traffic?.samples ?? [])],
    states: ({ state }) => ({ 'metrics of the RPC': state }),
  }
}

/** The metrics of the RPC at one time. */
type Traffic = Exclude<ReturnType<typeof readTraffic>, string | undefined>

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
const readTraffic = (all: readonly PrometheusSample[]) => {
  const own = all.map(withoutDots).flatMap((one) => {
    const [, name] = METRIC.exec(one.name) ?? []
    return name === undefined ? [] : [{ ...one, name: name.replace('_duration_seconds', '_duration') }]
  })
  const { fresh: current, newestAt } = freshSamples(own, ONE_PUSH_MS)
  if (haveSeveralProcesses(current)) return 'ambiguous' as const
  const executions = current.filter(({ labels }) => labels['type'] === 'total' && (labels['secondary'] ?? '') === '')
  const samples: readonly Sample[] = [
    ...methodSamples(executions),
    ...durationSamples(executions),
    ...statusSamples(current),
    ...sampleIfKnown('chain_traffic_active_requests', sumOf(current, 'rpc_active_requests')),
    ...sampleIfKnown('chain_traffic_websockets', sumOf(current, 'ws_active_connections')),
  ]
  if (samples.length === 0) return undefined
  return {
    samples,
    /** The newest timestamp, in milliseconds since the epoch; null without timestamps. */
    newestAt,
    /** The executed requests. The agent's own increase it every few seconds. */
    requests: sumOf(executions, 'rpc_execution_duration_count') ?? 0,
  }
}

/**
 * The labels of the metrics: monad-rpc/src/middleware/metrics.rs (attributes_from_request, MetricsMiddleware), and
 * monad-tracing-timing/src/lib.rs. Series are added over them: server_address is the Host header of a client.
 */
const OWN_LABELS = ['main', 'secondary', 'type', 'le', 'server_address', 'server_port', 'http_response_status_code']

/** Whether series of one metric differ in other labels: those of the process, as its version or the name of the node. */
const haveSeveralProcesses = (series: readonly PrometheusSample[]): boolean => {
  const processes = new Map<string, string>()
  return series.some(({ name, labels }) => {
    const others = Object.entries(labels).filter(([label, value]) => value !== '' && !OWN_LABELS.includes(label))
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
  const sum = values.reduce<number>((total, value) => total + (value ?? 0), 0)
  return withinBounds('metric', sum) ?? undefined
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
