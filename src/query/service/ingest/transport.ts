import { Agent as HttpAgent, type IncomingMessage, request as askHttp } from 'node:http'
import { Agent as HttpsAgent, request as askHttps } from 'node:https'
import { type Clock } from '../../../core/clock.ts'
import { ConfigError } from '../../../core/errors.ts'
import { asError } from '../../../core/outcome.ts'
import { redactUrl } from '../../../core/redact.ts'
import { codeOf, OversizeError, readText } from './body.ts'
import { IngestError, LateError, TooLargeError } from './errors.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  /** What `Retry-After` says, in milliseconds. */
  readonly wait: number | null
}

/** Sends one request and brings its whole answer. Throws an IngestError where there is none. */
export type Post = (body: string, signal: AbortSignal) => Promise<Answer>

interface TransportOptions {
  readonly rpcUrl: string
  readonly clock: Clock
  /** In milliseconds, for the whole answer. */
  readonly timeout: number
  readonly maxBytes: number
}

/** One connection, kept open: the node is asked one thing at a time. */
export const createTransport = (options: TransportOptions): Post => {
  const { rpcUrl, clock, timeout } = options
  const url = checked(rpcUrl)
  const Agent = url.protocol === 'https:' ? HttpsAgent : HttpAgent
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return async (body, signal) => {
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
    const doing = `ask the node at ${redactUrl(rpcUrl)}`
    try {
      const message = await sendTwice({ url, agent, body, signal: cancel.signal })
      const text = await readText(message, options.maxBytes)
      return { status: message.statusCode ?? 0, text, wait: waitOf(message) }
    } catch (error) {
      if (error instanceof OversizeError) {
        const happened = 'the answer is larger than what is taken'
        throw new TooLargeError('refused', { doing, happened })
      }
      if (cancel.signal.aborted) {
        throw new LateError('unreachable', { doing, happened: 'no answer in time' })
      }
      const happened = `no connection (${codeOf(asError(error))})`
      throw new IngestError('unreachable', { doing, happened })
    } finally {
      signal.removeEventListener('abort', stop)
      answered.abort()
    }
  }
}

interface Sending {
  readonly url: URL
  readonly agent: HttpAgent
  readonly body: string
  readonly signal: AbortSignal
}

/** A connection that was kept open may have been closed by the other side just now: that says nothing of the node. */
const sendTwice = async (sending: Sending): Promise<IncomingMessage> => {
  let wasReused = false
  const onSent = (reused: boolean): void => {
    wasReused = reused
  }
  try {
    return await send(sending, onSent)
  } catch (error) {
    if (!wasReused || sending.signal.aborted) throw error
    return await send(sending, onSent)
  }
}

const send = async (
  { url, agent, body, signal }: Sending,
  onFailed: (wasReused: boolean) => void,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const ask = url.protocol === 'https:' ? askHttps : askHttp
    const headers = {
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'chain-agent',
    }
    const request = ask(url, { agent, signal, method: 'POST', headers }, resolve)
    request.on('error', (error) => {
      onFailed(request.reusedSocket)
      reject(error)
    })
    request.end(body)
  })

const waitOf = ({ headers }: IncomingMessage): number | null => {
  const said = headers['retry-after']
  return said !== undefined && /^\d{1,6}$/.test(said) ? Number(said) * 1000 : null
}

const checked = (text: string): URL => {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text)
  throw new ConfigError(
    `The address of the node's JSON-RPC can not be used: ${redactUrl(text)}\n  what to do: give it as http://host:port`,
  )
}
