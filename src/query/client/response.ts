import { second } from '../../core/units.ts'
import { type Headers, type Reply, type TransportFailure } from './transport.ts'

/** What the client does next after a response or a failed request. */
export type NextStep =
  | { readonly kind: 'ok'; readonly body: Buffer }
  | {
      readonly kind: 'auth' | 'fatal' | 'protocol' | 'retry' | 'shrink'
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
  const happened = `it answered ${status}`
  const evidence = body.toString('utf8')
  if (status === 200) return { kind: 'ok', body }
  if (status === 401 || status === 403) return { kind: 'auth', happened, evidence }
  if (status === 413) return { kind: 'shrink', happened, evidence }
  if (status === 429) return { kind: 'wait', happened, ms: requestedWaitMs(headers, now), evidence }
  if (status === 408 || status === 425) return { kind: 'retry', happened, evidence }
  if (status >= 500) {
    const ms = status === 503 ? retryAfterMs(headers, now) : undefined
    return ms === undefined ? { kind: 'retry', happened, evidence } : { kind: 'wait', happened, ms, evidence }
  }
  if (status >= 300 && status < 400) {
    return {
      kind: 'fatal',
      happened: `${happened}: a redirect`,
      evidence: headers['location'] ?? '',
    }
  }
  return { kind: status < 300 ? 'protocol' : 'fatal', happened, evidence }
}

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
