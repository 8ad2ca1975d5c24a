import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http'
import { type Address, type ListeningServer, listenOn, MAX_HEADER_BYTES } from './listen.ts'
import { type MonitoringView, createRoutes } from './routes.ts'

/** Serves a service's monitoring endpoints, on a separate address. */
export const serveOperations = (view: MonitoringView, address: Address): Promise<ListeningServer> => {
  const routes = createRoutes(view, {
    healthy: 'The service is alive.',
    ready: 'The service is ready.',
    unknown: 'No such page; available: /metrics, /-/healthy and /-/ready.',
  })
  return listenOn(
    routes.server(),
    address,
    'set another address with --metrics-listen HOST:PORT or `serveQuery.metricsListen:` in the configuration',
  )
}

/** Handles every request. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void

interface RequestServerOptions {
  readonly address: Address
  readonly options: ServerOptions
  readonly handler: Handler
  readonly maxConnections: number
}

/** Serves the service's requests. */
export const serveRequests = (options: RequestServerOptions): Promise<ListeningServer> => {
  const server = createServer({ ...options.options, maxHeaderSize: MAX_HEADER_BYTES }, options.handler)
  server.maxConnections = options.maxConnections
  return listenOn(
    server,
    options.address,
    'set another address with --listen HOST:PORT or `serveQuery.listen:` in the configuration',
  )
}
