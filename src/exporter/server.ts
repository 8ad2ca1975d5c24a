import { createServer, type Server } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import { SourceError } from '../core/errors.ts'
import { asError } from '../core/outcome.ts'
import { type EventsQuery, readEventsQuery } from './events-page.ts'
import { renderLandingPage } from './landing-page.ts'

/** What the server shows. Every function only looks; none reads from the node. */
export interface View {
  readonly version: string
  readonly contentType: string
  metrics(): Promise<string>
  /** The body of /api/v1/status, to be sent as JSON. */
  status(): unknown
  /** The body of /api/v1/events. */
  events(query: EventsQuery): Promise<unknown>
  /** Hears of a page that could not be made: a bug of ours. */
  complain(error: Error): void
  /** Collectors that have not ended their first attempt; ready when there are none. */
  waitingFor(): readonly string[]
}

export interface Address {
  readonly host: string
  readonly port: number
}

const compress = promisify(gzip)

/** Serves the view until closed. Throws a SourceError when the address cannot be listened on. */
export const serve = async (view: View, { host, port }: Address) => {
  const app = express().disable('x-powered-by').disable('etag').enable('case sensitive routing')
  const read = (path: string, handler: RequestHandler): void => {
    // express answers HEAD with it, too
    app.get(path, async (request, response, next) => {
      try {
        await handler(request, response, next)
      } catch (error) {
        view.complain(asError(error))
        response.status(500).type('text').send('This page could not be made; the log says why.\n')
      }
    })
    app.all(path, (_request, response) => {
      response.status(405).set('Allow', 'GET, HEAD').type('text').send('Only GET and HEAD.\n')
    })
  }
  read('/', (_request, response) => {
    response.type('html').send(renderLandingPage(view.version))
  })
  read('/metrics', async (request, response) => {
    const text = await view.metrics()
    response.set({ 'Content-Type': view.contentType, Vary: 'Accept-Encoding' })
    if (request.acceptsEncodings('gzip') !== 'gzip') response.send(Buffer.from(text))
    // Level 1 costs less than sending the plain body does.
    else response.set('Content-Encoding', 'gzip').send(await compress(text, { level: 1 }))
  })
  read('/-/healthy', (_request, response) => {
    response.type('text').send('The agent is alive.\n')
  })
  read('/-/ready', (_request, response) => {
    const waiting = view.waitingFor()
    if (waiting.length === 0) response.type('text').send('Every collector has tried once.\n')
    else
      response
        .status(503)
        .type('text')
        .send(`Waiting for: ${waiting.join(', ')}.\n`)
  })
  read('/api/v1/status', (_request, response) => {
    response.json(view.status())
  })
  read('/api/v1/events', async (request, response) => {
    const query = readEventsQuery(new URL(request.url, 'http://agent').searchParams)
    if (typeof query === 'string') response.status(400).type('text').send(`${query}\n`)
    else response.json(await view.events(query))
  })
  app.use((_request, response) => {
    response.status(404).type('text').send('No such page; / lists what there is.\n')
  })

  const server = createServer({ maxHeaderSize: 8192, requestTimeout: 10_000 }, app)
  server.maxConnections = 64
  await listen(server, { host, port })
  const bound = server.address()
  return {
    address: { host, port: typeof bound === 'object' && bound ? bound.port : port },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}

const listen = (server: Server, { host, port }: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new SourceError(
          {
            doing: `listen on ${host}:${port}`,
            happened: REASONS[error.code ?? ''] ?? error.message,
            advice: 'set another address with --listen HOST:PORT or `listen:` in the configuration',
          },
          { cause: error },
        ),
      )
    })
    server.listen(port, host, resolve)
  })

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program already listens there (perhaps another agent)',
  EACCES: 'ports below 1024 need more rights than the agent should have',
  EADDRNOTAVAIL: 'this host has no such address',
}
