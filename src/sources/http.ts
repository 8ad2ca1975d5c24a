import type { IncomingMessage } from 'node:http'
import { withinBounds } from '../core/bounds.ts'
import { type Clock, linkAbort } from '../core/clock.ts'
import { asError, errorCode, excerpt, ParseError, SourceError } from '../core/errors.ts'
import { size } from '../core/format.ts'
import { redactUrl } from '../core/redaction/redact.ts'
import type { Certificates } from './certificates.ts'
import {
  BodyError,
  describeRedirect,
  describeTlsError,
  isRedirect,
  readBody,
  sendRequest,
  TLS_ADVICE,
} from './http-exchange.ts'

export interface HttpResponse {
  readonly status: number
  readonly text: string
  /** The Content-Type header; null if the response has none. */
  readonly contentType?: string | null
  /** The Date header, in milliseconds since the epoch; null if the response has none. */
  readonly date?: number | null
}

export class NoResponseError extends SourceError {
  /** The system error code of a failed connection, if there is one. */
  readonly detail: string
  /** The connection was refused or cut, or the request timed out. */
  constructor(silence: 'refused' | 'timeout', url: string, failure: Error | string) {
    const detail = typeof failure === 'string' ? failure : errorCode(failure, excerpt(failure.message))
    const untrusted = typeof failure === 'string' ? undefined : describeTlsError(failure)
    const answer = failure instanceof RedirectError || failure instanceof BodyError ? failure.message : undefined
    const happened =
      silence === 'timeout' ? 'no response in time' : (untrusted ?? answer ?? `no connection (${detail})`)
    const advice = untrusted === undefined ? undefined : TLS_ADVICE
    super({ doing: `request ${redactUrl(url)}`, happened, advice }, { timeout: silence === 'timeout' })
    this.detail = detail
  }
}

export interface HttpRequest {
  readonly url: string
  /** `contentType`: JSON by default. */
  readonly init?: { readonly method: 'POST'; readonly body: string; readonly contentType?: string }
  /** An API key, sent as `Authorization: Bearer`. */
  readonly bearer?: string
  /** The Accept header; JSON by default. */
  readonly accept?: string
  /** Connects to this Unix socket. GET only. */
  readonly socketPath?: string
  /** For the complete response, in milliseconds. */
  readonly timeout: number
  /** The most bytes of the response, after decompression: one of `LIMITS.response`. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/** A document that a request sends. */
export const posted = (document: unknown) => ({ init: { method: 'POST', body: JSON.stringify(document) } }) as const

/**
 * Sends an HTTP request and reads a response of limited size. Throws a NoResponseError if there is none, and a ParseError
 * for a response with status 200 that is longer. Of a longer response with another status, the beginning is returned.
 */
export type SendRequest = (request: HttpRequest) => Promise<HttpResponse>

export const createHttpClient =
  (clock: Clock, ca?: readonly string[], certificates?: Certificates): SendRequest =>
  async ({ url, init, bearer, accept = 'application/json', socketPath, timeout, maxBytes, signal }) => {
    const linked = linkAbort(signal)
    void clock.sleep(timeout, linked.signal).then(linked.abort)
    try {
      const message = await sendRequest({
        url: new URL(url),
        ...(socketPath !== undefined && { socketPath }),
        headers: {
          accept,
          ...(init?.contentType !== undefined && { 'content-type': init.contentType }),
          ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        },
        body: init?.body ?? null,
        ca,
        certificates,
        signal: linked.signal,
      })
      return await readResponse(message, url, maxBytes)
    } catch (thrown) {
      const error = asError(thrown)
      if (isTooLarge(error))
        throw new ParseError(`the response of ${redactUrl(url)}`, `at most ${size(maxBytes)}`, 'a longer response')
      throw new NoResponseError(linked.signal.aborted ? 'timeout' : 'refused', url, error)
    } finally {
      linked.abort()
    }
  }

const isTooLarge = (error: Error): boolean => error instanceof BodyError && error.problem === 'too large'

class RedirectError extends Error {}

/** Of the form that HTTP servers send; another one could be a time that no Date has. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

const readResponse = async (message: IncomingMessage, url: string, maxBytes: number): Promise<HttpResponse> => {
  const { statusCode: status = 0, headers } = message
  if (isRedirect(message)) throw new RedirectError(describeRedirect(message, new URL(url)))
  const date = HTTP_DATE.test(headers.date ?? '') ? Date.parse(headers.date ?? '') : Number.NaN
  const bytes = await readBody(message, { bytes: maxBytes, beyond: status === 200 ? 'fail' : 'truncate' })
  return {
    status,
    contentType: headers['content-type'] ?? null,
    date: withinBounds('unixMilliseconds', date),
    text: bytes.toString('utf8'),
  }
}
