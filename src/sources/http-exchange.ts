import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import type { Clock } from '../core/clock.ts'
import { asError, errorCode } from '../core/errors.ts'
import { plainText, redactUrl } from '../core/redaction/redact.ts'
import { minute } from '../core/units.ts'
import type { Certificates } from './certificates.ts'

interface OutgoingRequest {
  readonly url: URL
  /** Default: that of Node.js, which keeps an unused connection for five seconds. */
  readonly agent?: HttpAgent
  readonly socketPath?: string
  /** In lower case; these take precedence over those of every request. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent by POST as JSON; null for GET. */
  readonly body: string | null
  /** Certificates of authorities to trust, in PEM, in place of those that Node.js trusts. */
  readonly ca?: readonly string[] | undefined
  /** Records when the certificate of the server ends. */
  readonly certificates?: Certificates | undefined
  readonly signal: AbortSignal
}

/**
 * Sends one request and returns the response when its headers are read. The server may have closed an unused connection
 * in the meantime: then the request is sent once more on a new one. Does not follow redirects: an API key must not reach
 * another host.
 */
export const sendRequest = async (outgoing: OutgoingRequest, mayRetry = true): Promise<IncomingMessage> => {
  const { url, socketPath, headers, body, ca, certificates, signal } = outgoing
  const agent = certificates?.agentFor(url) ?? outgoing.agent
  const requestOf = url.protocol === 'https:' ? requestHttps : requestHttp
  const request = requestOf(url, {
    ...(socketPath !== undefined && { socketPath }),
    ...(agent && { agent }),
    ...(ca && { ca: [...ca] }),
    // Also with NODE_TLS_REJECT_UNAUTHORIZED=0, which would send an API key to any server.
    rejectUnauthorized: true,
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
  })
  // Not the option `signal`, which observes the end of each stream.
  const abort = (): void => void request.destroy(asError(signal.reason))
  signal.addEventListener('abort', abort)
  request.once('close', () => {
    signal.removeEventListener('abort', abort)
  })
  if (signal.aborted) abort()
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request
        .on('response', resolve)
        .on('error', reject)
        .end(body ?? undefined)
    })
    certificates?.record(url, request)
    return response
  } catch (error) {
    if (!mayRetry || !request.reusedSocket || signal.aborted) throw error
    return await sendRequest(outgoing, false)
  }
}

const TLS = /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH)/

/** What the codes and texts of OpenSSL mean, which differ between versions of Node.js. */
const TLS_ERRORS: readonly (readonly [RegExp, string])[] = [
  [/has expired/, 'its certificate has expired'],
  [/not yet valid/, 'its certificate is not valid yet'],
  [/altname invalid|hostname mismatch/, 'its certificate is for another host name'],
  [/self signed|unable to/, 'its certificate is self-signed, or of an authority that this host does not trust'],
  [/unsupported protocol|protocol version|version too low/, 'it offers only a version of TLS before 1.2'],
  [/wrong version number|packet length|http request/, 'this port does not use TLS'],
]

/** Why TLS did not connect; undefined for another error. */
export const describeTlsError = (error: Error): string | undefined => {
  const code = errorCode(error, '')
  if (!TLS.test(code)) return undefined
  const text = `${code} ${error.message}`.toLowerCase().replaceAll(/[_-]/g, ' ')
  const [, reason = code] = TLS_ERRORS.find(([pattern]) => pattern.test(text)) ?? []
  return `no trusted connection: ${reason}`
}

export const TLS_ADVICE =
  'check the scheme, the host name and the port of the address, and the clock of this host; for an authority of your own set NODE_EXTRA_CA_CERTS to its file'

const MAX_TARGET = 200

/** Where a response redirects to, without what may be a secret, or its status if it has no usable address. */
export const describeRedirect = ({ statusCode, headers: { location } }: IncomingMessage, base: URL): string =>
  location !== undefined && URL.canParse(location, base.href)
    ? `it redirects to ${redactUrl(new URL(location, base).href).slice(0, MAX_TARGET)}: set that address, unless it is a sign-in page`
    : `it answers with HTTP status ${statusCode}`

export const isRedirect = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 300 && statusCode < 400

/** The limits of a body. They apply before anything parses it. */
export interface BodyLimits {
  /** The most bytes, both as received and after decompression. */
  readonly bytes: number
  readonly beyond: 'fail' | 'truncate'
}

/** Characters of the name of a content-encoding. */
const MAX_ENCODING = 40

/** Why a response that was received has no usable body. Other failures are errors of the connection. */
export class BodyError extends Error {
  override name = 'BodyError'
  readonly problem: 'too large' | 'encoding' | 'compression'
  readonly code: string
  constructor(problem: BodyError['problem'], code: string) {
    super(
      problem === 'encoding'
        ? `the response has the content-encoding ${plainText(code, MAX_ENCODING)}, which was not requested`
        : problem === 'compression'
          ? `the response cannot be decompressed (${code})`
          : 'the response is larger than the limit',
    )
    this.problem = problem
    this.code = code
  }
}

/** Reads and decompresses a body. Throws a BodyError, or the error of the connection. */
export const readBody = async (message: IncomingMessage, { bytes, beyond }: BodyLimits): Promise<Buffer> => {
  const chunks: Buffer[] = []
  let size = 0
  try {
    const stream = decompressed(message, bytes)
    // An asynchronous iterator takes a quarter more time.
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > bytes) stream.destroy(tooLarge())
      else chunks.push(chunk)
    })
    await finished(stream)
  } catch (thrown) {
    const error = failureOf(thrown, message)
    if (beyond === 'fail' || !(error instanceof BodyError) || error.problem !== 'too large') throw error
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
}

/** An error that is not one of the connection is one of zlib: nothing is used of a body that is not complete. */
const failureOf = (thrown: unknown, message: IncomingMessage): Error => {
  const error = asError(thrown)
  const isOfConnection = message.errored !== null
  return error instanceof BodyError || isOfConnection
    ? error
    : new BodyError('compression', errorCode(error, error.name))
}

const tooLarge = (): BodyError => new BodyError('too large', 'ERR_BUFFER_TOO_LARGE')

/** In bytes. Larger than the default of zlib: fewer chunks take half the time. */
const CHUNK_SIZE = 262_144

/** The body without its Content-Encoding. Fails if more than `max` bytes are received, whatever they decompress to. */
const decompressed = (message: IncomingMessage, max: number): Readable => {
  const encoding = message.headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return message
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip'
  if (!isGzip && encoding !== 'br') throw new BodyError('encoding', encoding)
  const options = { chunkSize: CHUNK_SIZE }
  const decoder = isGzip ? createGunzip(options) : createBrotliDecompress(options)
  let received = 0
  message.on('data', (chunk: Buffer) => {
    received += chunk.length
    if (received > max) message.destroy(tooLarge())
  })
  return pipeline(message, decoder, () => undefined)
}

/** Only new connections use a new DNS record of the host, so connections are replaced after this time. */
const POOL_LIFETIME_MS = minute

/** Connections that are kept while they are unused, and closed after a minute. */
export const createPool = (protocol: string, clock: Clock) => {
  const create = () => ({ agent: createAgent(protocol), createdAt: clock.elapsed(), users: 0 })
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

/** Keeps connections; `maxSockets` at the same time. */
export const createAgent = (protocol: string, maxSockets = Number.POSITIVE_INFINITY): HttpAgent =>
  new (protocol === 'https:' ? HttpsAgent : HttpAgent)({ keepAlive: true, maxSockets })
