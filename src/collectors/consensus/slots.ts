import { second } from '../../core/units.ts'

/**
 * Counts over the last so many whole seconds, the present one among them. One slot a second, so that
 * memory does not grow with the rate; each count is taken in once and out once.
 */
export interface SlidingCounts<Key extends string> {
  /** What lies before the window is not counted; what lies after its end moves it. */
  add(key: Key, at: number, by?: number): void
  total(key: Key): number
  /** Moves the end, never back. */
  advanceTo(at: number): void
}

export const createSlidingCounts = <Key extends string>(seconds: number): SlidingCounts<Key> => {
  const slots = Array.from({ length: seconds }, () => new Map<Key, number>())
  const totals = new Map<Key, number>()
  let end: number | undefined

  const slotOf = (whole: number): Map<Key, number> | undefined => slots[whole % seconds]

  const clear = (whole: number): void => {
    const slot = slotOf(whole)
    for (const [key, count] of slot ?? []) totals.set(key, (totals.get(key) ?? 0) - count)
    slot?.clear()
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
      const slot = slotOf(whole)
      slot?.set(key, (slot.get(key) ?? 0) + by)
      totals.set(key, (totals.get(key) ?? 0) + by)
    },
    total: (key) => totals.get(key) ?? 0,
    advanceTo: (at) => {
      moveTo(wholeSecond(at))
    },
  }
}

/** The newest of something, and when it was said. */
export interface Newest<T> {
  see(value: T, at: number): void
  /** Null when it was said before this moment, or never. */
  since(at: number): T | null
  readonly at: number | null
}

export const createNewest = <T>(): Newest<T> => {
  let newest: { readonly value: T; readonly at: number } | undefined
  return {
    see: (value, at) => {
      if (!newest || at >= newest.at) newest = { value, at }
    },
    since: (from) => (newest && newest.at >= from ? newest.value : null),
    get at(): number | null {
      return newest?.at ?? null
    },
  }
}

export const wholeSecond = (at: number): number => Math.floor(at / second)
