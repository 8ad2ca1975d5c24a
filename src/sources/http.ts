import type { Clock } from '../core/clock.ts'
import { excerpt, SourceError } from '../core/errors.ts'
import { redactUrl } from '../core/redact.ts'

/** Why there was no answer: nobody listens (or the connection was cut), or nobody spoke in time. */
export type Silence = 'refused' | 'timeout'

export interface Answer {
  readonly status: number
  readonly text: string
}

/** A request that got no answer. */
export class SilenceError extends SourceError {
  readonly silence: Silence
  /** Why there was no connection: the code of the system, where it told one. */
  readonly detail: string
  constructor(silence: Silence, url: string, detail: string) {
    const happened = silence === 'timeout' ? 'no answer in time' : `no connection (${detail})`
    super({ doing: `ask ${redactUrl(url)}`, happened }, { timeout: silence === 'timeout' })
    this.silence = silence
    this.detail = detail
  }
}

export interface Request {
  readonly url: string
  readonly init?: { readonly method: 'POST'; readonly body: string }
  /** A key that is sent as `Authorization: Bearer`. */
  readonly bearer?: string
  /** The type of answer that is wanted; JSON by default. */
  readonly accept?: string
  /** In milliseconds, for the whole answer. */
  readonly timeout: number
  readonly signal: AbortSignal
}

/** Asks over HTTP and reads a bounded answer. Throws a SilenceError when there is none. */
export type Ask = (request: Request) => Promise<Answer>

/** A block with every transaction hash stays well below; more is not an answer to what we ask. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

export const createAsk =
  (clock: Clock): Ask =>
  async ({ url, init, bearer, accept = 'application/json', timeout, signal }) => {
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
    try {
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
        signal: cancel.signal,
      })
      return { status: response.status, text: await readBody(response) }
    } catch (error) {
      throw new SilenceError(cancel.signal.aborted ? 'timeout' : 'refused', url, detailOf(error))
    } finally {
      signal.removeEventListener('abort', stop)
      answered.abort()
    }
  }

/** `fetch` refuses an address with a user and a password in it. */
const splitCredentials = (text: string) => {
  const url = new URL(text)
  const { username, password } = url
  if (username === '' && password === '') return { address: text, authorization: undefined }
  const words = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  url.username = ''
  url.password = ''
  return { address: url.href, authorization: `Basic ${Buffer.from(words).toString('base64')}` }
}

const readBody = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  const body: AsyncIterable<Uint8Array> | readonly Uint8Array[] = response.body ?? []
  for await (const chunk of body) {
    size += chunk.length
    // What is cut here is no JSON any more, and will be told as an invalid answer.
    if (size > MAX_BODY_BYTES) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** `fetch` says only "fetch failed"; the code that tells why is in the cause. */
const detailOf = (error: unknown): string => {
  const cause = error instanceof Error ? (error.cause ?? error) : undefined
  if (!(cause instanceof Error)) return 'broken off'
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : excerpt(cause.message)
}
