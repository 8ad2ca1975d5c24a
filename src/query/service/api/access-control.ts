import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../core/clock.ts'
import type { Secret } from '../../../core/secret.ts'
import { minute, second } from '../../../core/units.ts'
import { HttpError } from './http-error.ts'

/** API keys and rate limit. */
export interface Access {
  /** Accepted keys; empty: no key is required. */
  readonly keys: readonly Secret[]
  /** Per key, or per client address if no key is required. Null: no limit. */
  readonly requestsPerMinute: number | null
}

/** Returns the rate limit headers. Throws an HttpError without a valid key, or if the rate limit is exceeded. */
export const createAdmission = ({ keys, requestsPerMinute }: Access, clock: Clock) => {
  const authenticate = createAuthenticator(keys)
  const limitRate = createRateLimit({ perMinute: requestsPerMinute, clock })
  return ({ headers, socket }: IncomingMessage) => limitRate(authenticate(headers, socket.remoteAddress ?? ''))
}

/**
 * Returns the identity whose rate limit applies. Throws an HttpError if a key is required and the request has no valid
 * one.
 */
type Authenticate = (headers: IncomingHttpHeaders, address: string) => string

/**
 * Compares digests in constant time against every key: the duration reveals neither how much of a key was right nor
 * which one matched. Without keys every request is accepted, and the client address is the identity.
 */
const createAuthenticator = (keys: readonly Secret[]): Authenticate => {
  const digests = keys.map((key) => digest(key.reveal()))
  return (headers, address) => {
    if (digests.length === 0) return address
    const presented = keysIn(headers).map(digest)
    let found = -1
    for (const [index, known] of digests.entries())
      for (const one of presented) if (timingSafeEqual(known, one)) found = index
    if (found === -1)
      throw new HttpError(
        'unauthorized',
        presented.length === 0 ? 'an API key is required: send it as Authorization: Bearer KEY' : 'invalid API key',
        { headers: { 'www-authenticate': 'Bearer' } },
      )
    return `key ${found}`
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const keysIn = (headers: IncomingHttpHeaders): readonly string[] => {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const plain = headers['x-api-key']
  return [bearer, plain].filter((key) => typeof key === 'string')
}

type Headers = Readonly<Record<string, string>>

/**
 * Counts one request of this identity and returns the rate limit headers. Throws an HttpError if the limit is exceeded.
 */
type LimitRate = (identity: string) => Headers

interface RateLimitOptions {
  readonly perMinute: number | null
  readonly clock: Clock
  /** Largest number of identities; the oldest are removed beyond that. */
  readonly maxIdentities?: number
}

interface Window {
  readonly until: number
  requests: number
}

const MAX_IDENTITIES = 10_000
const COST = 1

/** A fixed window of one minute per identity, which starts with its first request. */
export const createRateLimit = ({ perMinute, clock, maxIdentities = MAX_IDENTITIES }: RateLimitOptions): LimitRate => {
  const windows = new Map<string, Window>()
  const open = (identity: string, now: number): Window => {
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
  return (identity) => {
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
