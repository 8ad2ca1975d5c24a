import { backoff, type Clock } from '../../src/core/clock.ts'
import { duration } from '../../src/core/format.ts'
import { minute, second } from '../../src/core/units.ts'
import { type ErrorFactory, QueryError } from './errors.ts'
import { createTransport, type Endpoint, type Headers, type Reply, type TransportFailure } from './transport.ts'
import { type ClientOptions, type Counters, DEFAULT_RETRIES, type Retry } from './types.ts'
import { createServiceTransport } from './query-logs.ts'
import { excerpt } from '../../src/core/errors.ts'
import { errorOf, reasonIn } from '../../src/core/error-body.ts'
import { isObject, tryJson } from '../../src/core/json.ts'

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

/** After this many waits that the service requested, the request fails. */
const MAX_WAITS = 30
/** After this many waits in a row, the client waits longer than the service requests. */
const TRUSTED_WAITS = 3
/** After this many timeouts of one request, the client requests fewer blocks. */
export const TIMEOUTS_BEFORE_SHRINKING = 2

export const createSendRequest = (
  options: ClientOptions,
  endpoint: Endpoint,
  transport = createServiceTransport(createTransport(endpoint, options)),
): SendRequest => {
  const { clock, retries = DEFAULT_RETRIES } = options
  const limiter = createLimiter(clock)
  /** Called before each wait for another attempt. What the service reported may contain the API key. */
  const onRetry = ({ happened, evidence = '' }: Report, waitMs: number, attempt: Retry['attempt']): void =>
    options.onRetry?.({ happened, reported: excerpt(endpoint.redact(evidence)), waitMs, attempt })
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
        onRetry(next, waitMs, null)
        limiter.pause(waitMs)
        continue
      }
      attempts += 1
      if (next.kind !== 'retry') throw queryError(next.kind, next.happened, next.evidence)
      if (next.isTimeout === true) timeouts += 1
      // On the same host a refused connection means that the service is not running, so a retry is useless, unless the
      // service has responded before and is being restarted.
      const isDown = next.isRefused === true && isLoopback(endpoint.url.hostname) && !hasResponded
      if (isDown || attempts > retries) {
        throw queryError('unreachable', next.happened, next.evidence)
      }
      counters.retries += 1
      if (timeouts >= TIMEOUTS_BEFORE_SHRINKING && earlier?.canShrink === true) return 'too slow'
      const waitMs = backoffMs(attempts)
      onRetry(next, waitMs, { number: attempts + 1, of: retries + 1 })
      counters.waitedMs += waitMs
      await clock.sleep(waitMs, signal)
    }
  }
}

interface Report {
  readonly happened: string
  readonly evidence?: string
}

const isLoopback = (host: string): boolean => host === 'localhost' || host === '[::1]' || host.startsWith('127.')

const cancelled = (queryError: ErrorFactory): QueryError => queryError('unreachable', 'it was cancelled')

/** How long to wait if the service requests a wait, in milliseconds; `now` is in milliseconds since the epoch. */
const waitMsOf = (
  { happened, ms, evidence = '' }: Extract<NextStep, { kind: 'wait' }>,
  { waits, queryError, now }: { readonly waits: number; readonly queryError: ErrorFactory; readonly now: number },
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

/** The client does not wait longer than this for one request; it reports an error instead. */
const MAX_WAIT_MS = 15 * minute

/** Spreads the requests that wait for the same reset. */
const JITTER_MS = second / 4

/** The rate limit of one API key at one host. A process has one client. */
export const createLimiter = (clock: Clock) => {
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
    /** Waits until a request may be sent. Returns how long that took, in milliseconds. */
    acquire: async (signal: AbortSignal): Promise<number> => {
      const startedAt = clock.elapsed()
      for (let ms = remainingWait(); ms > 0 && !signal.aborted; ms = remainingWait()) {
        // Bounded: a Node.js timer of more than 2^31 ms fires at once.
        await clock.sleep(Math.min(ms, MAX_WAIT_MS) + Math.random() * JITTER_MS, signal)
      }
      inFlight += 1
      return clock.elapsed() - startedAt
    },
    /** Call once after each `acquire`, with the headers of the response, or none without a response. */
    release: (headers: Headers): void => {
      inFlight -= 1
      const reported = rateLimitOf(headers, clock.now())
      if (reported === undefined) return
      // If the wait were too long, the request is sent all the same, so that the service rejects it with its reason.
      const { remaining: left, cost, resetMs } = reported
      budget = resetMs > MAX_WAIT_MS ? undefined : { left, cost, until: clock.elapsed() + resetMs }
    },
    /** Delays all requests, in milliseconds. */
    pause: (ms: number): void => {
      pausedUntil = Math.max(pausedUntil, clock.elapsed() + ms)
    },
  }
}

/** What the client does next after a response or a failed request. */
type NextStep =
  | { readonly kind: 'ok'; readonly body: Buffer }
  | (Report & {
      readonly kind: 'auth' | 'fatal' | 'pruned' | 'limited' | 'protocol' | 'untrusted' | 'retry' | 'shrink'
      readonly isTimeout?: boolean
      readonly isRefused?: boolean
    })
  /** `ms` is undefined without a hint of the service. */
  | (Report & { readonly kind: 'wait'; readonly ms: number | undefined })

/** `now` is in milliseconds since the epoch. */
const classifyResponse = (response: Reply | TransportFailure, now: number): NextStep => {
  if ('kind' in response) return response
  const { status, headers, body } = response
  if (status === 200) {
    const reported = errorIn(body)
    return reported === undefined ? { kind: 'ok', body } : classifyError(reported, headers, now)
  }
  const happened = `it answered ${status}`
  const evidence = reasonIn(body.toString('utf8'))
  const wait = (ms: number | undefined): NextStep => ({ kind: 'wait', happened, ms, evidence })
  if (status === 413) return { kind: 'shrink', happened, evidence }
  if (status === 410) return { kind: 'pruned', happened, evidence }
  if (status === 402) return { kind: 'limited', happened, evidence }
  if (status === 408 || status === 425) return { kind: 'retry', happened, evidence }
  if (status >= 500) {
    const ms = status === 503 ? retryAfterMs(headers, now) : undefined
    return ms === undefined ? { kind: 'retry', happened, evidence } : wait(ms)
  }
  if (status < 300) return { kind: 'protocol', happened, evidence }
  const ms = requestedWaitMs(headers, now)
  const limit = status === 429 && ms !== undefined ? 'rate' : limitIn(evidence)
  if (limit === 'quota') return { kind: 'limited', happened, evidence }
  if (limit === 'rate' || status === 429) return wait(ms)
  return { kind: status === 401 || status === 403 ? 'auth' : 'fatal', happened, evidence }
}

/** A response with more bytes is no error message. */
const MAX_ERROR_BYTES = 65_536
const QUOTED_ERROR = Buffer.from('"error')
const ANSWER_KEYS = ['data', 'height'] as const
const QUOTED_KEYS = ANSWER_KEYS.map((key) => Buffer.from(`"${key}"`))

/** The error in a response with status 200: gateways and JSON-RPC servers report errors in this way. The code is NaN if it has none. */
const errorIn = (body: Buffer) => {
  if (body.length > MAX_ERROR_BYTES) return undefined
  const hasAnswer = QUOTED_KEYS.some((key) => body.includes(key))
  if (hasAnswer && !body.includes(QUOTED_ERROR)) return undefined
  const value = tryJson(body.toString('utf8'))
  const reason = errorOf(value, ANSWER_KEYS)
  if (reason === undefined || !isObject(value)) return undefined
  const { error } = value
  return { reason, code: Number((isObject(error) ? error['code'] : undefined) ?? value['code']) }
}

/** EIP-1474: "Request exceeds defined limit". */
const LIMIT_EXCEEDED = -32_005

const classifyError = (
  { reason, code }: NonNullable<ReturnType<typeof errorIn>>,
  headers: Headers,
  now: number,
): NextStep => {
  const happened = 'it answered with an error'
  const isLimit = code === LIMIT_EXCEEDED || code === 429
  const limit = code === 402 ? 'quota' : (limitIn(reason) ?? (isLimit ? 'rate' : undefined))
  if (limit === 'quota') return { kind: 'limited', happened, evidence: reason }
  if (limit === 'rate') return { kind: 'wait', happened, ms: requestedWaitMs(headers, now), evidence: reason }
  const isKey = code === 401 || code === 403 || KEY.test(reason)
  return { kind: isKey ? 'auth' : 'protocol', happened, evidence: reason }
}

const QUOTA =
  /\bquota|\bbilling\b|\bpayment\b|\bsubscription\b|\b(?:daily|weekly|monthly)\b.{0,40}\blimit|\bcredits?\b.{0,40}\b(?:used|exhausted|exceeded|left|insufficient)|\b(?:insufficient|no|out of) credits?\b/i
const RATE = /\brate[ _-]?limit|too many requests|\bthrottl|\brequests? per hour\b|\bslow down\b/i
const KEY =
  /\bunauthori[sz]ed\b|\bforbidden\b|\bapi[ _-]?key\b|\b(?:invalid|missing|expired|unknown|no valid) (?:key|token)\b/i

const SHORT = /\bper (?:second|minute)\b/i

/** A quota is not renewed within minutes, so waiting for it is useless. */
const limitIn = (reason: string): 'quota' | 'rate' | undefined =>
  QUOTA.test(reason) && !SHORT.test(reason) ? 'quota' : RATE.test(reason) || SHORT.test(reason) ? 'rate' : undefined

/** Some services send the time of the reset instead of the time until then, some of these in milliseconds. */
const EPOCH_SECONDS = 1_000_000_000
const EPOCH_MS = 1_000_000_000_000

/** The rest of the rate limit budget, in units of the service; undefined unless the response has both headers. */
const rateLimitOf = (headers: Headers, now: number) => {
  const remaining = decimal(headers['x-ratelimit-remaining'])
  const resetMs = resetMsOf(headers, now)
  if (remaining === undefined || resetMs === undefined) return undefined
  return { remaining, cost: decimal(headers['x-ratelimit-cost']) ?? 1, resetMs }
}

/** In milliseconds. A reset of 0 is ignored if the response also has `Retry-After`. */
const requestedWaitMs = (headers: Headers, now: number): number | undefined => {
  const reset = resetMsOf(headers, now)
  return reset === 0 ? (retryAfterMs(headers, now) ?? reset) : (reset ?? retryAfterMs(headers, now))
}

/** `Retry-After` is in seconds or a date. */
const retryAfterMs = (headers: Headers, now: number): number | undefined => {
  const text = headers['retry-after']
  if (text === undefined) return undefined
  const seconds = decimal(text)
  if (seconds !== undefined) return seconds * second
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

const resetMsOf = (headers: Headers, now: number): number | undefined => {
  const reset = decimal(headers['x-ratelimit-reset'])
  if (reset === undefined) return undefined
  if (reset < EPOCH_SECONDS) return reset * second
  return Math.max(0, (reset < EPOCH_MS ? reset * second : reset) - now)
}

const decimal = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(text) ? Number(text) : undefined
