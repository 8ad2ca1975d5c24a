import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request } from 'express'
import type { Clock } from '../../../src/core/clock.ts'
import { second } from '../../../src/core/units.ts'
import { STREAMING } from '../../../src/exporter/connections.ts'
import type { QUERY_PATHS } from '../metrics.ts'
import { retryLater } from './http-error.ts'
import type { QueryLimits } from './limits.ts'

export type Path = (typeof QUERY_PATHS)[number]

/** Receives one record per request, for metrics. */
export interface RequestObserver {
  /** Called when a response is sent or the client has disconnected (code 499). */
  requestFinished(answer: {
    readonly path: Path
    readonly code: number
    /** Without the wait for a block; null for a stream, which ends when the client disconnects. */
    readonly seconds: number | null
    /** Size of the body as sent. */
    readonly bytes: number
    readonly logs: number
  }): void
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly logs: number
}

/** A request that does not reach the API is not one of express. */
type AnyRequest = IncomingMessage & Partial<Pick<Request, 'acceptsEncodings'>>

type SendLimits = Pick<QueryLimits, 'sendMs' | 'unsentBytes'>

export type Sender = ReturnType<ReturnType<typeof createSenders>>

const CLIENT_GONE = 499

export const createSenders = (limits: SendLimits, observer: RequestObserver, clock: Clock) => {
  let unsent = 0
  /** Tracks a request until its response is sent or the client disconnects. */
  return (path: Path, request: AnyRequest, response: ServerResponse) => {
    const startedAt = clock.elapsed()
    const disconnected = new AbortController()
    let sent = { bytes: 0, logs: 0 }
    let buffered = 0
    let isSent = false
    let isStream = false
    let heldMs = 0
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
        code: isSent || isStream ? response.statusCode : CLIENT_GONE,
        seconds: isStream ? null : (clock.elapsed() - startedAt - heldMs) / second,
        ...(isSent ? sent : { bytes: 0, logs: 0 }),
      })
    })
    /** Throws while too many bytes of responses are unsent. A new response counts as soon as it is made. */
    const withinBufferLimit = async <T extends { readonly body: Buffer } | null>(
      make: () => Promise<T>,
    ): Promise<T> => {
      if (unsent > limits.unsentBytes) throw retryLater('busy', 'too many responses are still being sent', 1)
      const made = await make()
      if (made !== null) setBuffered(made.body.length)
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
    return {
      disconnected: disconnected.signal,
      withinBufferLimit,
      // Only the compressed body stays in memory while it is sent.
      send: async (reply: Reply): Promise<void> => write(await compressed(request, reply)),
      /** Does a wait that is no part of the duration of the request. */
      hold: async (wait: () => Promise<void>): Promise<void> => {
        const from = clock.elapsed()
        await wait()
        heldMs += clock.elapsed() - from
      },
      /** Begins a response that ends with the connection. */
      stream: (headers: Reply['headers']): void => {
        response.writeHead(200, headers).flushHeaders()
        response.emit(STREAMING)
        isStream = true
      },
    }
  }
}

const compress = promisify(gzip)

/** In bytes. Smaller bodies are not worth compressing. */
const MIN_COMPRESSED_BYTES = 1024

/**
 * Compresses the body if the client accepts gzip. This costs more than making the response and runs on the thread pool.
 */
const compressed = async (request: AnyRequest, reply: Reply): Promise<Reply> => {
  if (reply.status !== 200) return reply
  const headers = { ...reply.headers, vary: 'Accept-Encoding' }
  if (reply.body.length < MIN_COMPRESSED_BYTES || request.acceptsEncodings?.('gzip') !== 'gzip')
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
const onEnd = ({ socket }: IncomingMessage, response: ServerResponse, act: () => void): void => {
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
