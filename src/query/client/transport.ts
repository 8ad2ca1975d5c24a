import { request as askHttp, type IncomingMessage } from 'node:http'
import { request as askHttps } from 'node:https'
import { type Clock } from '../../core/clock.ts'
import { asError } from '../../core/outcome.ts'
import { type Base, under } from './base.ts'
import { createPool } from './pool.ts'
import { decompress, readBytes } from './body.ts'
import { type Fault, FaultError, faultOfConnection } from './fault.ts'
import { type Headers } from './hints.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  /** Decompressed. */
  readonly body: Buffer
}

/** One request and its whole answer, or why there was none. Never rejects. */
export type Exchange = (
  path: 'query' | 'height',
  body: string | null,
  signal: AbortSignal,
) => Promise<Reply | Fault>

interface TransportOptions {
  readonly base: Base
  readonly clock: Clock
  /** In milliseconds, for the whole answer. */
  readonly timeout: number
  readonly maxBytes: number
}

export const createTransport = ({ base, clock, timeout, maxBytes }: TransportOptions): Exchange => {
  const pool = createPool(base.url.protocol, clock)
  return async (path, body, signal) => {
    // By hand: `AbortSignal.any` on a signal that lives as long as we do leaks on Node 20.
    const cancel = new AbortController()
    const answered = new AbortController()
    const stop = (): void => {
      cancel.abort()
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    void clock.sleep(timeout, answered.signal).then(() => {
      if (!answered.signal.aborted) stop()
    })
    const { agent, release } = pool.take()
    try {
      const message = await send({
        url: under(base.url, path),
        agent,
        headers: base.headers,
        body,
        signal: cancel.signal,
      })
      return await read(message, maxBytes)
    } catch (error) {
      if (error instanceof FaultError) return error.fault
      if (cancel.signal.aborted) {
        return { kind: 'retry', happened: 'no answer in time', isLate: true }
      }
      return faultOfConnection(asError(error))
    } finally {
      signal.removeEventListener('abort', stop)
      answered.abort()
      release()
    }
  }
}

interface Sending {
  readonly url: URL
  readonly agent: ReturnType<ReturnType<typeof createPool>['take']>['agent']
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal
}

/** Redirects are not followed: the key is for the address that was given, and for no other. */
const send = async ({ url, agent, headers, body, signal }: Sending): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const ask = url.protocol === 'https:' ? askHttps : askHttp
    const request = ask(
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

/** Of an answer that is an error, its beginning tells enough. */
const MAX_ERROR_BYTES = 65_536

const read = async (message: IncomingMessage, maxBytes: number): Promise<Reply> => {
  const status = message.statusCode ?? 0
  const headers = headersOf(message)
  if (status !== 200) {
    const bytes = await readBytes(message, MAX_ERROR_BYTES, 'cut').catch(() => Buffer.alloc(0))
    const body = await decompress(bytes, headers['content-encoding'], MAX_ERROR_BYTES).catch(() =>
      Buffer.alloc(0),
    )
    return { status, headers, body }
  }
  const bytes = await readBytes(message, maxBytes, 'refuse')
  return { status, headers, body: await decompress(bytes, headers['content-encoding'], maxBytes) }
}

const headersOf = (message: IncomingMessage): Headers =>
  Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  )
