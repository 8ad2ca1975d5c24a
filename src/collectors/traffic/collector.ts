import type { Clock, Context } from '../../core/clock.ts'
import { type Collector, poll, type Timing } from '../../core/collector.ts'
import { sample } from '../../core/metric.ts'
import { minute } from '../../core/units.ts'
import { parsePrometheusText, withoutFutureTimes } from '../../parsers/prometheus-text.ts'
import type { MetricsEndpoint } from '../../sources/endpoints.ts'
import { failureState, request, requestTimeout } from '../shared/request.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition, OTEL_URL } from './definition.ts'
import { readTraffic, type Traffic } from './series.ts'

interface TrafficReading {
  /** Null if there are no current metrics of the RPC; undefined while that is not known. */
  readonly traffic: Traffic | null | undefined
  readonly state: string
}

export interface TrafficEndpoint {
  readonly endpoint: MetricsEndpoint
  /** Whether the RPC itself responds: its values are never those of a process that has ended. */
  readonly isOwn: boolean
}

interface TrafficCollectorOptions {
  /** Read in this order until one has metrics of the RPC. */
  readonly endpoints: readonly [TrafficEndpoint, ...TrafficEndpoint[]]
  readonly clock: Clock
  readonly timing: Timing
}

/** The RPC pushes every 2.5 s, and the agent alone sends two requests a second. In milliseconds. */
const STALE_AFTER = minute / 2

const AMBIGUOUS =
  'answering, with the metrics of several processes; set `send_timestamps: true` in the Prometheus exporter of otelcol'

/**
 * Requests of the users of the RPC. A branch of the node serves its metrics at the port of the RPC
 * (monad-rpc/src/middleware/metrics.rs, prometheus_metrics), without timestamps and in the names of the collector.
 */
export const traffic = ({ endpoints, clock, timing }: TrafficCollectorOptions): Collector<TrafficReading> => {
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
    const [first, ...others] = endpoints
    let reading = await readFrom(first, signal)
    for (const one of others) if (reading.traffic === null) reading = await readFrom(one, signal)
    return reading
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: poll(timing, read),
    samples: (reading) =>
      reading.traffic === undefined
        ? []
        : [sample('chain_traffic_up', reading.traffic !== null), ...(reading.traffic?.samples ?? [])],
    states: ({ state }) => ({ 'metrics of the RPC': state }),
  }
}

export const offer: OfferCollector<typeof definition> = {
  create: ({ url, rpcUrl, isRpcOfNode, nativeAt, clock, timing }) => {
    const at = (address: string, isOwn: boolean): TrafficEndpoint => ({
      endpoint: nativeAt(address, requestTimeout(timing, 2)),
      isOwn,
    })
    const collector = at(url ?? OTEL_URL, false)
    const isOwnRead = url === null && isRpcOfNode
    return traffic({
      endpoints: isOwnRead ? [at(new URL('/metrics', rpcUrl).href, true), collector] : [collector],
      clock,
      timing,
    })
  },
}
