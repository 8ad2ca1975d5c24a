import type { JournalEntry } from '../../parsers/journal.ts'
import type { EntryBatch } from '../../sources/journal-range.ts'

/** Entries of a recording, in the order in which they were written, read no further than is asked for. */
export interface Tape {
  /** The time of the next entry, in milliseconds since the epoch; null behind the last. */
  next(): Promise<number | null>
  /** Those up to a moment; what comes late comes with them. */
  take(until: number): Promise<readonly JournalEntry[]>
  /** The next few. */
  peek(): Promise<readonly JournalEntry[]>
  /** Lines that were no entries, since this was last asked. */
  takeUnreadable(): number
  /** Lets the rest be. */
  close(): Promise<void>
}

/** Entries that are looked at beforehand: what comes after a silence may be a flood. */
const AHEAD = 3000

type Batches = AsyncGenerator<EntryBatch<JournalEntry>, undefined>

export const createTape = (batches: Batches): Tape => {
  let held: readonly JournalEntry[] = []
  let place = 0
  let unreadable = 0

  const more = async (): Promise<readonly JournalEntry[] | undefined> => {
    const result: IteratorResult<EntryBatch<JournalEntry>, undefined> = await batches.next()
    if (result.done === true) return undefined
    unreadable += result.value.unreadable
    return result.value.entries
  }
  const head = async (): Promise<JournalEntry | undefined> => {
    while (place >= held.length) {
      const entries = await more()
      if (!entries) return undefined
      held = entries
      place = 0
    }
    return held[place]
  }

  return {
    next: async () => (await head())?.at ?? null,
    take: async (until) => {
      const taken: JournalEntry[] = []
      for (
        let entry = await head();
        entry && entry.at <= until;
        entry = held[place] ?? (await head())
      ) {
        taken.push(entry)
        place += 1
      }
      return taken
    },
    peek: async () => {
      for (let ahead = held.slice(place); ahead.length < AHEAD;) {
        const entries = await more()
        if (!entries) break
        held = ahead = [...ahead, ...entries]
        place = 0
      }
      return held.slice(place)
    },
    takeUnreadable: () => {
      const count = unreadable
      unreadable = 0
      return count
    },
    close: async () => {
      await batches.return(undefined)
    },
  }
}
