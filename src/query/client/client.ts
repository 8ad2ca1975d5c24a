import { isObject, tryJson } from '../../core/json.ts'
import { minute } from '../../core/units.ts'
import { createEndpoint } from './endpoint.ts'
import { createErrorFactory, type ErrorFactory } from './errors.ts'
import { sharedLimiter } from './limiter.ts'
import {
  backoffMs,
  type Counters,
  createSendRequest,
  newCounters,
  retryOnProtocolError,
  type SendRequest,
} from './request.ts'
import { runQuery } from './run.ts'
import { createTransport } from './transport.ts'
import { type ClientOptions, DEFAULT_RETRIES, DEFAULT_TIMEOUT_MS, type QueryClient } from './types.ts'
import { parseInteger } from './wire-format.ts'

/** How long the highest height that the service reported is kept. */
const HEIGHT_LIFETIME_MS = minute
const DEFAULT_MAX_BYTES = 256 * 1024 * 1024

/** A client of one query service. Throws ConfigError for an invalid address or header, QueryError('auth') for an invalid key. */
export const createQueryClient = (options: ClientOptions): QueryClient => {
  const { url, apiKey, header, clock } = options
  const endpoint = createEndpoint({ url, apiKey, header })
  const sendRequest = createSendRequest({
    transport: createTransport({
      endpoint,
      clock,
      timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      maxBytes: options.maxBodyBytes ?? DEFAULT_MAX_BYTES,
    }),
    limiter: sharedLimiter(clock, endpoint.url.host, apiKey),
    clock,
    retries: options.retries ?? DEFAULT_RETRIES,
    isLoopback: isLoopback(endpoint.url.hostname),
    onRetry: options.onRetry ?? (() => undefined),
  })
  const queryError = createErrorFactory('ask the query service for its height', endpoint)
  /** Several instances may serve one address: the highest height counts, even if another instance is behind. */
  let highest: { readonly height: number; readonly at: number } | undefined
  const readHeight = async (signal: AbortSignal, counters: Counters) => {
    const current = await retryOnProtocolError(
      () => requestHeight(sendRequest, { queryError, counters, signal }),
      () => clock.sleep(backoffMs(1), signal),
    )
    const isOld = !highest || clock.elapsed() - highest.at > HEIGHT_LIFETIME_MS
    if (!highest || isOld || current >= highest.height) {
      highest = { height: current, at: clock.elapsed() }
    }
    return { current, highest: highest.height }
  }
  return {
    redact: endpoint.redact,
    height: async (signal) => (await readHeight(signal, newCounters())).current,
    run: (query, sink, runOptions) =>
      runQuery(
        {
          sendRequest,
          clock,
          queryError: createErrorFactory('fetch logs from the query service', endpoint),
          highestHeight: async (signal, counters) => (await readHeight(signal, counters)).highest,
          currentHeight: async (signal, counters) => (await readHeight(signal, counters)).current,
        },
        { query, sink, options: runOptions },
      ),
  }
}

interface HeightRequest {
  readonly queryError: ErrorFactory
  readonly counters: Counters
  readonly signal: AbortSignal
}

const requestHeight = async (sendRequest: SendRequest, request: HeightRequest): Promise<number> => {
  const { queryError } = request
  const response = await sendRequest({ ...request, path: 'height', body: null })
  if (typeof response === 'string') throw queryError('fatal', 'the response is too large')
  const text = response.toString('utf8')
  const value = tryJson(text)
  if (!isObject(value) || !('height' in value)) {
    throw queryError('protocol', 'the response is not a height', text)
  }
  if (value['height'] === null) throw queryError('no-data', 'it has no blocks yet')
  const height = parseInteger(value['height'])
  if (height === undefined) throw queryError('protocol', 'the response is not a height', text)
  return height
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.')
