import { second } from '../../core/units.ts'

/**
 * Counts over the last N whole seconds, including the current one. There is one bucket per second, so that memory does
 * not grow with the rate; each count is added once and subtracted once.
 */
export interface SlidingCounts<Key extends string> {
  /** `at` in milliseconds since the epoch: before the window it is ignored, after its end it moves the window. */
  add(key: Key, at: number, by?: number): void
  total(key: Key): number
  /** Moves the end forward, never back. */
  advanceTo(at: number): void
}

export const createSlidingCounts = <Key extends string>(seconds: number): SlidingCounts<Key> => {
  const buckets = Array.from({ length: seconds }, () => new Map<Key, number>())
  const totals = new Map<Key, number>()
  let end: number | undefined

  const bucketOf = (whole: number): Map<Key, number> | undefined => buckets[whole % seconds]

  const clear = (whole: number): void => {
    const bucket = bucketOf(whole)
    for (const [key, count] of bucket ?? []) totals.set(key, (totals.get(key) ?? 0) - count)
    bucket?.clear()
  }

  const moveTo = (whole: number): void => {
    if (end !== undefined && whole <= end) return
    const from = end === undefined ? whole : Math.max(end + 1, whole - seconds + 1)
    for (let at = from; at <= whole; at += 1) clear(at)
    end = whole
  }

  return {
    add: (key, at, by = 1) => {
      const whole = wholeSecond(at)
      moveTo(whole)
      if (end !== undefined && whole <= end - seconds) return
      const bucket = bucketOf(whole)
      bucket?.set(key, (bucket.get(key) ?? 0) + by)
      totals.set(key, (totals.get(key) ?? 0) + by)
    },
    total: (key) => totals.get(key) ?? 0,
    advanceTo: (at) => {
      moveTo(wholeSecond(at))
    },
  }
}

/** The newest value, with its time in milliseconds since the epoch. */
export interface Newest<T> {
  add(value: T, at: number): void
  /** Null if the newest value is older than `at`, or there is none. */
  since(at: number): T | null
  readonly at: number | null
}

export const createNewest = <T>(): Newest<T> => {
  let newest: { readonly value: T; readonly at: number } | undefined
  return {
    add: (value, at) => {
      if (!newest || at >= newest.at) newest = { value, at }
    },
    since: (from) => (newest && newest.at >= from ? newest.value : null),
    get at(): number | null {
      return newest?.at ?? null
    },
  }
}

export const wholeSecond = (at: number): number => Math.floor(at / second)

/** The peers, or rounds, that were seen last: at most `limit`, beyond which the one not seen for longest is removed. */
export interface RecentlySeen<T> {
  add(one: T, at: number): void
  /** The number of those seen at `from` or later. */
  countSince(from: number): number
}

export const createRecentlySeen = <T>(limit: number): RecentlySeen<T> => {
  /** Ordered by the time at which they were last seen. */
  const seenAt = new Map<T, number>()
  const removeOldest = (isExpired: (at: number) => boolean): void => {
    for (const [one, at] of seenAt) {
      if (!isExpired(at)) return
      seenAt.delete(one)
    }
  }
  return {
    add: (one, at) => {
      const latest = Math.max(at, seenAt.get(one) ?? 0)
      seenAt.delete(one)
      seenAt.set(one, latest)
      removeOldest(() => seenAt.size > limit)
    },
    countSince: (from) => {
      removeOldest((at) => at < from)
      return seenAt.size
    },
  }
}
