import { second } from '../../core/units.ts'

/** The headers of an answer, in lower case. */
export type Headers = Readonly<Record<string, string | undefined>>

/** Some services tell the moment of the reset, not the time until then, and some of these in milliseconds. */
const EPOCH_SECONDS = 1_000_000_000
const EPOCH_MS = 1_000_000_000_000

/** What is left of the budget, in its own units; undefined where the answer does not tell all of it. */
export const rateLimit = (headers: Headers, now: number) => {
  const remaining = decimal(headers['x-ratelimit-remaining'])
  const resetMs = resetOf(headers, now)
  if (remaining === undefined || resetMs === undefined) return undefined
  return { remaining, cost: decimal(headers['x-ratelimit-cost']) ?? 1, resetMs }
}

/** How long an answer asks to wait, in milliseconds. A reset that is now says nothing where the other hint does. */
export const askedToWait = (headers: Headers, now: number): number | undefined => {
  const reset = resetOf(headers, now)
  return reset === 0 ? (retryAfter(headers, now) ?? reset) : (reset ?? retryAfter(headers, now))
}

/** `Retry-After` comes in seconds or as a date. */
export const retryAfter = (headers: Headers, now: number): number | undefined => {
  const text = headers['retry-after']
  if (text === undefined) return undefined
  const seconds = decimal(text)
  if (seconds !== undefined) return seconds * second
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

const resetOf = (headers: Headers, now: number): number | undefined => {
  const told = decimal(headers['x-ratelimit-reset'])
  if (told === undefined) return undefined
  if (told < EPOCH_SECONDS) return told * second
  return Math.max(0, (told < EPOCH_MS ? told * second : told) - now)
}

const decimal = (text: string | undefined): number | undefined =>
  text !== undefined && /^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(text) ? Number(text) : undefined
