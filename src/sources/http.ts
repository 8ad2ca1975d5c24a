import { type IncomingMessage, request } from 'node:http'
import { type Clock, linkAbort } from '../core/clock.ts'
import { errorCode, excerpt, SourceError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import { redactUrl } from '../core/redaction/redact.ts'

/** Why there was no response: the connection was refused or cut, or the request timed out. */
export type NoResponseReason = 'refused' | 'timeout'

export interface HttpResponse {
  readonly status: number
  readonly text: string
  /** The Content-Type header; null if the response has none. */
  readonly contentType?: string | null
  /** The first bytes of the body, which a text does not show if they are not UTF-8. */
  readonly firstBytes?: Uint8Array
}

/** A request without a response. */
export class NoResponseError extends SourceError {
  readonly silence: NoResponseReason
  /** The system error code of a failed connection, if there is one. */
  readonly detail: string
  constructor(silence: NoResponseReason, url: string, detail: string) {
    const happened = silence === 'timeout' ? 'no response in time' : `no connection (${detail})`
    super({ doing: `request ${redactUrl(url)}`, happened }, { timeout: silence === 'timeout' })
    this.silence = silence
    this.detail = detail
  }
}

export interface HttpRequest {
  readonly url: string
  readonly init?: { readonly method: 'POST'; readonly body: string }
  /** An API key, sent as `Authorization: Bearer`. */
  readonly bearer?: string
  /** The Accept header; JSON by default. */
  readonly accept?: string
  /** Connects to this Unix socket. GET only. */
  readonly socketPath?: string
  /** For the complete response, in milliseconds. */
  readonly timeout: number
  readonly signal: AbortSignal
}

/** Sends an HTTP request and reads a response of limited size. Throws a NoResponseError if there is none. */
export type SendRequest = (request: HttpRequest) => Promise<HttpResponse>

export const createHttpClient =
  (clock: Clock): SendRequest =>
  async ({ url, init, bearer, accept = 'application/json', socketPath, timeout, signal }) => {
    const linked = linkAbort(signal)
    void clock.sleep(timeout, linked.signal).then(linked.abort)
    try {
      if (socketPath !== undefined) return await requestOverSocket({ socketPath, url, accept }, linked.signal)
      const { address, authorization } = splitCredentials(url)
      const response = await fetch(address, {
        ...init,
        headers: {
          accept,
          ...(init && { 'content-type': 'application/json' }),
          ...(authorization !== undefined && { authorization }),
          ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        },
        redirect: 'error',
        signal: linked.signal,
      })
      const contentType = response.headers.get('content-type')
      return { status: response.status, contentType, ...(await readBody(response.body ?? [])) }
    } catch (error) {
      throw new NoResponseError(linked.signal.aborted ? 'timeout' : 'refused', url, detailOf(error))
    } finally {
      linked.abort()
    }
  }

/** `fetch` rejects a URL that contains a user and password. */
const splitCredentials = (text: string) => {
  const url = new URL(text)
  const { username, password } = url
  if (username === '' && password === '') return { address: text, authorization: undefined }
  const words = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  url.username = ''
  url.password = ''
  return { address: url.href, authorization: `Basic ${Buffer.from(words).toString('base64')}` }
}

/** `fetch` cannot connect to a Unix socket. */
const requestOverSocket = async (
  { socketPath, url, accept }: Required<Pick<HttpRequest, 'socketPath' | 'url' | 'accept'>>,
  signal: AbortSignal,
): Promise<HttpResponse> => {
  const { host, pathname, search } = new URL(url)
  const sent = request({ socketPath, path: `${pathname}${search}`, headers: { host, accept }, agent: false, signal })
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end()
  })
  return { status: response.statusCode ?? 0, ...(await readBody(response)) }
}

const FIRST_BYTES = 8

const readBody = async (
  body: AsyncIterable<Uint8Array> | readonly Uint8Array[],
): Promise<Pick<HttpResponse, 'text' | 'firstBytes'>> => {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    // A truncated body is not valid JSON and is reported as an invalid response.
    if (size > LIMITS.http.bodyBytes) break
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  // A copy: a view would keep the complete body in memory.
  return { text: bytes.toString('utf8'), firstBytes: new Uint8Array(bytes.subarray(0, FIRST_BYTES)) }
}

/** The message of `fetch` is only "fetch failed"; the reason is the code of its cause. */
const detailOf = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined
  if (!(cause instanceof Error)) return 'connection lost'
  return errorCode(cause, excerpt(cause.message))
}
