import type { JournalEntry } from '../../parsers/journal.ts'
import type { EntryBatch } from '../../sources/journal-range.ts'

/** Entries in the order of the recording, read only as far as needed. */
export interface BufferedEntries {
  /** Time of the next entry, in milliseconds since the epoch; null after the last. */
  next(): Promise<number | null>
  /** Removes and returns the entries up to a time, including older ones that were recorded late. */
  take(until: number): Promise<readonly JournalEntry[]>
  /** The next entries, without removing them. */
  peek(): Promise<readonly JournalEntry[]>
  /** Number of lines that were not entries since the last call. */
  takeUnreadable(): number
  /** Stops reading. */
  close(): Promise<void>
}

/** Entries that peek() returns at least, if there are so many. */
const PEEK_ENTRIES = 3000

type Batches = AsyncGenerator<EntryBatch<JournalEntry>, undefined>

export const createBufferedEntries = (batches: Batches): BufferedEntries => {
  let held: readonly JournalEntry[] = []
  let position = 0
  let unreadable = 0

  const more = async (): Promise<readonly JournalEntry[] | undefined> => {
    const result: IteratorResult<EntryBatch<JournalEntry>, undefined> = await batches.next()
    if (result.done === true) return undefined
    unreadable += result.value.unreadable
    return result.value.entries
  }
  const head = async (): Promise<JournalEntry | undefined> => {
    while (position >= held.length) {
      const entries = await more()
      if (!entries) return undefined
      held = entries
      position = 0
    }
    return held[position]
  }

  return {
    next: async () => (await head())?.at ?? null,
    take: async (until) => {
      const taken: JournalEntry[] = []
      for (let entry = await head(); entry && entry.at <= until; entry = held[position] ?? (await head())) {
        taken.push(entry)
        position += 1
      }
      return taken
    },
    peek: async () => {
      for (let ahead = held.slice(position); ahead.length < PEEK_ENTRIES;) {
        const entries = await more()
        if (!entries) break
        held = ahead = [...ahead, ...entries]
        position = 0
      }
      return held.slice(position)
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
