import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { brotliDecompress, gunzip } from 'node:zlib'
import { type Clock, linkAbort } from '../../src/core/clock.ts'
import { asError, errorCode } from '../../src/core/errors.ts'
import { minute } from '../../src/core/units.ts'
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
  readonly kind: 'retry' | 'shrink' | 'protocol' | 'fatal'
  readonly happened: string
  /** The request timed out: a request for fewer blocks may be fast enough. */
  readonly isTimeout?: boolean
  /** The host refused the connection: no process listens on that port. */
  readonly isRefused?: boolean
}

class TransportError extends Error {
  readonly failure: TransportFailure
  constructor(failure: TransportFailure) {
    super(failure.happened)
    this.failure = failure
  }
}

/** Sends one request and reads the complete response. Never rejects. */
export type Transport = (
  path: 'query' | 'height',
  body: string | null,
  signal: AbortSignal,
) => Promise<Reply | TransportFailure>

interface TransportOptions {
  readonly endpoint: Endpoint
  readonly clock: Clock
  /** In milliseconds, for the complete response. */
  readonly timeout: number
  /** Of one response, compressed and decompressed. */
  readonly maxBytes: number
}

export const createTransport = ({ endpoint, clock, timeout, maxBytes }: TransportOptions): Transport => {
  const pool = createPool(endpoint.url.protocol, clock)
  return async (path, body, signal) => {
    const linked = linkAbort(signal)
    void clock.sleep(timeout, linked.signal).then(linked.abort)
    const { agent, release } = pool.acquire()
    try {
      const message = await send({
        url: urlOf(endpoint.url, path),
        agent,
        headers: endpoint.headers,
        body,
        signal: linked.signal,
      })
      return await readReply(message, maxBytes)
    } catch (error) {
      if (error instanceof TransportError) return error.failure
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

/** Only new connections use a new DNS record of the host, so connections are replaced after this time. */
const POOL_LIFETIME_MS = minute

/** Keep-alive connections, which are closed after a minute. */
export const createPool = (protocol: string, clock: Clock) => {
  const create = () => ({
    agent: new (protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true }),
    createdAt: clock.elapsed(),
    users: 0,
  })
  let current = create()
  return {
    acquire: () => {
      if (clock.elapsed() - current.createdAt >= POOL_LIFETIME_MS) {
        const old = current
        current = create()
        if (old.users === 0) old.agent.destroy()
      }
      const acquired = current
      acquired.users += 1
      return {
        agent: acquired.agent,
        release: (): void => {
          acquired.users -= 1
          if (acquired.users === 0 && acquired !== current) acquired.agent.destroy()
        },
      }
    },
  }
}

interface HttpRequest {
  readonly url: URL
  readonly agent: ReturnType<ReturnType<typeof createPool>['acquire']>['agent']
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal
}

/** Does not follow redirects: the API key must not reach another host. */
const send = async ({ url, agent, headers, body, signal }: HttpRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const requestOf = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = requestOf(
      url,
      {
        agent,
        signal,
        method: body === null ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          'accept-encoding': 'gzip, br',
          'user-agent': 'chain-agent',
          ...(body !== null && {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(body)),
          }),
          ...headers,
        },
      },
      resolve,
    )
    request.on('error', reject)
    request.end(body ?? undefined)
  })

/** Of an error response, the beginning is enough for the message. */
const MAX_ERROR_BYTES = 65_536

const readReply = async (message: IncomingMessage, maxBytes: number): Promise<Reply> => {
  const status = message.statusCode ?? 0
  const headers = headersOf(message)
  if (status !== 200) {
    const bytes = await readBytes(message, MAX_ERROR_BYTES, 'truncate').catch(() => Buffer.alloc(0))
    const body = await decompress(bytes, headers['content-encoding'], MAX_ERROR_BYTES).catch(() => Buffer.alloc(0))
    return { status, headers, body }
  }
  const bytes = await readBytes(message, maxBytes, 'fail')
  return { status, headers, body: await decompress(bytes, headers['content-encoding'], maxBytes) }
}

const headersOf = (message: IncomingMessage): Headers =>
  Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  )

const tooLarge = (): TransportError =>
  new TransportError({ kind: 'shrink', happened: 'the response is larger than the limit' })

/** Beyond `max` bytes it fails, or returns only the first bytes. */
const readBytes = async (message: IncomingMessage, max: number, beyond: 'fail' | 'truncate'): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  const stream: AsyncIterable<Buffer> = message
  for await (const chunk of stream) {
    size += chunk.length
    chunks.push(chunk)
    if (size <= max) continue
    message.destroy()
    if (beyond === 'fail') throw tooLarge()
    break
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}

/** Throws a TransportError for a body that is not complete: no part of it is used. */
const decompress = async (bytes: Buffer, encoding: string | undefined, max: number): Promise<Buffer> => {
  const name = (encoding ?? '').trim().toLowerCase()
  if (name === '' || name === 'identity') return bytes
  if (name !== 'gzip' && name !== 'x-gzip' && name !== 'br') {
    throw new TransportError({
      kind: 'protocol',
      happened: 'the response has a content-encoding that was not requested',
    })
  }
  try {
    return await inflate(name === 'br' ? 'br' : 'gzip', bytes, max)
  } catch (error) {
    const code = errorCode(error, asError(error).name)
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw new TransportError({
      kind: 'protocol',
      happened: `the response cannot be decompressed (${code})`,
    })
  }
}

/** In bytes. Larger than the default of zlib: fewer chunks take half the time. */
const CHUNK_SIZE = 262_144

const inflate = async (compression: 'gzip' | 'br', bytes: Buffer, maxOutputLength: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const done = (error: Error | null, decompressed: Buffer): void => {
      if (error === null) resolve(decompressed)
      else reject(error)
    }
    const options = { maxOutputLength, chunkSize: CHUNK_SIZE }
    if (compression === 'br') brotliDecompress(bytes, options, done)
    else gunzip(bytes, options, done)
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

const CERTIFICATE = /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/

const connectionFailureOf = (error: Error): TransportFailure => {
  const code = errorCode(error, error.name)
  if (CERTIFICATE.test(code)) {
    return { kind: 'fatal', happened: `no trusted connection (${code})` }
  }
  if (code.startsWith('HPE_')) {
    return { kind: 'protocol', happened: `the response is not HTTP (${code})` }
  }
  return {
    kind: 'retry',
    happened: `no connection (${CONNECTION_ERRORS[code] ?? code})`,
    isRefused: code === 'ECONNREFUSED',
  }
}
