import { errorOf, reasonIn } from '../../src/core/error-body.ts'
import { isObject, tryJson } from '../../src/core/json.ts'
import { second } from '../../src/core/units.ts'
import type { Headers, Reply, TransportFailure } from './transport.ts'

/** What the client does next after a response or a failed request. */
export type NextStep =
  | { readonly kind: 'ok'; readonly body: Buffer }
  | {
      readonly kind: 'auth' | 'fatal' | 'pruned' | 'limited' | 'protocol' | 'untrusted' | 'retry' | 'shrink'
      readonly happened: string
      readonly evidence?: string
      readonly isTimeout?: boolean
      readonly isRefused?: boolean
    }
  | {
      readonly kind: 'wait'
      readonly happened: string
      /** Undefined without a hint of the service. */
      readonly ms: number | undefined
      readonly evidence?: string
    }

/** `now` is in milliseconds since the epoch. */
export const classifyResponse = (response: Reply | TransportFailure, now: number): NextStep => {
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

interface ReportedError {
  readonly reason: string
  /** NaN if it has none. */
  readonly code: number
}

/** The error in a response with status 200: gateways and JSON-RPC servers report errors in this way. */
const errorIn = (body: Buffer): ReportedError | undefined => {
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

const classifyError = ({ reason, code }: ReportedError, headers: Headers, now: number): NextStep => {
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
export const rateLimitOf = (headers: Headers, now: number) => {
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
