import type { IncomingMessage } from 'node:http'
import { type Clock, withDeadline } from '../../../src/core/clock.ts'
import { asError, ConfigError, errorCode, SourceError } from '../../../src/core/errors.ts'
import { redactUrl } from '../../../src/core/redaction/redact.ts'
import { BodyError, createAgent, describeTlsError, readBody, sendRequest } from '../../../src/sources/http-exchange.ts'
import { IngestError, NodeTimeoutError, TooLargeError } from './errors.ts'

export interface RpcResponse {
  readonly status: number
  readonly body: Buffer
  /** `Retry-After` in milliseconds. */
  readonly wait: number | null
}

export interface RpcRequest {
  readonly body: string
  /** The most bytes of the response, after decompression. */
  readonly maxBytes: number
}

/** Sends one request and reads the whole response. Throws an IngestError on failure. */
export type SendRequest = (request: RpcRequest, signal: AbortSignal) => Promise<RpcResponse>

interface TransportOptions {
  readonly rpcUrl: string
  readonly clock: Clock
  /** For the whole response, in milliseconds. */
  readonly timeout: number
}

/** One persistent connection, since requests are sequential. */
export const createTransport = (options: TransportOptions): SendRequest => {
  const { rpcUrl, clock, timeout } = options
  const url = parseAddress(rpcUrl)
  const agent = createAgent(url.protocol, 1)
  return async ({ body, maxBytes }, signal) => {
    const doing = `call the node at ${redactUrl(rpcUrl)}`
    try {
      return await withDeadline({ clock, signal }, timeout, async ({ signal: cancel }) => {
        const headers = { 'accept-encoding': 'gzip' }
        const message = await sendRequest({ url, agent, headers, body, signal: cancel })
        const received = await readBody(message, { bytes: maxBytes, beyond: 'fail' })
        return { status: message.statusCode ?? 0, body: received, wait: retryAfterOf(message) }
      })
    } catch (thrown) {
      const error = asError(thrown)
      if (error instanceof BodyError && error.problem === 'too large')
        throw new TooLargeError('refused', { doing, happened: 'the response is too large' })
      if (signal.aborted || (error instanceof SourceError && error.timeout))
        throw new NodeTimeoutError('unreachable', { doing, happened: 'request timed out' })
      const happened = describeTlsError(error) ?? `no connection (${errorCode(error, error.name)})`
      throw new IngestError('unreachable', { doing, happened })
    }
  }
}

const retryAfterOf = ({ headers }: IncomingMessage): number | null => {
  const retryAfter = headers['retry-after']
  return retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : null
}

const parseAddress = (text: string): URL => {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text)
  throw new ConfigError(
    `Invalid JSON-RPC address of the node: ${redactUrl(text)}\n  what to do: use the form http://host:port`,
  )
}

export type NodeTimer = ReturnType<typeof createNodeTimer>

/** Measures how long the node works for the ingest. */
export const createNodeTimer = (request: SendRequest, clock: Clock) => {
  let total = 0
  return {
    send: async (rpcRequest: RpcRequest, signal: AbortSignal): Promise<RpcResponse> => {
      const startedAt = clock.elapsed()
      try {
        return await request(rpcRequest, signal)
      } finally {
        total += clock.elapsed() - startedAt
      }
    },
    /** Total time from each request to the end of its response or failure, in milliseconds. */
    total: () => total,
  }
}
