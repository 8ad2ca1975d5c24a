import {
  createServer,
  type IncomingMessage,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { type Address, type Listening, listenOn, MAX_HEADER_BYTES } from './listening.ts'
import { type CommonView, createPages } from './pages.ts'

/** What a service tells of itself, on an address apart from what it serves. */
export const serveOperations = (view: CommonView, address: Address): Promise<Listening> => {
  const pages = createPages(view, {
    healthy: 'The service is alive.',
    ready: 'The service is ready.',
    unknown: 'No such page; there are /metrics, /-/healthy and /-/ready.',
  })
  return listenOn(
    pages.server(),
    address,
    'set another address with --metrics-listen HOST:PORT or `serveQuery.metricsListen:` in the configuration',
  )
}

/** Answers a request, whatever it is. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface Serving {
  readonly address: Address
  readonly options: ServerOptions
  readonly handler: Handler
  readonly maxConnections: number
}

/** What it serves. */
export const serveRequests = (serving: Serving): Promise<Listening> => {
  const server = createServer(
    { ...serving.options, maxHeaderSize: MAX_HEADER_BYTES },
    serving.handler,
  )
  server.maxConnections = serving.maxConnections
  return listenOn(
    server,
    serving.address,
    'set another address with --listen HOST:PORT or `serveQuery.listen:` in the configuration',
  )
}
