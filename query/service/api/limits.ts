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
  /** Larger bodies are read a few at a time. */
  smallBodyBytes: 64 * 1024,
  largeBodies: { concurrent: 4, waiting: 256, waitMs: 15 * second },
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

interface RequestQueueOptions {
  readonly limits: Pick<QueryLimits, 'concurrent' | 'waiting' | 'waitMs'>
  readonly clock: Clock
}

interface Waiting {
  readonly client: string
  /** Ends the wait: with a slot, or without one if a client with fewer requests takes the place in the queue. */
  readonly end: (hasSlot: boolean) => void
}

const busy = (): HttpError => retryLater('busy', 'too many concurrent requests', 1)

/**
 * Slots for the work of requests, and a queue for them. Fair by client: a free slot is for the waiting client with the
 * fewest running requests, or of these for the one whose turn was the longest ago; and a full queue takes a request of a client with fewer waiting ones in place of the newest
 * request of the client with the most. The slot is released when the work ends, even if the client has disconnected.
 * Not p-limit, whose queue has one order and keeps work that timed out.
 */
export const createRequestQueue = ({ limits, clock }: RequestQueueOptions) => {
  /** In order of arrival. */
  const waiting = new Set<Waiting>()
  /** The number of running requests by client. */
  const running = new Map<string, number>()
  const runningOf = (client: string): number => running.get(client) ?? 0
  const total = (): number => [...running.values()].reduce((sum, requests) => sum + requests, 0)
  /** The turn in which each client got its last slot, while it has requests. */
  const turns = new Map<string, number>()
  let turn = 0
  const start = (client: string): void => {
    running.set(client, runningOf(client) + 1)
    turn += 1
    turns.set(client, turn)
  }

  /** The request that leaves a full queue for one of this client; undefined if the client has as many as any other. */
  const displaced = (client: string): Waiting | undefined => {
    const counts = new Map<string, number>([[client, 1]])
    for (const request of waiting) counts.set(request.client, (counts.get(request.client) ?? 0) + 1)
    const most = Math.max(...counts.values())
    return [...waiting].findLast((request) => counts.get(request.client) === most && most > (counts.get(client) ?? 0))
  }

  /** Throws if a request of this client would be rejected at the moment. */
  const expectRoom = (client: string): void => {
    if (total() < limits.concurrent || waiting.size < limits.waiting || displaced(client)) return
    throw busy()
  }

  const waitForSlot = async (client: string, signal: AbortSignal): Promise<boolean> => {
    if (waiting.size >= limits.waiting) displaced(client)?.end(false)
    const sleeping = linkAbort(signal)
    let isGranted = false
    const request: Waiting = {
      client,
      end: (hasSlot) => {
        isGranted = hasSlot
        waiting.delete(request)
        sleeping.abort()
      },
    }
    waiting.add(request)
    await clock.sleep(limits.waitMs, sleeping.signal)
    sleeping.abort()
    waiting.delete(request)
    return isGranted
  }

  /** The slot goes to the next request. */
  const release = (client: string): void => {
    if (runningOf(client) > 1) running.set(client, runningOf(client) - 1)
    else running.delete(client)
    const [next] = [...waiting].toSorted(
      (a, b) => runningOf(a.client) - runningOf(b.client) || (turns.get(a.client) ?? 0) - (turns.get(b.client) ?? 0),
    )
    if (next) {
      start(next.client)
      next.end(true)
    }
    for (const known of turns.keys())
      if (!running.has(known) && ![...waiting].some((request) => request.client === known)) turns.delete(known)
  }

  /** Does the work in a slot. Throws an HttpError if there is none in time. */
  const run = async <T>(work: () => Promise<T>, client: string, signal: AbortSignal): Promise<T> => {
    expectRoom(client)
    if (total() < limits.concurrent) start(client)
    else if (!(await waitForSlot(client, signal))) throw busy()
    try {
      return await work()
    } finally {
      release(client)
    }
  }
  return { expectRoom, run }
}

/** API keys and rate limit. */
export interface Access {
  /** Accepted keys; empty: no key is required. */
  readonly keys: readonly Secret[]
  /** Per key, or per client address if no key is required. Null: no limit. */
  readonly requestsPerMinute: number | null
}

/** A request that may be served. */
export interface Admitted {
  /** The client, for limits: a key, or an address if no key is required. */
  readonly client: string
  /** The headers about the rate limit. */
  readonly headers: Readonly<Record<string, string>>
}

/** Identifies the client of a request. Throws an HttpError without a valid key, or if the rate limit is exceeded. */
export const createAdmission = ({ keys, requestsPerMinute }: Access, clock: Clock) => {
  const digests = keys.map((key) => digest(key.reveal()))
  const limitRate = createRateLimit({ perMinute: requestsPerMinute, clock })
  return ({ headers, socket }: Request): Admitted => {
    const client =
      digests.length === 0 ? networkOf(socket.remoteAddress ?? '') : `key ${authenticate(headers, digests)}`
    return { client, headers: limitRate(client) }
  }
}

/** An IPv4 address, or the first 64 bits of an IPv6 address: a host has all addresses of such a network. */
export const networkOf = (address: string): string => {
  if (!address.includes(':') || address.includes('.')) return address
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
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
