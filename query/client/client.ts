import type { Clock } from '../../src/core/clock.ts'
import { reasonIn } from '../../src/core/error-body.ts'
import { isObject, tryJson } from '../../src/core/json.ts'
import { minute } from '../../src/core/units.ts'
import { type Deliver, fetchBulk, fetchTip, ReorgError } from './delivery.ts'
import { createEndpoint } from './transport.ts'
import { createErrorFactory, type ErrorFactory, QueryError } from './errors.ts'
import { createFetchPage } from './fetch-page.ts'
import type { CheckedPage } from './page.ts'
import { backoffMs, createSendRequest, retryOnProtocolError, type SendRequest } from './request.ts'
import {
  type ClientOptions,
  type Counters,
  newCounters,
  type QueryClient,
  type RunResult,
  UNSETTLED_BLOCKS,
} from './types.ts'
import { createRequestBody, isBlock, parseInteger } from './wire-format.ts'

/** How long the highest height that the service reported is kept. */
const HEIGHT_LIFETIME_MS = minute

/** A client of one query service, or of an RPC with `eth_queryLogs`. Throws QueryError('auth') for an invalid key. */
export const createQueryClient = (options: ClientOptions): QueryClient => {
  const { clock } = options
  const endpoint = createEndpoint(options)
  const sendRequest = createSendRequest(options, endpoint)
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
    run: createRun({
      sendRequest,
      clock,
      queryError: createErrorFactory('fetch logs from the query service', endpoint),
      readHeight,
    }),
  }
}

const requestHeight = async (
  sendRequest: SendRequest,
  request: Omit<Parameters<SendRequest>[0], 'path' | 'body'>,
): Promise<number> => {
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

/** At most 8: a service without progress gets at most ten requests in ten seconds, including those that were running. */
const CONCURRENCY = 4
const MAX_RESTARTS = 3
/** More than the number of pages between two pages that are compared. */
const MAX_HASHES = 1000

interface RunDependencies {
  readonly sendRequest: SendRequest
  readonly clock: Clock
  readonly queryError: ErrorFactory
  /** The height that the service reports now, and the highest that it reported in the last minute. */
  readonly readHeight: (signal: AbortSignal, counters: Counters) => Promise<{ current: number; highest: number }>
}

/** Fetches all pages of a query. Throws a QueryError, unless the signal ended the run. */
const createRun =
  ({ sendRequest, clock, queryError, readHeight }: RunDependencies): QueryClient['run'] =>
  async (query, sink, options) => {
    const { signal } = options
    const counters = newCounters()
    /** The block hashes that the service has reported. Two different hashes of one block mean a reorg. */
    const hashes = new Map<number, string>()
    if (options.after) hashes.set(options.after.block, options.after.hash)
    let from = options.from ?? query.fromBlock
    let through = from - 1
    let target = query.toBlock ?? through
    /** The highest `archive_height` of a page, which may be above `/height`; -1 without any. */
    let archiveHeight = -1
    /** The last block that no reorg can replace. */
    let settled = -1

    const fetchPage = createFetchPage({
      sendRequest,
      clock,
      queryError,
      counters,
      requestBody: createRequestBody(query),
      target: () => target,
      height: async (stop) => (await readHeight(stop, counters)).current,
    })
    const deliverOnce = async (page: CheckedPage): Promise<void> => {
      const { blockHashes } = page
      if (blockHashes.some(({ block, hash }) => (hashes.get(block) ?? hash) !== hash)) throw new ReorgError()
      const before = page.from - 1
      const isGuarded = hashes.has(before) && blockHashes.some(({ block }) => block === before)
      // The blocks before the page may have been replaced since they were fetched.
      const needsGuard =
        (Boolean(options.after) && page.from === options.from) || (page.from > query.fromBlock && before > settled)
      await sink.page(page)
      if (!isGuarded && needsGuard) counters.unguarded += 1
      for (const { block, hash } of blockHashes) hashes.set(block, hash)
      for (const block of hashes.keys()) {
        if (hashes.size <= MAX_HASHES) break
        hashes.delete(block)
      }
      counters.pages += 1
      counters.logs += page.count
      through = page.next - 1
      archiveHeight = Math.max(archiveHeight, page.archiveHeight ?? -1)
      const { logs, retries, waitedMs } = counters
      options.onProgress?.({ from, through, target, logs, retries, waitedMs })
    }
    /** A page that the sink rejects is fetched again; a second rejection is an error. */
    const deliver: Deliver = async (page, stop) => {
      try {
        await deliverOnce(page)
      } catch (error) {
        if (!(error instanceof QueryError) || error.kind !== 'protocol') throw error
        counters.retries += 1
        for (let first = page.from; first < page.next;) {
          const fetched = await fetchPage(first, page.next - 1, stop)
          await deliverOnce(fetched)
          first = fetched.next
        }
      }
    }

    const fetchToTarget = async (height: number): Promise<void> => {
      settled = height - UNSETTLED_BLOCKS
      const end = Math.min(target, settled)
      const bulk = { from: through + 1, end, concurrency: CONCURRENCY, fetchPage, deliver, signal }
      if (through < end) await fetchBulk(bulk)
      const tip = { from: through + 1, end: target, fetchPage, deliver, counters }
      await fetchTip({ ...tip, clock, queryError, signal })
    }

    const fetchWithRestarts = async (height: number): Promise<void> => {
      for (let restarts = 0; ; restarts += 1) {
        try {
          await fetchToTarget(height)
          return
        } catch (error) {
          if (!(error instanceof ReorgError)) throw error
        }
        counters.reorgs += 1
        if (restarts === MAX_RESTARTS) throw queryError('no-progress', 'its old blocks are replaced again and again')
        await sink.reset()
        hashes.clear()
        Object.assign(counters, { pages: 0, logs: 0, unguarded: 0 })
        from = query.fromBlock
        through = from - 1
      }
    }

    const fetchAll = async (): Promise<void> => {
      const { highest: height } = await readHeight(signal, counters)
      const last = query.toBlock ?? height
      target = Math.min(last, height)
      if (options.from === undefined && query.fromBlock > height) {
        const evidence = `it has the blocks up to ${height}; the query begins at ${query.fromBlock}`
        throw queryError('no-data', 'it does not have the first block yet', evidence)
      }
      await fetchWithRestarts(height)
      if (archiveHeight <= target || target >= last) return
      target = Math.min(last, archiveHeight)
      await fetchWithRestarts(Math.max(height, archiveHeight))
    }

    const result = (complete: boolean): RunResult => ({
      complete,
      from,
      through,
      target,
      toBlock: query.toBlock,
      stats: { ...counters },
    })
    try {
      await fetchAll()
      return result(true)
    } catch (error) {
      if (signal.aborted) return result(false)
      throw error
    }
  }
