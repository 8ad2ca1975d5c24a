import type { Clock } from '../../core/clock.ts'
import type { SimulatedNode } from '../node.ts'
import { keepPort, openPort, type Port } from '../port.ts'
import { renderNative, renderOtel } from './native-text.ts'

/** Where metrics of consensus are served; 0 takes a free port. */
export interface NativePorts {
  readonly nativePort?: number
  readonly otelPort?: number
}

export interface NativePlaces {
  /** Consensus' own metrics. */
  readonly nativeUrl: string
  /** The same by way of an OpenTelemetry collector. */
  readonly otelUrl: string
}

/** Both endpoints: each is open while what listens there runs. */
export const createNativeServers = async (
  node: SimulatedNode,
  { nativePort = 0, otelPort = 0 }: NativePorts,
) => {
  const native = await serve(nativePort, () => renderNative(node))
  const otel = await serve(otelPort, () => renderOtel(node))
  const isActive = (role: 'bft' | 'otelcol'): boolean =>
    node.condition().services[role].state === 'active'
  const places: NativePlaces = { nativeUrl: native.url, otelUrl: otel.url }
  return {
    places,
    keep: async (by: { readonly clock: Clock; readonly signal: AbortSignal }) => {
      await Promise.all([
        keepPort(native, () => isActive('bft') && node.condition().native.listens, by),
        keepPort(otel, () => isActive('otelcol'), by),
      ])
    },
    shut: async () => {
      await Promise.all([native.shut(), otel.shut()])
    },
  } as const
}

/** `GET /metrics`, in the text format of Prometheus. */
const serve = async (port: number, render: () => string): Promise<Port> =>
  await openPort(port, ({ method, url }, response) => {
    if (method === 'GET' && url === '/metrics') {
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(render())
    } else response.writeHead(404).end()
  })
