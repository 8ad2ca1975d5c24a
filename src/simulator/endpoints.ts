import type { Answer, Call, Endpoint } from './endpoint.ts'
import { renderNative, renderOtel } from './native/native-text.ts'
import type { SimulatedNode } from './node.ts'
import { createRpcAnswer } from './rpc/rpc.ts'
import { rpcListens } from './scenario/statesync.ts'
import { clientVersionOf } from './tools/versions.ts'

export type EndpointName = 'rpc' | 'reference' | 'native' | 'otel'

/** How far the simulated query service reaches back, in blocks. */
const SERVICE_HISTORY = 1000n

/** The first block that the simulated query service has logs of. */
export const firstServiceBlock = ({ chain, timeline }: SimulatedNode): bigint =>
  chain.headAt(timeline.beginMs).seqNum - SERVICE_HISTORY

/** All of a node and its network that can be asked over HTTP. */
export const createEndpoints = (node: SimulatedNode): Readonly<Record<EndpointName, Endpoint>> => {
  const { chain } = node
  const clientVersion = (): string => clientVersionOf(node)
  const isActive = (role: 'bft' | 'otelcol'): boolean =>
    node.condition().services[role].state === 'active'
  return {
    rpc: {
      isOpen: () => rpcListens(node.condition(), node.now()),
      answer: createRpcAnswer({
        view: { chain, clientVersion, latest: () => node.heights.rpc(node.now()) },
        tellsHeight: false,
      }),
    },
    /** Another endpoint of the same chain, and a query service. */
    reference: {
      isOpen: () => node.condition().referenceAnswers,
      answer: createRpcAnswer({
        view: { chain, clientVersion, latest: () => chain.headAt(node.now()).seqNum },
        tellsHeight: true,
        tokenSince: firstServiceBlock(node),
      }),
    },
    /** Consensus' own metrics. */
    native: {
      isOpen: () => isActive('bft') && node.condition().native.listens,
      answer: createMetricsAnswer(() => renderNative(node)),
    },
    /** The same by way of an OpenTelemetry collector. */
    otel: {
      isOpen: () => isActive('otelcol'),
      answer: createMetricsAnswer(() => renderOtel(node)),
    },
  }
}

/** `GET /metrics`, in the text format of Prometheus. */
const createMetricsAnswer =
  (render: () => string) =>
  ({ method, path }: Call): Answer => {
    const type = 'text/plain; version=0.0.4'
    return method === 'GET' && path === '/metrics'
      ? { status: 200, type, text: render() }
      : { status: 404, type, text: '' }
  }
