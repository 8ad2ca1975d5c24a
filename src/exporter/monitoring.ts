import type { ServerOptions } from 'node:http'
import express, { type RequestHandler } from 'express'
import type { Clock } from '../core/clock.ts'
import { shared } from '../core/reload.ts'
import { asError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import { sanitize } from '../core/redaction/redact.ts'
import { type Handler, limitConnections } from './connections.ts'
import { MAX_HEADER_BYTES, listenOn, type ListeningServer } from './listen.ts'
import { addPage, bodyOf, sendBody } from './page/document.ts'
import type { Address, ListenerOptions, Reject, Web, WebServer } from './web.ts'

/** What each process of chain-agent exports. None of the functions reads from the node. */
export interface MonitoringView {
  readonly contentType: string
  readonly clock: Clock
  metrics(): Promise<string>
  /** Called when a page cannot be rendered, which is a bug. */
  complain(error: Error): void
  /** What the process still waits for; ready if empty. */
  waitingFor(): readonly string[]
}

interface RouteTexts {
  readonly healthy: string
  readonly ready: string
  /** The text for an unknown path. */
  readonly unknown: string
}

export interface Routes {
  /** `method`: GET, which includes HEAD, unless given. */
  add(path: string, handler: RequestHandler, method?: 'get' | 'post'): void
  /** Handles every request, with a response for all other paths. No routes can be added afterwards. */
  handler(): Handler
}

/** Serves /metrics, /-/healthy and /-/ready, and added routes. */
export const createRoutes = (view: MonitoringView, texts: RouteTexts): Routes => {
  const app = express()
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .set('json spaces', 2)
    .set('json replacer', (_key: string, value: unknown) => (typeof value === 'string' ? sanitize(value) : value))
  const add: Routes['add'] = (path, handler, method = 'get') => {
    // express uses GET for HEAD too
    app[method](path, async (request, response, next) => {
      try {
        await handler(request, response, next)
      } catch (error) {
        view.complain(asError(error))
        response.status(500).type('text').send('This page could not be rendered; see the log for the reason.\n')
      }
    })
    app.all(path, (_request, response) => {
      const [allowed, text] = method === 'get' ? ['GET, HEAD', 'GET and HEAD'] : ['POST', 'POST']
      response.status(405).set('Allow', allowed).type('text').send(`Only ${text}.\n`)
    })
  }
  // Level 1 costs less than sending the plain body does.
  const rendered = shared(async () => bodyOf(await view.metrics(), 1), view.clock, RENDERED_FOR_MS)
  add('/metrics', async (request, response) =>
    sendBody(request, response, { ...(await rendered()), type: view.contentType }),
  )
  add('/-/healthy', (_request, response) => {
    response.type('text').send(`${texts.healthy}\n`)
  })
  add('/-/ready', (_request, response) => {
    const waiting = view.waitingFor()
    if (waiting.length === 0) response.type('text').send(`${texts.ready}\n`)
    else
      response
        .status(503)
        .type('text')
        .send(`Waiting for: ${waiting.join(', ')}.\n`)
  })
  return {
    add,
    handler: () => {
      app.use((_request, response) => {
        response.status(404).type('text').send(`${texts.unknown}\n`)
      })
      return (request, response) => {
        app(request, response)
      }
    },
  }
}

/** Serves the routes to monitoring systems and operators. */
export const serveRoutes = (
  routes: Pick<Routes, 'handler'>,
  { address, web }: { readonly address: Address; readonly web: Web },
  advice: string,
): Promise<ListeningServer> =>
  listenOn(
    limited(web.createServer({ options: OPTIONS, address, handler: routes.handler(), reject: rejectAsText })),
    address,
    advice,
  )

/** For servers that only monitoring systems and operators use: their requests are short. */
export const OPTIONS: ServerOptions = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: LIMITS.server.headersMs,
  requestTimeout: LIMITS.server.requestMs,
  connectionsCheckingInterval: 1000,
}

export const limited = (server: WebServer): WebServer => limitConnections(server, LIMITS.server.connections)

/** The body of the request is not read, so the connection cannot be used again. */
const rejectAsText: Reject = ({ status, message, headers }, _request, response) => {
  response.writeHead(status, { ...headers, 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' })
  response.end(`${message.charAt(0).toUpperCase()}${message.slice(1)}.\n`)
}

/** All who ask within this time get one rendering, in milliseconds. Prometheus asks every few seconds. */
const RENDERED_FOR_MS = 250

/** Serves a service's page, the document at /, and monitoring endpoints, on a separate address. */
export const serveOperations = (
  view: MonitoringView & { page(): Promise<string> },
  address: Address,
  web: Web,
): Promise<ListeningServer> => {
  const routes = createRoutes(view, {
    healthy: 'The service is alive.',
    ready: 'The service is ready.',
    unknown: 'No such page; available: /, /metrics, /-/healthy and /-/ready.',
  })
  addPage(routes.add, shared(view.page, view.clock, 0))
  return serveRoutes(
    routes,
    { address, web },
    'set another address with --metrics-listen HOST:PORT or `serveQuery.metricsListen:` in the configuration',
  )
}

type RequestServerOptions = ListenerOptions & { readonly maxConnections: number; readonly web: Web }

/** Serves the service's requests. */
export const serveRequests = ({ web, maxConnections, ...listener }: RequestServerOptions): Promise<ListeningServer> => {
  const options = { ...listener.options, maxHeaderSize: MAX_HEADER_BYTES }
  return listenOn(
    limitConnections(web.createServer({ ...listener, options }), maxConnections),
    listener.address,
    'set another address with --listen HOST:PORT or `serveQuery.listen:` in the configuration',
  )
}
