import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzip } from 'node:zlib'
import type { Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import { type HttpError, retryLater } from './http-error.ts'
import type { QueryLimits } from './limits.ts'
import { pathOf } from './routes.ts'

/** A response before it is sent. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Number of logs in the body. */
  readonly logs: number
}

const JSON_TYPE = { 'content-type': 'application/json', 'cache-control': 'no-store' }

export const jsonReply = (body: Buffer, logs = 0): Reply => ({
  status: 200,
  headers: JSON_TYPE,
  body,
  logs,
})

export const emptyReply = (headers: Reply['headers']): Reply => ({
  status: 204,
  headers,
  body: Buffer.alloc(0),
  logs: 0,
})

export const errorReply = ({ code, status, message, details }: HttpError): Reply => ({
  status,
  headers: { ...JSON_TYPE, ...details.headers },
  body: Buffer.from(
    JSON.stringify({
      error: {
        code,
        message,
        path: details.path ?? null,
        ...(details.first !== undefined && { first_block: details.first }),
      },
    }),
  ),
  logs: 0,
})

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

interface ResponderOptions {
  readonly clock: Clock
  readonly limits: Pick<QueryLimits, 'sendMs' | 'unsentBytes'>
  readonly observer: RequestObserver
}

const CLIENT_GONE = 499

export const createResponder = ({ clock, limits, observer }: ResponderOptions) => {
  let unsent = 0
  return {
    /** Tracks a request until its response is sent or the client disconnects. */
    track: (request: IncomingMessage, response: ServerResponse) => {
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
          path: labelOf(request),
          code: isSent ? response.statusCode : CLIENT_GONE,
          seconds: (clock.elapsed() - startedAt) / second,
          bytes: isSent ? sent.bytes : 0,
          logs: isSent ? sent.logs : 0,
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
        sent = isBodiless ? { bytes: 0, logs: 0 } : { bytes: body.length, logs }
        setBuffered(sent.bytes)
        response.writeHead(status, {
          ...headers,
          ...(status !== 204 && { 'content-length': body.length }),
        })
        response.end(isBodiless ? undefined : body)
        await clock.sleep(limits.sendMs, disconnected.signal)
        if (!disconnected.signal.aborted) response.destroy()
      }
      // Only the compressed body stays in memory while it is sent.
      const send = async (reply: Reply): Promise<void> => write(await compressed(request, reply))
      return { disconnected: disconnected.signal, withinBufferLimit, send }
    },
  }
}

const labelOf = (request: IncomingMessage): '/query' | '/height' | 'other' => {
  const name = pathOf(request)
  return name === '/query' || name === '/height' ? name : 'other'
}

const compress = async (body: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    gzip(body, { level: 1 }, (error, bytes) => {
      if (error === null) resolve(bytes)
      else reject(error)
    })
  })

/** In bytes. Smaller bodies are not worth compressing. */
const MIN_COMPRESSED_BYTES = 1024

/**
 * Compresses the body if the client accepts gzip. This costs more than making the response and runs on the thread pool.
 */
const compressed = async (request: IncomingMessage, reply: Reply): Promise<Reply> => {
  if (reply.status !== 200) return reply
  const headers = { ...reply.headers, vary: 'Accept-Encoding' }
  if (reply.body.length < MIN_COMPRESSED_BYTES || !acceptsGzip(request.headers['accept-encoding']))
    return { ...reply, headers }
  return {
    ...reply,
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: await compress(reply.body),
  }
}

/** `gzip;q=0` rejects gzip; `*` accepts it only if gzip is not named. */
export const acceptsGzip = (accepted: string | string[] | undefined): boolean => {
  const wanted = new Map(
    String(accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((part): readonly [string, boolean] => {
        const [name = '', ...parameters] = part.split(';').map((text) => text.trim())
        return [name, !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))]
      }),
  )
  return wanted.get('gzip') ?? wanted.get('x-gzip') ?? wanted.get('*') ?? false
}

/** Per connection, the callbacks that wait for its end: one listener, however many requests are pipelined. */
const endCallbacks = new WeakMap<IncomingMessage['socket'], Set<() => void>>()

/**
 * Calls `act` once, when the response is finished or the connection is closed. A pipelined response that waits behind
 * another one has no socket yet and gets no close event.
 */
const onEnd = ({ socket }: IncomingMessage, response: ServerResponse, act: () => void): void => {
  const all = endCallbacks.get(socket) ?? listenForClose(socket)
  const end = (): void => {
    if (all.delete(end)) act()
  }
  all.add(end)
  response.once('close', end)
}

const listenForClose = (socket: IncomingMessage['socket']): Set<() => void> => {
  const all = new Set<() => void>()
  endCallbacks.set(socket, all)
  socket.once('close', () => {
    for (const end of all) end()
  })
  return all
}
