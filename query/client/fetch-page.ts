import pLimit from 'p-limit'
import { backoff, type Clock } from '../../src/core/clock.ts'
import { second } from '../../src/core/units.ts'
import { type ErrorFactory, QueryError } from './errors.ts'
import { type CheckedPage, readPage } from './page.ts'
import { backoffMs, retryOnProtocolError, type SendRequest, TIMEOUTS_BEFORE_SHRINKING } from './request.ts'
import type { Counters } from './types.ts'
import { MAX_PAGE_LOGS } from './wire-format.ts'

/** Returns one page that begins at `from` and covers at least that block and no block after `end`. Throws a QueryError. */
export type FetchPage = (from: number, end: number, signal: AbortSignal) => Promise<CheckedPage>

interface FetchPageOptions {
  readonly sendRequest: SendRequest
  readonly clock: Clock
  readonly queryError: ErrorFactory
  readonly counters: Counters
  readonly requestBody: (from: number, end: number) => string
  /** The last block of the run. */
  readonly target: () => number
  /** The height that the service reports now. */
  readonly height: (signal: AbortSignal) => Promise<number>
}

/** An attempt that checks the height sends two requests; the limit is ten requests in ten seconds. */
const HEIGHT_CHECK_WAIT_MS = 2.5 * second

/** After this many full ranges in a row the limit of blocks is doubled. */
const GROWS_AFTER = 8

export const createFetchPage = (options: FetchPageOptions): FetchPage => {
  const { sendRequest, clock, queryError, counters, requestBody } = options
  const guard = createNoProgressGuard(clock, queryError)
  /** The number of blocks for one request, after the service has rejected a request as too large. */
  let limit = Number.POSITIVE_INFINITY
  let fullRanges = 0
  const reported = { hasHeights: false, isNullUsual: false }
  return async (from, last, signal) => {
    /** Attempts at larger ranges from the same block that timed out. */
    let attempts = 0
    const send = async (end: number, body: string): Promise<CheckedPage | 'too large' | 'too slow'> => {
      const timeouts = { attempts, canShrink: end > from }
      const response = await sendRequest({ path: 'query', body, queryError, counters, signal, timeouts })
      if (typeof response === 'string') return response
      const page = readPage(response, { from, end }, queryError)
      return page.count > MAX_PAGE_LOGS ? 'too large' : page
    }
    /**
     * A service with an inclusive to_block returns one more block than requested, and that block may have been the large
     * one: requests the block without it.
     */
    const fetchBlockAlone = async (): Promise<CheckedPage | 'too large'> => {
      try {
        const page = await send(from, requestBody(from, from - 1))
        // For a service with an exclusive to_block that was an empty range: only a log or next_block proves the opposite.
        const isProven = typeof page === 'object' && (page.count > 0 || page.hasNextBlock)
        return isProven && page.next > from ? page : 'too large'
      } catch (error) {
        if (error instanceof QueryError && (error.kind === 'fatal' || error.kind === 'protocol')) return 'too large'
        throw error
      }
    }
    /** Undefined: the next attempt follows. */
    const attempt = async (endStall: () => void): Promise<CheckedPage | undefined> => {
      const end = Math.min(last, from + limit - 1)
      const answer = await retryOnProtocolError(
        () => send(end, requestBody(from, end)),
        async () => {
          counters.retries += 1
          await clock.sleep(backoffMs(1), signal)
        },
      )
      const fetched = answer === 'too large' && from === end ? await fetchBlockAlone() : answer
      if (fetched === 'too slow') attempts += TIMEOUTS_BEFORE_SHRINKING
      if (fetched === 'too large' || fetched === 'too slow') {
        if (from === end) throw queryError('fatal', 'the response for a single block is too large', `block ${from}`)
        limit = Math.min(limit, Math.floor((end - from + 1) / 2))
        fullRanges = 0
        return undefined
      }
      reported.hasHeights ||= fetched.archiveHeight !== null && fetched.archiveHeight >= 0
      reported.isNullUsual ||= fetched.nullHeight === 'proven'
      const noProgress =
        fetched.nullHeight === 'unproven' && !reported.isNullUsual
          ? { evidence: behind(-1, from), minWaitMs: 0, isAcceptable: !reported.hasHeights }
          : await noProgressOf(options, fetched, signal)
      const waitMs = noProgress && guard.failed(noProgress)
      if (waitMs !== undefined) {
        counters.retries += 1
        counters.waitedMs += waitMs
        return undefined
      }
      // An instance without blocks next to others would have been replaced by one of them.
      if (noProgress) reported.isNullUsual = true
      endStall()
      counters.bytes += fetched.body.length
      // Later blocks may have fewer logs.
      fullRanges = fetched.next - from >= limit ? fullRanges + 1 : 0
      if (fullRanges >= GROWS_AFTER) {
        limit *= 2
        fullRanges = 0
      }
      return fetched
    }
    for (;;) {
      const page = await guard.run(attempt, signal)
      if (page) return page
    }
  }
}

const behind = (reported: number, requested: number): string =>
  reported < 0
    ? `its archive_height is null, as if it has no blocks yet; block ${requested} was requested`
    : `it has the blocks up to ${reported}; block ${requested} was requested`

/** The reason why a page makes no progress; undefined if it makes progress. */
const noProgressOf = async (
  { target, height }: FetchPageOptions,
  { from, next, archiveHeight, isInferred }: CheckedPage,
  signal: AbortSignal,
): Promise<NoProgress | undefined> => {
  if (next > from) {
    if (!isInferred || next <= target()) return undefined
    // The response may be from an instance of the service that is behind.
    const reported = await height(signal)
    return reported >= target() ? undefined : { evidence: behind(reported, target()), minWaitMs: HEIGHT_CHECK_WAIT_MS }
  }
  const isBehind = archiveHeight !== null && archiveHeight < from
  const evidence = isBehind ? behind(archiveHeight, from) : `block ${from}, again and again`
  return { evidence, minWaitMs: 0 }
}

const FIRST_WAIT_MS = second / 10
const MAX_WAIT_MS = 5 * second
/** The error needs both: this number of responses without progress, and this time since the first of them. */
const MIN_ATTEMPTS = 8
const MIN_DURATION_MS = 10 * second

interface NoProgress {
  readonly evidence: string
  /** The shortest wait before the next attempt, in milliseconds. */
  readonly minWaitMs: number
  /** Whether the response is used if the service repeats it: with a null height and no block, it may be right. */
  readonly isAcceptable?: boolean
}

/**
 * Limits the requests to a service that responds without returning further blocks: one request at a time, with
 * increasing waits, then an error. However many ranges are fetched concurrently, there are at most ten requests in ten
 * seconds.
 */
const createNoProgressGuard = (clock: Clock, queryError: ErrorFactory) => {
  let failures = 0
  let firstAt = 0
  let nextAt = 0
  const oneAtATime = pLimit(1)
  return {
    /** Does an attempt. Only one that began after the stall may end it, after a response with progress. */
    run: async <T>(attempt: (endStall: () => void) => Promise<T>, signal: AbortSignal): Promise<T> => {
      if (failures === 0) return attempt(() => undefined)
      return oneAtATime(async () => {
        const wait = (): number => (failures > 0 && !signal.aborted ? nextAt - clock.elapsed() : 0)
        for (let ms = wait(); ms > 0; ms = wait()) await clock.sleep(ms, signal)
        return attempt(() => {
          failures = 0
        })
      })
    },
    /**
     * Call after a response without progress. Returns the wait in milliseconds; at the limit undefined for an acceptable
     * response. Throws QueryError('no-progress') for any other.
     */
    failed: ({ evidence, minWaitMs, isAcceptable = false }: NoProgress): number | undefined => {
      if (failures === 0) firstAt = clock.elapsed()
      failures += 1
      const ms = Math.max(minWaitMs, backoff(failures, FIRST_WAIT_MS, MAX_WAIT_MS))
      nextAt = clock.elapsed() + ms
      if (failures < MIN_ATTEMPTS || clock.elapsed() - firstAt < MIN_DURATION_MS) return ms
      if (isAcceptable) return undefined
      throw queryError('no-progress', 'it responds but returns no further blocks', evidence)
    },
  }
}
