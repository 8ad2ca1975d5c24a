import { createServer, type Server } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import express, { type RequestHandler } from 'express'
import { asError } from '../core/outcome.ts'
import { MAX_HEADER_BYTES } from './listening.ts'

/** What every process of ours shows. Every function only looks; none reads from the node. */
export interface CommonView {
  readonly contentType: string
  metrics(): Promise<string>
  /** Hears of a page that could not be made: a bug of ours. */
  complain(error: Error): void
  /** What there is to wait for yet; ready when there is nothing. */
  waitingFor(): readonly string[]
}

interface Words {
  readonly healthy: string
  readonly ready: string
  /** Of a page that there is not. */
  readonly unknown: string
}

export interface Pages {
  add(path: string, handler: RequestHandler): void
  /** With what answers all other paths; nothing can be added afterwards. */
  server(): Server
}

const compress = promisify(gzip)

/** /metrics, /-/healthy and /-/ready, and what is added to them. */
export const createPages = (view: CommonView, words: Words): Pages => {
  const app = express()
    .disable('x-powered-by')
    .disable('etag')
    .enable('case sensitive routing')
    .set('json spaces', 2)
  const add = (path: string, handler: RequestHandler): void => {
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
  add('/metrics', async (request, response) => {
    const text = await view.metrics()
    response.set({ 'Content-Type': view.contentType, Vary: 'Accept-Encoding' })
    if (request.acceptsEncodings('gzip') !== 'gzip') response.send(Buffer.from(text))
    // Level 1 costs less than sending the plain body does.
    else response.set('Content-Encoding', 'gzip').send(await compress(text, { level: 1 }))
  })
  add('/-/healthy', (_request, response) => {
    response.type('text').send(`${words.healthy}\n`)
  })
  add('/-/ready', (_request, response) => {
    const waiting = view.waitingFor()
    if (waiting.length === 0) response.type('text').send(`${words.ready}\n`)
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
        response.status(404).type('text').send(`${words.unknown}\n`)
      })
      const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 10_000 }, app)
      server.maxConnections = 64
      return server
    },
  }
}
