import { type Context, withDeadline } from '../../core/collector.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import type { ReadOldestEntry } from '../../sources/journal-query.ts'

interface Parts {
  readonly read: ReadOldestEntry<JournalEntry>
  /** How often we look, and how long one look at all of them may take: milliseconds. */
  readonly every: number
  readonly timeout: number
}

/**
 * How far back the journal reaches for each service, looked up beside what is followed: a look that
 * hangs must not hold up the follower.
 */
export const createOldestEntries = ({ read, every, timeout }: Parts) => {
  let known: ReadonlyMap<string, number> = new Map()
  let isLooking = false
  let dueAt = -Infinity

  const look = async (
    units: ReadonlyMap<string, string>,
    context: Context,
  ): Promise<ReadonlyMap<string, number>> => {
    const found = new Map<string, number>()
    const lookAtAll = async ({ signal }: Context): Promise<void> => {
      for (const [service, unit] of units) {
        // A service that never said a word, or a journal that cannot be read, which its follower tells.
        // Not `-u`: that brings what systemd says of the unit, too, which can be kept in another file
        // of the journal, and outlive all that the unit itself has said.
        const entry = await read([`_SYSTEMD_UNIT=${unit}`], signal).catch(() => undefined)
        if (entry) found.set(service, entry.at)
      }
    }
    await withDeadline(context, timeout, lookAtAll).catch(() => undefined)
    return new Map(found)
  }

  return {
    /** Looks, where it is time to; `units`: service → unit. */
    refresh: (units: ReadonlyMap<string, string>, context: Context): void => {
      const now = context.clock.elapsed()
      if (isLooking || now < dueAt) return
      isLooking = true
      dueAt = now + every
      void look(units, context).then((found) => {
        known = found
        isLooking = false
      })
    },
    /** Service → time of its oldest entry, in milliseconds since the epoch. */
    read: (): ReadonlyMap<string, number> => known,
  }
}
