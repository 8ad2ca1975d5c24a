import type { IncomingHttpHeaders, ServerOptions } from 'node:http'
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Request } from 'express'
import { type Clock, linkAbort } from '../../../src/core/clock.ts'
import type { Secret } from '../../../src/core/redaction/secret.ts'
import { minute, second } from '../../../src/core/units.ts'
import { HttpError, retryLater } from './http-error.ts'

const MiB = 1024 * 1024

/** Limits per request, and for all requests together. Times are in milliseconds. */
export const QUERY_LIMITS = {
  /** A request body: its size, and what its JSON has before it is parsed. */
  bodyBytes: MiB,
  bodyDepth: 16,
  bodyValues: 20_000,
  /** Addresses and topics per request, and alternatives in its `logs`. */
  values: 10_000,
  filters: 100,
  /** A page ends with the block in which it reaches one of these limits. */
  pageBytes: 4 * MiB,
  pageLogs: 20_000,
  pageMs: 5 * second,
  /** Timeouts for making and for sending a response. */
  answerMs: 15 * second,
  sendMs: 2 * minute,
  /** Concurrent reads, how many may wait for a slot, and for how long. */
  concurrent: 4,
  waiting: 64,
  waitMs: 5 * second,
  /** Responses that clients have not received yet, in total. */
  unsentBytes: 128 * MiB,
}

export type QueryLimits = Readonly<typeof QUERY_LIMITS>

/** Options of the HTTP server: connections of slow clients are closed. */
export const apiServerOptions: ServerOptions = {
  headersTimeout: 10 * second,
  requestTimeout: 15 * second,
  keepAliveTimeout: 65 * second,
  connectionsCheckingInterval: second,
}

export const API_MAX_CONNECTIONS = 256

interface ConcurrencyLimitOptions {
  readonly limits: Pick<QueryLimits, 'concurrent' | 'waiting' | 'waitMs'>
  readonly clock: Clock
}

/**
 * Runs the work as soon as a slot is free. The slot is released when the work ends, even if the client has
 * disconnected. Not p-limit, whose queue keeps work that timed out or whose client has disconnected.
 */
export const createConcurrencyLimit = ({ limits, clock }: ConcurrencyLimitOptions) => {
  /** Waiting requests; aborting one gives it a slot. */
  const waiting = new Set<AbortController>()
  let running = 0
  const waitForSlot = async (signal: AbortSignal): Promise<boolean> => {
    const turn = new AbortController()
    const sleeping = linkAbort(signal)
    turn.signal.addEventListener('abort', sleeping.abort, { once: true })
    waiting.add(turn)
    await clock.sleep(limits.waitMs, sleeping.signal)
    sleeping.abort()
    waiting.delete(turn)
    return turn.signal.aborted
  }
  return async <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    if (running < limits.concurrent) running += 1
    else if (waiting.size >= limits.waiting || !(await waitForSlot(signal)))
      throw retryLater('busy', 'too many concurrent requests', 1)
    try {
      return await work()
    } finally {
      const [next] = waiting
      if (next) {
        waiting.delete(next)
        next.abort()
      } else running -= 1
    }
  }
}

/** API keys and rate limit. */
export interface Access {
  /** Accepted keys; empty: no key is required. */
  readonly keys: readonly Secret[]
  /** Per key, or per client address if no key is required. Null: no limit. */
  readonly requestsPerMinute: number | null
}

/** Returns the rate limit headers. Throws an HttpError without a valid key, or if the rate limit is exceeded. */
export const createAdmission = ({ keys, requestsPerMinute }: Access, clock: Clock) => {
  const digests = keys.map((key) => digest(key.reveal()))
  const limitRate = createRateLimit({ perMinute: requestsPerMinute, clock })
  return ({ headers, socket }: Request) =>
    limitRate(digests.length === 0 ? (socket.remoteAddress ?? '') : `key ${authenticate(headers, digests)}`)
}

/**
 * Returns the index of the key. Compares digests in constant time against every key: the duration reveals neither how
 * much of a key was right nor which one matched.
 */
const authenticate = (headers: IncomingHttpHeaders, digests: readonly Buffer[]): number => {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const presented = [bearer, headers['x-api-key']].filter((key) => typeof key === 'string').map(digest)
  let found = -1
  for (const [index, known] of digests.entries())
    for (const one of presented) if (timingSafeEqual(known, one)) found = index
  if (found !== -1) return found
  throw new HttpError(
    'unauthorized',
    presented.length === 0 ? 'an API key is required: send it as Authorization: Bearer KEY' : 'invalid API key',
    { headers: { 'www-authenticate': 'Bearer' } },
  )
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

interface RateLimitOptions {
  readonly perMinute: number | null
  readonly clock: Clock
  /** Largest number of identities; the oldest are removed beyond that. */
  readonly maxIdentities?: number
}

const COST = 1

/**
 * Counts one request of an identity and returns the rate limit headers. Throws an HttpError if the limit is exceeded.
 * A fixed window of one minute per identity, which starts with its first request.
 */
export const createRateLimit = ({ perMinute, clock, maxIdentities = 10_000 }: RateLimitOptions) => {
  const windows = new Map<string, { readonly until: number; requests: number }>()
  const open = (identity: string, now: number) => {
    const current = windows.get(identity)
    if (current && current.until > now) return current
    windows.delete(identity)
    // Insertion order is start order, so the oldest come first.
    for (const [other, { until }] of windows) {
      if (until > now && windows.size < maxIdentities) break
      windows.delete(other)
    }
    const added = { until: now + minute, requests: 0 }
    windows.set(identity, added)
    return added
  }
  return (identity: string): Readonly<Record<string, string>> => {
    if (perMinute === null) return {}
    const now = clock.elapsed()
    const window = open(identity, now)
    const isExceeded = window.requests + COST > perMinute
    if (!isExceeded) window.requests += COST
    const reset = String(Math.ceil((window.until - now) / second))
    const headers = {
      'x-ratelimit-limit': String(perMinute),
      'x-ratelimit-remaining': String(perMinute - window.requests),
      'x-ratelimit-reset': reset,
      'x-ratelimit-cost': String(COST),
    }
    if (!isExceeded) return headers
    throw new HttpError('rate_limited', `more than ${perMinute} requests per minute`, {
      headers: { ...headers, 'retry-after': reset },
    })
  }
}
