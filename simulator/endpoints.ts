import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Context } from '../src/core/clock.ts'
import { rpcListens } from './consensus/statesync.ts'
import { renderNative, renderOtel } from './native.ts'
import type { SimulatedNode } from './subject.ts'
import { createRpcAnswer, type HttpRequest, type HttpResponse } from './rpc/rpc.ts'
import { createPrecompile } from './rpc/staking.ts'
import { clientVersionOf } from './versions.ts'

export type Port = Awaited<ReturnType<typeof openPort>>

/** A port on the loopback interface that can be closed and opened again. `wanted` 0 takes a free port. */
export const openPort = async (wanted: number, listener: RequestListener) => {
  const server = createServer(listener)
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(wanted)
  const taken = portOf(server.address())
  return {
    url: `http://127.0.0.1:${taken}`,
    /** Refuses connections from now on, and closes the open ones. */
    shut: async (): Promise<void> => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
    /** Listens again on the same port. */
    open: async (): Promise<void> => {
      if (!server.listening) await listen(taken)
    },
  }
}

/** The requested port, or another free one if it is in use. */
export const freePort = async (wanted: number): Promise<number> => {
  const ignore: RequestListener = () => undefined
  const port = await openPort(wanted, ignore).catch(async () => openPort(0, ignore))
  await port.shut()
  return Number(new URL(port.url).port)
}

const portOf = (address: AddressInfo | string | null): number => {
  if (address === null || typeof address === 'string') throw new TypeError('expected a TCP address')
  return address.port
}

const CHECK_MS = 200

/** Responds to HTTP requests, with or without a port. */
export interface Endpoint {
  /** Whether it listens now. */
  isOpen(): boolean
  answer(call: HttpRequest): HttpResponse
}

export type ServedEndpoint = Awaited<ReturnType<typeof serveEndpoint>>

/** Serves the endpoint on a port of the loopback interface, by default a free one; closed while the endpoint does not listen. */
export const serveEndpoint = async (endpoint: Endpoint, wanted = 0) => {
  const port = await openPort(wanted, listenerOf(endpoint))
  return {
    ...port,
    /** Opens and closes the port with the endpoint, until the signal aborts. */
    keep: async ({ clock, signal }: Context): Promise<void> => {
      while (!signal.aborted) {
        if (endpoint.isOpen()) await port.open().catch(() => undefined)
        else await port.shut()
        await clock.sleep(CHECK_MS, signal)
      }
    },
  }
}

const listenerOf =
  (endpoint: Endpoint): RequestListener =>
  (request, response) => {
    const { method = '', url: path = '' } = request
    text(request)
      .then((body) => {
        const { status, type, text: answer } = endpoint.answer({ method, path, body })
        response.writeHead(status, { 'content-type': type }).end(answer)
      })
      .catch(() => response.destroy())
  }

export const ENDPOINT_NAMES = ['rpc', 'reference', 'native', 'otel'] as const

export type EndpointName = (typeof ENDPOINT_NAMES)[number]

/** How many blocks before the start `serve-query` begins to index. */
const SERVICE_HISTORY = 1000n

/** The first block of the query service in the configuration of the demo. */
export const firstServiceBlock = ({ chain, timeline }: SimulatedNode): bigint =>
  chain.headAt(timeline.beginMs).seqNum - SERVICE_HISTORY

/** Every HTTP endpoint of a node and its network. */
export const createEndpoints = (node: SimulatedNode): Readonly<Record<EndpointName, Endpoint>> => {
  const { chain } = node
  const network = { chain, clientVersion: () => clientVersionOf(node), staking: createPrecompile(node) }
  const networkHead = (): bigint => chain.headAt(node.condition().networkStoppedMs ?? node.now()).seqNum
  const isActive = (role: 'bft' | 'otelcol'): boolean => node.condition().services[role].state === 'active'
  return {
    rpc: {
      isOpen: () => rpcListens(node.condition(), node.now()),
      answer: createRpcAnswer({
        view: {
          ...network,
          latest: () => node.heights.rpc(node.now()),
          finalized: () => node.heights.finalized(node.now()),
          divergedFrom: () => {
            const { divergedMs } = node.condition()
            return divergedMs === undefined ? undefined : node.heights.execution(divergedMs) + 1n
          },
        },
        servesHeight: false,
      }),
    },
    /** Another RPC endpoint of the same chain, and the height of a query service. */
    reference: {
      isOpen: () => node.condition().referenceAnswers,
      answer: createRpcAnswer({
        view: { ...network, latest: networkHead },
        servesHeight: true,
      }),
    },
    /** Consensus' own metrics. */
    native: {
      isOpen: () => isActive('bft') && node.condition().native.listens,
      answer: createMetricsAnswer(() => renderNative(node)),
    },
    /** The same metrics, served by an OpenTelemetry collector. */
    otel: { isOpen: () => isActive('otelcol'), answer: createMetricsAnswer(() => renderOtel(node)) },
  }
}

/** `GET /metrics`, in the text format of Prometheus. */
const createMetricsAnswer =
  (render: () => string) =>
  ({ method, path }: HttpRequest): HttpResponse => {
    const type = 'text/plain; version=0.0.4'
    return method === 'GET' && path === '/metrics'
      ? { status: 200, type, text: render() }
      : { status: 404, type, text: '' }
  }
