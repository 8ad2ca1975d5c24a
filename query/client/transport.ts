import type { IncomingMessage } from 'node:http'
import { linkAbort } from '../../src/core/clock.ts'
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
import { REDACTED, redactUrl } from '../../src/core/redaction/redact.ts'
import { QueryError } from './errors.ts'
import { type ClientOptions, DEFAULT_TIMEOUT_MS } from './types.ts'

export type Endpoint = ReturnType<typeof createEndpoint>

/** The address of a query service and its API key. Throws a QueryError('auth') for an invalid key. Sends nothing. */
export const createEndpoint = ({ url: address, apiKey, header }: Pick<ClientOptions, 'url' | 'apiKey' | 'header'>) => {
  const url = new URL(address)
  return {
    url,
    /** The address without anything that may be a secret, for error messages. */
    shown: redactUrl(url.href),
    /** The header with the API key; empty without a key. */
    headers: apiKey === null ? {} : keyHeader(checkKey(apiKey), header),
    /** Redacts the API key in a response, in every encoding in which a service may return it. */
    redact: createRedactor([...(apiKey === null ? [] : encodingsOf(checkKey(apiKey))), ...secretPathPartsOf(url)]),
  }
}

/** The URL of `path` below the address, which may have a path prefix; for `rpc` the address. */
const urlOf = (base: URL, path: 'query' | 'height' | 'rpc'): URL => {
  const url = new URL(base)
  if (path === 'rpc') return url
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`
  return url
}

const checkKey = (text: string): string => {
  const key = text.trim()
  if (key === '') throw invalidKey('it is empty')
  if (!/^[\x21-\x7e]+$/.test(key)) throw invalidKey('it contains a space or a character that is not printable ASCII')
  return key
}

const invalidKey = (why: string): QueryError =>
  new QueryError('auth', {
    doing: 'use the API key',
    happened: why,
    advice: 'set the key of the query service and nothing else',
  })

const keyHeader = (key: string, header = 'authorization'): Readonly<Record<string, string>> => {
  const name = header.toLowerCase()
  return { [name]: name === 'authorization' ? `Bearer ${key}` : key }
}

const encodingsOf = (key: string): readonly string[] => [
  key,
  ...(['base64', 'base64url'] as const).flatMap((encoding) => [
    Buffer.from(key).toString(encoding).replace(/=+$/, ''),
    Buffer.from(`Bearer ${key}`).toString(encoding).replace(/=+$/, ''),
  ]),
  Buffer.from(key).toString('hex'),
]

/** Parts of a path of at least this length may be an API key. */
const KEY_LENGTH = 8

/** Some services have the API key in the path of their address. */
const secretPathPartsOf = ({ pathname }: URL): readonly string[] => {
  const path = pathname.replace(/\/+$/, '')
  const parts = path.split('/').filter((part) => part.length >= KEY_LENGTH)
  const all = [...(path === '' ? [] : [path]), ...parts]
  return [...all, ...all.map(decoded)]
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** In characters. Error messages show only the beginning of a response; the rest, which may be long, is not searched. */
const SEARCHED_LENGTH = 65_536

/** Redacts a secret in every notation of its characters: plain, escaped, separated by spaces. */
const createRedactor = (secrets: readonly string[]) => {
  // The longest first: otherwise a part would be redacted inside a longer secret and the rest would remain.
  const all = [...new Set(secrets)].toSorted((one, other) => other.length - one.length)
  const any = new RegExp(all.map((secret) => [...secret].map(anyNotationOf).join(String.raw`\s*`)).join('|'), 'gi')
  return (text: string): string => {
    const beginning = text.slice(0, SEARCHED_LENGTH)
    return all.length === 0 ? beginning : beginning.replaceAll(any, REDACTED)
  }
}

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

const anyNotationOf = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16)
  const plain = character.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)
  const notations = [
    String.raw`\\?${plain}`,
    `%${hex.padStart(2, '0')}`,
    String.raw`\\u0*${hex}`,
    String.raw`\\x0*${hex}`,
    `&#0*${code};?`,
    `&#x0*${hex};?`,
    ...(HTML_ENTITIES[character] === undefined ? [] : [HTML_ENTITIES[character]]),
  ]
  return `(?:${notations.join('|')})`
}

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

/** The largest page, compressed and decompressed. */
const DEFAULT_MAX_BYTES = 128 * 1024 * 1024

export const createTransport = (endpoint: Endpoint, options: ClientOptions): Transport => {
  const { clock, timeoutMs = DEFAULT_TIMEOUT_MS, maxBodyBytes = DEFAULT_MAX_BYTES } = options
  const pool = createPool(endpoint.url.protocol, clock)
  return async (path, body, signal) => {
    const linked = linkAbort(signal)
    void clock.sleep(timeoutMs, linked.signal).then(linked.abort)
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
      return await readReply(message, path === 'height' ? LIMITS.response.valueBytes : maxBodyBytes)
    } catch (error) {
      // No part of an incomplete body is used.
      if (error instanceof BodyError)
        return { kind: error.problem === 'too large' ? 'shrink' : 'protocol', happened: error.message }
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
