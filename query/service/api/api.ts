import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import express, { type Request, type Response } from 'express'
import { type Clock, nextTurn, withDeadline } from '../../../src/core/clock.ts'
import { second } from '../../../src/core/units.ts'
import type { Filter, LogStore } from '../../store/store.ts'
import { answerQuery } from './answer.ts'
import { HttpError, retryLater, toHttpError } from './http-error.ts'
import { type Access, createAdmission, createRequestQueue, QUERY_LIMITS, type QueryLimits } from './limits.ts'
import { createQueryParser, type Dialect } from './parse-query.ts'

/** Receives one record per request, for metrics. */
export interface RequestObserver {
  /** Called when a response is sent or the client has disconnected (code 499). */
  requestFinished(answer: {
    readonly path: '/query' | '/height' | 'other'
    readonly code: number
    readonly seconds: number
    /** Size of the body as sent. */
    readonly bytes: number
    readonly logs: number
  }): void
}

export interface QueryApiOptions {
  readonly store: LogStore
  /** What the store keeps of each block. */
  readonly scope: Filter
  /** The last block in the store; null while the store is empty. */
  readonly height: () => number | null
  readonly dialect: Dialect
  readonly access: Access
  readonly limits?: Partial<QueryLimits> | undefined
  readonly clock: Clock
  readonly observer: RequestObserver
  /** Called for each store failure and each internal error. */
  readonly onError?: ((error: Error) => void) | undefined
}

export interface QueryApi {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
  /** Applies to new requests; every rate limit restarts. */
  setAccess(access: Access): void
}

type Path = Parameters<RequestObserver['requestFinished']>[0]['path']

/** A response before it is sent. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Number of logs in the body. */
  readonly logs: number
}

const JSON_TYPE = { 'content-type': 'application/json', 'cache-control': 'no-store' }

export const jsonReply = (body: Buffer, logs = 0): Reply => ({ status: 200, headers: JSON_TYPE, body, logs })

export const errorReply = ({ code, status, message, details }: HttpError): Reply => {
  const { path = null, first, headers } = details
  const error = { code, message, path, ...(first !== undefined && { first_block: first }) }
  return { status, headers: { ...JSON_TYPE, ...headers }, body: Buffer.from(JSON.stringify({ error })), logs: 0 }
}

interface Exchange {
  readonly request: Request
  readonly response: Response
  readonly sender: Sender
}

/** Makes the response to a request, or throws. */
type Act = (exchange: Exchange) => Promise<Reply> | Reply

/** The same for a request of a client that may use the service. */
type AdmittedAct = (exchange: Exchange, client: string) => Promise<Reply> | Reply

interface Receiving {
  readonly client: string
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
}

/** Serves POST /query and GET /height. Never throws, and never sends a partial response. */
export const createQueryApi = (options: QueryApiOptions): QueryApi => {
  const { store, dialect, clock, height, onError = () => undefined } = options
  const limits = { ...QUERY_LIMITS, ...options.limits }
  let admit = createAdmission(options.access, clock)
  const createSender = createSenders({ clock, limits, observer: options.observer })
  const queue = createRequestQueue({ limits, clock })
  // Each turn of the event loop reads a part of each body that arrives, and other work waits for the turn.
  const bodies = createRequestQueue({ limits: limits.largeBodies, clock })
  const parseQuery = createQueryParser({ ...options, limits })
  const readBody = createBodyReader(limits.bodyBytes)

  const makeReply = async (act: Act, exchange: Exchange): Promise<Reply> => {
    try {
      return await act(exchange)
    } catch (error) {
      return errorReply(toHttpError(error, onError))
    }
  }

  const serve = (path: Path, act: Act) => (request: Request, response: Response) => {
    const sender = createSender(path, request, response)
    makeReply(act, { request, response, sender })
      .then(sender.send)
      .catch((error: unknown) => {
        toHttpError(error, onError)
        response.destroy()
      })
  }

  const receive = (request: Request, response: Response, { client, signal }: Receiving): Promise<Buffer> => {
    const read = () => readBody(request, response)
    const length = Number(request.headers['content-length'] ?? Infinity)
    return length <= limits.smallBodyBytes ? read() : bodies.run(read, client, signal)
  }

  // The cost of a request is that of its body, too: a body is not read without room in the queue, nor parsed before its turn.
  const query: AdmittedAct = async ({ request, response, sender: { disconnected, withinBufferLimit } }, client) => {
    queue.expectRoom(client)
    const sent = await receive(request, response, { client, signal: disconnected })
    const { body, logs } = await withDeadline({ clock, signal: disconnected }, limits.answerMs, ({ signal }) => {
      const answer = async () => {
        // Without a pause, one turn of the event loop would parse all bodies that wait.
        await nextTurn()
        return answerQuery(parseQuery(sent), { store, dialect, limits, clock }, signal)
      }
      return queue.run(() => withinBufferLimit(answer), client, signal)
    })
    return jsonReply(body, logs)
  }

  const app = express().disable('x-powered-by').enable('case sensitive routing').enable('strict routing')
  const add = (path: '/query' | '/height', { method, act }: { method: 'get' | 'post'; act: AdmittedAct }): void => {
    // express uses the handler of GET for HEAD, too.
    const allow = method === 'get' ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS'
    const admitted: Act = (exchange) => {
      const { client, headers } = admit(exchange.request)
      exchange.response.set(headers)
      return act(exchange, client)
    }
    app[method](path, serve(path, admitted))
    app.options(
      path,
      serve(path, () => ({ status: 204, headers: { allow }, body: Buffer.alloc(0), logs: 0 })),
    )
    app.all(
      path,
      serve(path, () => {
        throw new HttpError('method_not_allowed', `${path} allows ${allow}`, { headers: { allow } })
      }),
    )
  }
  add('/query', { method: 'post', act: query })
  add('/height', { method: 'get', act: () => jsonReply(Buffer.from(JSON.stringify({ height: height() }))) })
  app.use(
    serve('other', ({ request }) => {
      throw new HttpError(
        'not_found',
        request.path.startsWith('/query/')
          ? 'only JSON queries are supported, at /query'
          : 'not found; the endpoints are POST /query and GET /height',
      )
    }),
  )
  return {
    handle: (request, response) => {
      app(request, response)
    },
    setAccess: (access) => {
      admit = createAdmission(access, clock)
    },
  }
}

const JSON_UTF8 = /^application\/json *(?:; *(?:charset="?utf-?8"?)? *)*$/i

/**
 * Reads the body of a request. The rest of a larger body is read and discarded before the response is sent: if the
 * connection were closed, the client would not see the response. The request timeout of the server ends this.
 */
const createBodyReader = (limit: number) => {
  const read = promisify(express.raw({ limit, type: () => true }))
  return async (request: Request, response: Response): Promise<Buffer> => {
    const { headers } = request
    if (!JSON_UTF8.test(headers['content-type'] ?? ''))
      throw new HttpError('media_type', 'send the body as Content-Type: application/json')
    if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
      throw new HttpError('media_type', 'send the body uncompressed')
    await read(request, response).catch((error: unknown) => {
      if (error instanceof Error && 'type' in error && error.type === 'entity.too.large')
        throw new HttpError('too_large', `the body is larger than ${limit} bytes`)
      // The client has disconnected, so this error is not sent.
      throw new HttpError('bad_json', 'the body is incomplete')
    })
    const body: unknown = request.body
    return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  }
}

interface SenderOptions {
  readonly clock: Clock
  readonly limits: Pick<QueryLimits, 'sendMs' | 'unsentBytes'>
  readonly observer: RequestObserver
}

type Sender = ReturnType<ReturnType<typeof createSenders>>

const CLIENT_GONE = 499

const createSenders = ({ clock, limits, observer }: SenderOptions) => {
  let unsent = 0
  /** Tracks a request until its response is sent or the client disconnects. */
  return (path: Path, request: Request, response: Response) => {
    const startedAt = clock.elapsed()
    const disconnected = new AbortController()
    let sent = { bytes: 0, logs: 0 }
    let buffered = 0
    let isSent = false
    const setBuffered = (bytes: number): void => {
      if (disconnected.signal.aborted) return
      unsent += bytes - buffered
      buffered = bytes
    }
    response.once('finish', () => {
      // A response on a destroyed connection also emits finish.
      isSent = !request.socket.destroyed
    })
    onEnd(request, response, () => {
      setBuffered(0)
      disconnected.abort()
      observer.requestFinished({
        path,
        code: isSent ? response.statusCode : CLIENT_GONE,
        seconds: (clock.elapsed() - startedAt) / second,
        ...(isSent ? sent : { bytes: 0, logs: 0 }),
      })
    })
    /** Throws while too many bytes of responses are unsent. A new response counts as soon as it is made. */
    const withinBufferLimit = async <T extends { readonly body: Buffer }>(make: () => Promise<T>): Promise<T> => {
      if (unsent > limits.unsentBytes) throw retryLater('busy', 'too many responses are still being sent', 1)
      const made = await make()
      setBuffered(made.body.length)
      return made
    }
    const write = async ({ status, headers, body, logs }: Reply): Promise<void> => {
      if (disconnected.signal.aborted) return
      const isBodiless = request.method === 'HEAD' || status === 204
      if (!isBodiless) sent = { bytes: body.length, logs }
      setBuffered(sent.bytes)
      response.writeHead(status, { ...headers, ...(status !== 204 && { 'content-length': body.length }) })
      response.end(isBodiless ? undefined : body)
      await clock.sleep(limits.sendMs, disconnected.signal)
      if (!disconnected.signal.aborted) response.destroy()
    }
    // Only the compressed body stays in memory while it is sent.
    const send = async (reply: Reply): Promise<void> => write(await compressed(request, reply))
    return { disconnected: disconnected.signal, withinBufferLimit, send }
  }
}

const compress = promisify(gzip)

/** In bytes. Smaller bodies are not worth compressing. */
const MIN_COMPRESSED_BYTES = 1024

/**
 * Compresses the body if the client accepts gzip. This costs more than making the response and runs on the thread pool.
 */
const compressed = async (request: Request, reply: Reply): Promise<Reply> => {
  if (reply.status !== 200) return reply
  const headers = { ...reply.headers, vary: 'Accept-Encoding' }
  if (reply.body.length < MIN_COMPRESSED_BYTES || request.acceptsEncodings('gzip') !== 'gzip')
    return { ...reply, headers }
  return {
    ...reply,
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: await compress(reply.body, { level: 1 }),
  }
}

/**
 * Calls `act` once, when the response is finished or the connection is closed. A pipelined response that waits behind
 * another one has no socket yet and gets no close event.
 */
const onEnd = ({ socket }: Request, response: Response, act: () => void): void => {
  let isEnded = false
  const end = (): void => {
    socket.off('close', end)
    // The close of the socket is also that of its current response.
    if (!isEnded) act()
    isEnded = true
  }
  // A client may pipeline any number of requests.
  socket.setMaxListeners(0)
  socket.once('close', end)
  response.once('close', end)
}
