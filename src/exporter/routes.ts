import { createServer, type Server } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import { asError } from '../core/errors.ts'
import { MAX_HEADER_BYTES } from './listen.ts'

/** What each process of chain-agent exports. None of the functions reads from the node. */
export interface MonitoringView {
  readonly contentType: string
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
  add(path: string, handler: RequestHandler): void
  /** The server, with a response for all other paths. No routes can be added afterwards. */
  server(): Server
}

const compress = promisify(gzip)

/** Serves /metrics, /-/healthy and /-/ready, and added routes. */
export const createRoutes = (view: MonitoringView, texts: RouteTexts): Routes => {
  const app = express().disable('x-powered-by').disable('etag').enable('case sensitive routing').set('json spaces', 2)
  const add = (path: string, handler: RequestHandler): void => {
    // express uses it for HEAD too
    app.get(path, async (request, response, next) => {
      try {
        await handler(request, response, next)
      } catch (error) {
        view.complain(asError(error))
        response.status(500).type('text').send('This page could not be rendered; see the log for the reason.\n')
      }
    })
    app.all(path, (_request, response) => {
      response.status(405).set('Allow', 'GET, HEAD').type('text').send('Only GET and HEAD.\n')
    })
  }
  add('/metrics', async (request, response) => {
    const text = await view.metrics()
    response.set({ 'Content-Type': view.contentType, Vary: 'Accept-Encoding' })
    if (request.acceptsEncodings('gzip') !== 'gzip') response.send(Buffer.from(text))
    // Level 1 costs less than sending the plain body does.
    else response.set('Content-Encoding', 'gzip').send(await compress(text, { level: 1 }))
  })
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
    server: () => {
      app.use((_request, response) => {
        response.status(404).type('text').send(`${texts.unknown}\n`)
      })
      const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 10_000 }, app)
      server.maxConnections = 64
      return server
    },
  }
}
