import { duration, utc } from '../core/format.ts'
import { second } from '../core/units.ts'
import type { JournalPosition } from './journal.ts'

/** The position of an entry, with the boot and the milliseconds since that boot, if they are known. */
export interface OrderedPosition extends JournalPosition {
  readonly boot?: string | undefined
  readonly monotonic?: number | undefined
}

/**
 * The order in which two entries were written; negative if `a` was first. It is that of journalctl: within a boot by
 * monotonic time, within a sequence by number, and only then by the clock, which may have been set back.
 */
export const compareOrder = (a: OrderedPosition, b: OrderedPosition): number => {
  if (a.boot !== undefined && a.boot === b.boot && a.monotonic !== undefined && b.monotonic !== undefined) {
    const difference = a.monotonic - b.monotonic
    if (difference !== 0) return difference
  }
  const [left, right] = [sequenceOf(a.cursor), sequenceOf(b.cursor)]
  if (left && right && left.id === right.id && left.number !== right.number) return left.number - right.number
  return a.at - b.at
}

const sequenceOf = (cursor: string) => {
  const [, id, number = ''] = /^s=([0-9a-f]{32});i=([0-9a-f]{1,13});/.exec(cursor) ?? []
  return id === undefined ? undefined : { id, number: Number.parseInt(number, 16) }
}

/** A step of the host's clock between two entries. Times are milliseconds since the epoch. */
export interface ClockStep {
  readonly from: number
  readonly to: number
  /** How far the clock was moved: negative if it went back. */
  readonly by: number
}

export const describeStep = ({ from, to, by }: ClockStep): string =>
  `the clock of this host went ${by < 0 ? 'back' : 'forward'} ${duration(Math.abs(by))}: ${utc(from)} was followed by ${utc(to)}`

/** A smaller step is not reported: alert rules are evaluated every 15 s. */
const LEAST_STEP_MS = 10 * second

/** An entry on a time that only increases. */
export interface PlacedEntry {
  /** Milliseconds on that time, which begins with the time of the first entry. */
  readonly elapsed: number
  /** What the clock of the host shows in addition to `elapsed`. */
  readonly offset: number
  readonly step: ClockStep | undefined
}

/**
 * Places entries, in the order in which they were written, on a time that only increases: within a boot the monotonic
 * time, between boots the difference of the clock. An entry that was recorded late has the time of the entry before it,
 * as has one that is older by the clock if its boot is unknown.
 */
export const createTimeline = () => {
  /** For each boot: the time of its start, the time of its newest entry, and the offset of the clock. */
  const boots = new Map<string, { start: number; newest: number; offset: number }>()
  let newest: { readonly elapsed: number; readonly at: number; readonly offset: number } | undefined

  return ({ at, boot = '', monotonic = at }: Omit<OrderedPosition, 'cursor'>): PlacedEntry => {
    const before = newest
    const known = boots.get(boot)
    const own = known ? known.start + monotonic : before ? before.elapsed + Math.max(0, at - before.at) : at
    if (before && own < (known?.newest ?? before.elapsed)) return { ...before, step: undefined }
    const offset = at - own
    // A recording without boots has no step: its times are the only order.
    const by = known || !before || boot === '' ? offset - (known?.offset ?? offset) : Math.min(0, at - before.at)
    boots.set(boot, { start: own - monotonic, newest: own, offset })
    const elapsed = Math.max(own, before?.elapsed ?? own)
    newest = { elapsed, at, offset: at - elapsed }
    return {
      elapsed,
      offset: newest.offset,
      step: before && Math.abs(by) >= LEAST_STEP_MS ? { from: before.at, to: at, by } : undefined,
    }
  }
}
