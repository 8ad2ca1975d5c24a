import type { IncomingMessage } from 'node:http'
import { type Clock, linkAbort } from '../../src/core/clock.ts'
import { asError, errorCode } from '../../src/core/errors.ts'
import { LIMITS } from '../../src/core/limits.ts'
import {
  BodyError,
  createPool,
  describeRedirect,
  describeTlsError,
  isRedirect,
  readBody,
  sendRequest,
} from '../../src/sources/http-exchange.ts'
import { type Endpoint, urlOf } from './endpoint.ts'

/** Header names in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** Decompressed. */
  readonly body: Buffer
}

/** Why a request got no complete response. `retry`: send it again; `shrink`: request fewer blocks at a time. */
export interface TransportFailure {
  readonly kind: 'retry' | 'shrink' | 'protocol' | 'untrusted' | 'fatal'
  readonly happened: string
  /** The request timed out: a request for fewer blocks may be fast enough. */
  readonly isTimeout?: boolean
  /** The host refused the connection: no process listens on that port. */
  readonly isRefused?: boolean
}

/** Sends one request to a path of a query service, or as `rpc` to the address itself, and reads the complete response. Never rejects. */
export type Transport = (
  path: 'query' | 'height' | 'rpc',
  body: string | null,
  signal: AbortSignal,
) => Promise<Reply | TransportFailure>

interface TransportOptions {
  readonly endpoint: Endpoint
  readonly clock: Clock
  /** In milliseconds, for the complete response. */
  readonly timeout: number
  /** The largest page, compressed and decompressed. */
  readonly maxBytes: number
}

export const createTransport = (options: TransportOptions): Transport => {
  const { endpoint, clock, timeout, maxBytes } = options
  const pool = createPool(endpoint.url.protocol, clock)
  return async (path, body, signal) => {
    const linked = linkAbort(signal)
    void clock.sleep(timeout, linked.signal).then(linked.abort)
    const { agent, release } = pool.acquire()
    try {
      const url = urlOf(endpoint.url, path)
      const message = await sendRequest({
        url,
        agent,
        headers: endpoint.headers,
        body,
        signal: linked.signal,
      })
      if (isRedirect(message)) {
        message.resume()
        return { kind: 'fatal', happened: describeRedirect(message, url) }
      }
      return await readReply(message, path === 'height' ? LIMITS.response.valueBytes : maxBytes)
    } catch (error) {
      if (error instanceof BodyError) return bodyFailureOf(error)
      if (linked.signal.aborted) {
        return { kind: 'retry', happened: 'no answer in time', isTimeout: true }
      }
      return connectionFailureOf(asError(error))
    } finally {
      linked.abort()
      release()
    }
  }
}

/** The beginning of an error response is enough for the message. */
const MAX_ERROR_BYTES = 65_536

const readReply = async (message: IncomingMessage, maxBytes: number): Promise<Reply> => {
  const status = message.statusCode ?? 0
  const headers = headersOf(message)
  if (status === 200) return { status, headers, body: await readBody(message, { bytes: maxBytes, beyond: 'fail' }) }
  const limits = { bytes: MAX_ERROR_BYTES, beyond: 'truncate' } as const
  return { status, headers, body: await readBody(message, limits).catch(() => Buffer.alloc(0)) }
}

const headersOf = (message: IncomingMessage): Headers =>
  Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )

/** A body that is not complete: no part of it is used. */
const bodyFailureOf = ({ problem, message }: BodyError): TransportFailure => ({
  kind: problem === 'too large' ? 'shrink' : 'protocol',
  happened: message,
})

const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'DNS lookup failed',
}

const connectionFailureOf = (error: Error): TransportFailure => {
  const code = errorCode(error, error.name)
  const untrusted = describeTlsError(error)
  if (untrusted !== undefined) return { kind: 'untrusted', happened: untrusted }
  if (code.startsWith('HPE_')) {
    return { kind: 'protocol', happened: `the response is not HTTP (${code})` }
  }
  return {
    kind: 'retry',
    happened: `no connection (${CONNECTION_ERRORS[code] ?? code})`,
    isRefused: code === 'ECONNREFUSED',
  }
}
