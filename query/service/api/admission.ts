import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Request } from 'express'
import type { Clock } from '../../../src/core/clock.ts'
import type { Secret } from '../../../src/core/redaction/secret.ts'
import { minute, second } from '../../../src/core/units.ts'
import { networkOf } from '../../../src/exporter/connections.ts'
import { HttpError } from './http-error.ts'

export interface Access {
  /** Accepted keys; empty: no key is required. */
  readonly keys: readonly Secret[]
  /** Per key, or per client address if no key is required. Null: no limit. */
  readonly requestsPerMinute: number | null
}

/** Identifies the client of a request, for limits: a key, or an address if no key is required. Throws an HttpError without a valid key, or if the rate limit is exceeded. */
export const createAdmission = ({ keys, requestsPerMinute }: Access, clock: Clock) => {
  const digests = keys.map((key) => digest(key.reveal()))
  const limitRate = createRateLimit(requestsPerMinute, clock)
  return ({ headers, socket }: Request) => {
    const client =
      digests.length === 0 ? networkOf(socket.remoteAddress ?? '') : `key ${authenticate(headers, digests)}`
    return { client, headers: limitRate(client) }
  }
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

const COST = 1

/**
 * Counts one request of an identity and returns the rate limit headers. Throws an HttpError if the limit is exceeded.
 * A fixed window of one minute per identity, which starts with its first request. Beyond `maxIdentities` the oldest are
 * removed.
 */
export const createRateLimit = (perMinute: number | null, clock: Clock, maxIdentities = 10_000) => {
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
