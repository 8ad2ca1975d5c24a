import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isAscii } from 'node:buffer'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type Clock, withDeadline } from '../../../src/core/clock.ts'
import { asError, ConfigError, SourceError } from '../../../src/core/errors.ts'
import { redactUrl } from '../../../src/core/redaction/redact.ts'
import { IngestError, NodeTimeoutError, TooLargeError } from './errors.ts'

export interface RpcResponse {
  readonly status: number
  readonly text: string
  /** `Retry-After` in milliseconds. */
  readonly wait: number | null
}

/** Sends one request and reads the whole response. Throws an IngestError on failure. */
export type SendRequest = (body: string, signal: AbortSignal) => Promise<RpcResponse>

interface TransportOptions {
  readonly rpcUrl: string
  readonly clock: Clock
  /** For the whole response, in milliseconds. */
  readonly timeout: number
  readonly maxBytes: number
}

/** One persistent connection, since requests are sequential. */
export const createTransport = (options: TransportOptions): SendRequest => {
  const { rpcUrl, clock, timeout } = options
  const url = parseAddress(rpcUrl)
  const Agent = url.protocol === 'https:' ? HttpsAgent : HttpAgent
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return async (body, signal) => {
    const doing = `call the node at ${redactUrl(rpcUrl)}`
    try {
      return await withDeadline({ clock, signal }, timeout, async ({ signal: cancel }) => {
        const message = await send({ url, agent, body, signal: cancel })
        const text = await readText(message, options.maxBytes)
        return { status: message.statusCode ?? 0, text, wait: retryAfterOf(message) }
      })
    } catch (thrown) {
      const error = asError(thrown)
      if (error instanceof OversizeError || codeOf(error) === 'ERR_BUFFER_TOO_LARGE')
        throw new TooLargeError('refused', { doing, happened: 'the response is too large' })
      if (signal.aborted || (error instanceof SourceError && error.timeout))
        throw new NodeTimeoutError('unreachable', { doing, happened: 'request timed out' })
      throw new IngestError('unreachable', { doing, happened: `no connection (${codeOf(error)})` })
    }
  }
}

interface OutgoingRequest {
  readonly url: URL
  readonly agent: HttpAgent
  readonly body: string
  readonly signal: AbortSignal
}

/** The node may have closed an idle connection in the meantime, so one retry on a new connection follows. */
const send = async (outgoing: OutgoingRequest, mayRetry = true): Promise<IncomingMessage> => {
  const { url, agent, body, signal } = outgoing
  const requestBy = url.protocol === 'https:' ? requestHttps : requestHttp
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'chain-agent',
  }
  const request = requestBy(url, { agent, signal, method: 'POST', headers })
  try {
    return await new Promise((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end(body)
    })
  } catch (error) {
    if (!mayRetry || !request.reusedSocket || signal.aborted) throw error
    return await send(outgoing, false)
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

/** The response is larger than the limit. */
class OversizeError extends Error {
  override name = 'OversizeError'
}

/** Larger chunks halve the decompression time. */
const CHUNK = 262_144

const decompress = promisify(gunzip)

/** The decompressed response as text. Throws if the compressed or decompressed size exceeds `max` bytes. */
const readText = async (message: IncomingMessage, max: number): Promise<string> => {
  const bytes = await readBytes(message, max)
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? ''
  const isCompressed = encoding === 'gzip' || encoding === 'x-gzip'
  const body = isCompressed ? await decompress(bytes, { maxOutputLength: max, chunkSize: CHUNK }) : bytes
  // Decoding ASCII as latin1 is three times as fast; all responses but some errors are ASCII.
  return body.toString(isAscii(body) ? 'latin1' : 'utf8')
}

const readBytes = async (message: IncomingMessage, max: number): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  const stream: AsyncIterable<Buffer> = message
  for await (const chunk of stream) {
    size += chunk.length
    if (size > max) {
      message.destroy()
      throw new OversizeError()
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The system error code, or the name of the error if there is none. */
const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : error.name)

export type NodeTimer = ReturnType<typeof createNodeTimer>

/** Measures how long the node works for the ingest. */
export const createNodeTimer = (request: SendRequest, clock: Clock) => {
  let total = 0
  return {
    send: async (body: string, signal: AbortSignal): Promise<RpcResponse> => {
      const startedAt = clock.elapsed()
      try {
        return await request(body, signal)
      } finally {
        total += clock.elapsed() - startedAt
      }
    },
    /** Total time from each request to the end of its response or failure, in milliseconds. */
    total: () => total,
  }
}
