import { backoff, type Clock } from '../../src/core/clock.ts'
import { duration } from '../../src/core/format.ts'
import { minute, second } from '../../src/core/units.ts'
import { type ErrorFactory, QueryError } from './errors.ts'
import { classifyResponse, type NextStep, rateLimitOf } from './next-step.ts'
import type { Headers, Transport } from './transport.ts'
import type { QueryStats, Retry } from './types.ts'

/** The statistics of a run, counted while it runs. */
export type Counters = { -readonly [Name in keyof QueryStats]: number }

export const newCounters = (): Counters => ({
  pages: 0,
  logs: 0,
  bytes: 0,
  requests: 0,
  retries: 0,
  waitedMs: 0,
  reorgs: 0,
  unguarded: 0,
})

interface ServiceRequest {
  readonly path: 'query' | 'height'
  readonly body: string | null
  readonly queryError: ErrorFactory
  readonly counters: Counters
  readonly signal: AbortSignal
  /** For a range of blocks: the attempts that timed out so far, and whether the range can be made smaller. */
  readonly timeouts?: { readonly attempts: number; readonly canShrink: boolean } | undefined
}

/** Returns the body of the response, or that the request was for too many blocks. Throws a QueryError. */
export type SendRequest = (request: ServiceRequest) => Promise<Buffer | 'too large' | 'too slow'>

interface RequestOptions {
  readonly transport: Transport
  readonly limiter: Limiter
  readonly clock: Clock
  readonly retries: number
  readonly isLoopback: boolean
  /** Called before each wait for another attempt. */
  readonly onRetry: (retry: FailedAttempt) => void
}

/** A retry with what the service reported, which may contain the API key. */
export type FailedAttempt = Omit<Retry, 'reported'> & { readonly evidence: string | undefined }

/** After this many waits that the service requested, the request fails. */
const MAX_WAITS = 30
/** After this many waits in a row, the client waits longer than the service requests. */
const TRUSTED_WAITS = 3
/** After this many timeouts of one request, the client requests fewer blocks. */
export const TIMEOUTS_BEFORE_SHRINKING = 2

export const createSendRequest = ({
  transport,
  limiter,
  clock,
  retries,
  isLoopback,
  onRetry,
}: RequestOptions): SendRequest => {
  let hasResponded = false
  return async ({ path, body, queryError, counters, signal, timeouts: earlier }) => {
    let attempts = earlier?.attempts ?? 0
    let timeouts = 0
    let waits = 0
    for (;;) {
      counters.waitedMs += await limiter.acquire(signal)
      if (signal.aborted) {
        limiter.release({})
        throw cancelled(queryError)
      }
      counters.requests += 1
      const response = await transport(path, body, signal)
      limiter.release('kind' in response ? {} : response.headers)
      if (signal.aborted) throw cancelled(queryError)
      if (!('kind' in response)) hasResponded = true
      const next = classifyResponse(response, clock.now())
      if (next.kind === 'ok') return next.body
      if (next.kind === 'shrink') return 'too large'
      if (next.kind === 'wait') {
        waits += 1
        const waitMs = waitMsOf(next, { waits, queryError, now: clock.now() })
        onRetry({ happened: next.happened, evidence: next.evidence, waitMs, attempt: null })
        limiter.pause(waitMs)
        continue
      }
      attempts += 1
      if (next.kind !== 'retry') throw queryError(next.kind, next.happened, next.evidence)
      if (next.isTimeout === true) timeouts += 1
      // On the same host a refused connection means that the service is not running, so a retry is useless, unless the
      // service has responded before and is being restarted.
      const isDown = next.isRefused === true && isLoopback && !hasResponded
      if (isDown || attempts > retries) {
        throw queryError('unreachable', next.happened, next.evidence)
      }
      counters.retries += 1
      if (timeouts >= TIMEOUTS_BEFORE_SHRINKING && earlier?.canShrink === true) return 'too slow'
      const waitMs = backoffMs(attempts)
      const attempt = { number: attempts + 1, of: retries + 1 }
      onRetry({ happened: next.happened, evidence: next.evidence, waitMs, attempt })
      counters.waitedMs += waitMs
      await clock.sleep(waitMs, signal)
    }
  }
}

const cancelled = (queryError: ErrorFactory): QueryError => queryError('unreachable', 'it was cancelled')

interface RequestedWait {
  readonly waits: number
  readonly queryError: ErrorFactory
  /** In milliseconds since the epoch. */
  readonly now: number
}

/** How long to wait if the service requests a wait, in milliseconds. */
const waitMsOf = (
  { happened, ms, evidence = '' }: Extract<NextStep, { kind: 'wait' }>,
  { waits, queryError, now }: RequestedWait,
): number => {
  if (waits > MAX_WAITS) throw queryError('limited', `${happened} again and again`, evidence)
  if (ms !== undefined && ms > MAX_WAIT_MS) {
    const until = new Date(Math.min(now + ms, MAX_DATE_MS)).toISOString()
    const reported = evidence.trim() === '' ? '' : `; it reported: ${evidence}`
    throw queryError('limited', `${happened} and requests a long wait`, `${duration(ms)}, until ${until}${reported}`)
  }
  // A reset of 0 is no hint: other clients spend the same budget.
  if (ms === undefined || ms === 0) return doubledMs(waits)
  return Math.max(ms, waits > TRUSTED_WAITS ? doubledMs(waits - TRUSTED_WAITS + 1) : second)
}

/** The range of Date. */
const MAX_DATE_MS = 8.64e15

const doubledMs = (times: number): number => backoff(times, second, minute)

const FIRST_BACKOFF_MS = 200
const MAX_BACKOFF_MS = 5 * second
/** The lower bound of the random wait, so that a failing service is never requested again at once. */
const MIN_SHARE = 1 / 4

/** How long to wait after the given attempt, in milliseconds: random, at most twice as long each time. */
export const backoffMs = (attempt: number): number =>
  (MIN_SHARE + (1 - MIN_SHARE) * Math.random()) * backoff(attempt, FIRST_BACKOFF_MS, MAX_BACKOFF_MS)

/** Repeats an attempt once after a QueryError('protocol'): a proxy or one bad instance may have caused it. */
export const retryOnProtocolError = async <T>(attempt: () => Promise<T>, wait: () => Promise<void>): Promise<T> => {
  try {
    return await attempt()
  } catch (error) {
    if (!(error instanceof QueryError) || error.kind !== 'protocol') throw error
    await wait()
    return await attempt()
  }
}

/** The rate limit of one API key at one host, shared by all clients that use the key. */
interface Limiter {
  /** Waits until a request may be sent. Returns how long that took, in milliseconds. */
  acquire(signal: AbortSignal): Promise<number>
  /** Call once after each `acquire`, with the headers of the response, or none without a response. */
  release(headers: Headers): void
  /** Delays all requests, in milliseconds. */
  pause(ms: number): void
}

/** The client does not wait longer than this for one request; it reports an error instead. */
const MAX_WAIT_MS = 15 * minute

/** Spreads the requests that wait for the same reset. */
const JITTER_MS = second / 4

export const createLimiter = (clock: Clock): Limiter => {
  let pausedUntil = 0
  let inFlight = 0
  /** Undefined until the service reports a budget, and after its reset. */
  let budget: { readonly left: number; readonly cost: number; readonly until: number } | undefined
  const remainingWait = (): number => {
    const now = clock.elapsed()
    if (budget !== undefined && budget.until <= now) budget = undefined
    const isSpent = budget !== undefined && budget.left - inFlight * budget.cost < budget.cost
    return Math.max(pausedUntil, isSpent && budget !== undefined ? budget.until : 0) - now
  }
  return {
    acquire: async (signal) => {
      const startedAt = clock.elapsed()
      for (let ms = remainingWait(); ms > 0 && !signal.aborted; ms = remainingWait()) {
        // Bounded: a Node.js timer of more than 2^31 ms fires at once.
        await clock.sleep(Math.min(ms, MAX_WAIT_MS) + Math.random() * JITTER_MS, signal)
      }
      inFlight += 1
      return clock.elapsed() - startedAt
    },
    release: (headers) => {
      inFlight -= 1
      const reported = rateLimitOf(headers, clock.now())
      if (reported === undefined) return
      // If the wait were too long, the request is sent all the same, so that the service rejects it with its reason.
      budget =
        reported.resetMs > MAX_WAIT_MS
          ? undefined
          : {
              left: reported.remaining,
              cost: reported.cost,
              until: clock.elapsed() + reported.resetMs,
            }
    },
    pause: (ms) => {
      pausedUntil = Math.max(pausedUntil, clock.elapsed() + ms)
    },
  }
}

const SHARED = new WeakMap<Clock, Map<string, Limiter>>()

/** Returns the same limiter for the same key and host: the clients of one process share one budget. */
export const sharedLimiter = (clock: Clock, host: string, key: string | null): Limiter => {
  const limiters = SHARED.get(clock) ?? new Map<string, Limiter>()
  SHARED.set(clock, limiters)
  const name = `${host} ${key ?? ''}`
  const limiter = limiters.get(name) ?? createLimiter(clock)
  limiters.set(name, limiter)
  return limiter
}
