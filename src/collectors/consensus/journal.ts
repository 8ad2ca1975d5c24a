import type { JournalEntry } from '../../parsers/journal.ts'
import type { Journal } from '../../sources/journal.ts'

/** What befalls the follower, and changes what the window may conclude. */
interface Notice {
  /** Opened (anew): what comes first may be a backlog. */
  opened(): void
  /** Entries may be missing before what comes now. */
  gap(): void
}

/** The same journal, and its listener hears what befalls the follower. */
export const noticed = (
  journal: Journal<JournalEntry>,
  { opened, gap }: Notice,
): Journal<JournalEntry> => ({
  async *follow(following, context) {
    opened()
    for await (const batch of journal.follow(following, context)) {
      if (batch.gap) gap()
      yield batch
    }
  },
})
