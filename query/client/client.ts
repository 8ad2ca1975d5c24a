import type { Clock } from '../../src/core/clock.ts'
import { reasonIn } from '../../src/core/error-body.ts'
import { excerpt } from '../../src/core/errors.ts'
import { isObject, tryJson } from '../../src/core/json.ts'
import { minute } from '../../src/core/units.ts'
import {
  type BlockHashIndex,
  createBlockHashIndex,
  createDeliver,
  type Deliver,
  fetchBulk,
  fetchTip,
  ReorgError,
} from './delivery.ts'
import { createEndpoint } from './endpoint.ts'
import { createErrorFactory, type ErrorFactory } from './errors.ts'
import { createFetchPage, type FetchPage } from './fetch-page.ts'
import { createServiceTransport } from './query-logs.ts'
import {
  backoffMs,
  type Counters,
  createSendRequest,
  newCounters,
  retryOnProtocolError,
  type SendRequest,
  sharedLimiter,
} from './request.ts'
import { createTransport } from './transport.ts'
import {
  type ClientOptions,
  DEFAULT_RETRIES,
  DEFAULT_TIMEOUT_MS,
  type LogQuery,
  type PageSink,
  type QueryClient,
  type RunOptions,
  type RunResult,
  UNSETTLED_BLOCKS,
} from './types.ts'
import { createRequestBody, isBlock, parseInteger } from './wire-format.ts'

/** How long the highest height that the service reported is kept. */
const HEIGHT_LIFETIME_MS = minute
const DEFAULT_MAX_BYTES = 128 * 1024 * 1024

/** A client of one query service, or of an RPC with `eth_queryLogs`. Throws ConfigError for an invalid address or header, QueryError('auth') for an invalid key. */
export const createQueryClient = (options: ClientOptions): QueryClient => {
  const { url, apiKey, header, clock } = options
  const endpoint = createEndpoint({ url, apiKey, header })
  const sendRequest = createSendRequest({
    transport: createServiceTransport(
      createTransport({
        endpoint,
        clock,
        timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        maxBytes: options.maxBodyBytes ?? DEFAULT_MAX_BYTES,
      }),
    ),
    limiter: sharedLimiter(clock, endpoint.url.host, apiKey),
    clock,
    retries: options.retries ?? DEFAULT_RETRIES,
    isLoopback: isLoopback(endpoint.url.hostname),
    onRetry: ({ evidence = '', ...retry }) =>
      options.onRetry?.({ ...retry, reported: excerpt(endpoint.redact(evidence)) }),
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
  if (typeof response === 'string') throw queryError('protocol', 'the response is too large for a height')
  const text = response.toString('utf8')
  const value = tryJson(text)
  if (!isObject(value) || !('height' in value)) {
    throw queryError('protocol', 'the response is not a height', reasonIn(text))
  }
  if (value['height'] === null) throw queryError('no-data', 'it has no blocks yet')
  const height = parseInteger(value['height'])
  if (height === undefined || !isBlock(height)) throw queryError('protocol', 'the response is not a height', text)
  return height
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.')

const DEFAULT_CONCURRENCY = 4
/** A service without progress gets at most ten requests in ten seconds, including those that were running. */
const MAX_CONCURRENCY = 8
const MAX_RESTARTS = 3

interface RunDependencies {
  readonly sendRequest: SendRequest
  readonly clock: Clock
  readonly queryError: ErrorFactory
  /** The highest height that the service reported in the last minute, including now. */
  readonly highestHeight: (signal: AbortSignal, counters: Counters) => Promise<number>
  /** The height that the service reports now. */
  readonly currentHeight: (signal: AbortSignal, counters: Counters) => Promise<number>
}

interface QueryRun {
  readonly query: LogQuery
  readonly sink: PageSink
  readonly options: RunOptions
}

/** The progress of a run. */
interface RunState {
  from: number
  through: number
  target: number
  /** The highest `archive_height` of a page, which may be above `/height`; -1 without any. */
  archiveHeight: number
  /** The last block that no reorg can replace. */
  settled: number
}

interface PreparedRun {
  readonly state: RunState
  readonly counters: Counters
  readonly hashes: BlockHashIndex
  readonly fetchPage: FetchPage
  readonly deliver: Deliver
}

/** Fetches all pages of a query. Throws a QueryError, unless the signal ended the run. */
const runQuery = async (dependencies: RunDependencies, run: QueryRun): Promise<RunResult> => {
  const { signal } = run.options
  const prepared = prepare(dependencies, run)
  const { state, counters } = prepared
  const result = (complete: boolean): RunResult => ({
    complete,
    from: state.from,
    through: state.through,
    target: state.target,
    toBlock: run.query.toBlock,
    stats: { ...counters },
  })
  try {
    await complete(dependencies, run, prepared)
    return result(true)
  } catch (error) {
    if (signal.aborted) return result(false)
    throw error
  }
}

const prepare = (
  { sendRequest, clock, queryError, currentHeight }: RunDependencies,
  { query, sink, options }: QueryRun,
): PreparedRun => {
  const from = options.from ?? query.fromBlock
  const state = { from, through: from - 1, target: query.toBlock ?? from - 1, archiveHeight: -1, settled: -1 }
  const counters = newCounters()
  const hashes = createBlockHashIndex()
  if (options.after) hashes.add([options.after])
  const fetchPage = createFetchPage({
    sendRequest,
    clock,
    queryError,
    counters,
    requestBody: createRequestBody(query),
    target: () => state.target,
    height: async (signal) => currentHeight(signal, counters),
  })
  const deliver = createDeliver({
    sink,
    hashes,
    fetchPage,
    counters,
    needsGuard: (page) =>
      (Boolean(options.after) && page.from === options.from) ||
      (page.from > query.fromBlock && page.from - 1 > state.settled),
    delivered: (page) => {
      state.through = page.next - 1
      state.archiveHeight = Math.max(state.archiveHeight, page.archiveHeight ?? -1)
      const { logs, retries, waitedMs } = counters
      const { through, target } = state
      options.onProgress?.({ from: state.from, through, target, logs, retries, waitedMs })
    },
  })
  return { state, counters, hashes, fetchPage, deliver }
}

const complete = async (dependencies: RunDependencies, run: QueryRun, prepared: PreparedRun): Promise<void> => {
  const { query, options } = run
  const { state, counters } = prepared
  const height = await dependencies.highestHeight(options.signal, counters)
  const last = query.toBlock ?? height
  state.target = Math.min(last, height)
  if (options.from === undefined && query.fromBlock > height) {
    const evidence = `it has the blocks up to ${height}; the query begins at ${query.fromBlock}`
    throw dependencies.queryError('no-data', 'it does not have the first block yet', evidence)
  }
  await fetchWithRestarts(dependencies, run, { prepared, height })
  const { archiveHeight } = state
  if (archiveHeight <= state.target || state.target >= last) return
  state.target = Math.min(last, archiveHeight)
  await fetchWithRestarts(dependencies, run, { prepared, height: Math.max(height, archiveHeight) })
}

interface FetchContext {
  readonly prepared: PreparedRun
  readonly height: number
}

const fetchWithRestarts = async (
  dependencies: RunDependencies,
  run: QueryRun,
  context: FetchContext,
): Promise<void> => {
  const { state, counters, hashes } = context.prepared
  for (let restarts = 0; ; restarts += 1) {
    try {
      await fetchToTarget(dependencies, run, context)
      return
    } catch (error) {
      if (!(error instanceof ReorgError)) throw error
    }
    counters.reorgs += 1
    if (restarts === MAX_RESTARTS) {
      throw dependencies.queryError('no-progress', 'its old blocks are replaced again and again')
    }
    await run.sink.reset()
    hashes.clear()
    counters.pages = 0
    counters.logs = 0
    counters.unguarded = 0
    state.from = run.query.fromBlock
    state.through = state.from - 1
  }
}

const fetchToTarget = async (
  { queryError, clock }: RunDependencies,
  { options }: QueryRun,
  { prepared, height }: FetchContext,
): Promise<void> => {
  const { signal } = options
  const { state, counters, fetchPage, deliver } = prepared
  const from = state.through + 1
  state.settled = height - UNSETTLED_BLOCKS
  const settled = Math.min(state.target, state.settled)
  const requested = Math.trunc(options.concurrency ?? DEFAULT_CONCURRENCY)
  // NaN becomes 1.
  const concurrency = Math.min(MAX_CONCURRENCY, Math.max(1, requested || 1))
  if (from <= settled) {
    await fetchBulk({ from, end: settled, concurrency, fetchPage, deliver, signal })
  }
  await fetchTip({
    from: state.through + 1,
    end: state.target,
    fetchPage,
    deliver,
    counters,
    clock,
    queryError,
    signal,
  })
}
