import { minute } from '../../core/units.ts'
import { type Ask, createAsk, twice } from './ask.ts'
import { backoff } from './backoff.ts'
import { createBase } from './base.ts'
import { type Counters, newCounters } from './counters.ts'
import { isObject } from './envelope.ts'
import { parseInteger } from './integers.ts'
import { sharedLimiter } from './limiter.ts'
import { runQuery } from './run.ts'
import { createTell, type Tell } from './tell.ts'
import { createTransport } from './transport.ts'
import {
  type ClientOptions,
  DEFAULT_RETRIES,
  DEFAULT_TIMEOUT_MS,
  type QueryClient,
} from './types.ts'

const HEARD_FOR = minute
const MAX_BYTES = 256 * 1024 * 1024

/** A client of one query service. Throws ConfigError where the address can not be used, QueryError('auth') where the key can not. */
export const createQueryClient = (options: ClientOptions): QueryClient => {
  const { url, apiKey, header, clock } = options
  const base = createBase({ url, apiKey, header })
  const exchange = createTransport({
    base,
    clock,
    timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxBytes: options.maxBodyBytes ?? MAX_BYTES,
  })
  const limiter = sharedLimiter(clock, base.url.host, apiKey)
  const ask = createAsk({
    exchange,
    limiter,
    clock,
    retries: options.retries ?? DEFAULT_RETRIES,
    isLoopback: isLoopback(base.url.hostname),
    onRetry: options.onRetry ?? (() => undefined),
  })
  const tell = createTell('ask the query service for its height', base)
  const height = async (signal: AbortSignal, counters: Counters): Promise<number> =>
    twice(
      () => askHeight(ask, { tell, counters, signal }),
      () => clock.sleep(backoff(1), signal),
    )
  /** Several instances answer for one service: what one of them has told is not taken back by another that is behind. */
  let heard: { readonly height: number; readonly at: number } | undefined
  const listen = async (signal: AbortSignal, counters: Counters) => {
    const told = await height(signal, counters)
    const isOld = !heard || clock.elapsed() - heard.at > HEARD_FOR
    if (!heard || isOld || told >= heard.height) heard = { height: told, at: clock.elapsed() }
    return { told, highest: heard.height }
  }
  return {
    redact: base.redact,
    height: async (signal) => (await listen(signal, newCounters())).told,
    run: (query, sink, runOptions) =>
      runQuery(
        {
          ask,
          clock,
          tell: createTell('fetch logs from the query service', base),
          height: async (signal, counters) => (await listen(signal, counters)).highest,
          told: async (signal, counters) => (await listen(signal, counters)).told,
        },
        { query, sink, options: runOptions },
      ),
  }
}

interface Asking {
  readonly tell: Tell
  readonly counters: Counters
  readonly signal: AbortSignal
}

const askHeight = async (ask: Ask, asking: Asking): Promise<number> => {
  const { tell } = asking
  const came = await ask({ ...asking, path: 'height', body: null })
  if (typeof came === 'string') throw tell('fatal', 'it answered with more than a height')
  const text = came.toString('utf8')
  const answer = parse(text)
  if (!isObject(answer) || !('height' in answer)) {
    throw tell('protocol', 'what came is no height', text)
  }
  if (answer['height'] === null) throw tell('no-data', 'it has no blocks yet')
  const height = parseInteger(answer['height'])
  if (height === undefined) throw tell('protocol', 'what came is no height', text)
  return height
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host.startsWith('127.')

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
