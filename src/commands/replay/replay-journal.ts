import type { JournalEntry } from '../../parsers/journal.ts'
import type { Journal, JournalBatch } from '../../sources/journal.ts'

/** A follower: the journalctl arguments of its entries, and the function that receives them. */
interface Listener {
  readonly match: readonly string[]
  /** A batch without entries is a heartbeat. */
  receive(batch: Pick<JournalBatch<JournalEntry>, 'entries' | 'unreadable'>): void
}

/** A journal whose followers receive the entries that the replay passes to them. */
export interface ReplayJournal extends Journal<JournalEntry> {
  readonly listeners: () => readonly Listener[]
}

export const createReplayJournal = (): ReplayJournal => {
  const listeners = new Set<Listener>()
  return {
    listeners: () => [...listeners],
    async *follow({ match }, { signal }) {
      let waiting: JournalBatch<JournalEntry>[] = [{ entries: [], unreadable: 0, gap: false }]
      let wake: () => void = () => undefined
      const listener: Listener = {
        match,
        receive: (batch) => {
          waiting.push({ ...batch, gap: false })
          wake()
        },
      }
      const end = (): void => {
        wake()
      }
      listeners.add(listener)
      signal.addEventListener('abort', end, { once: true })
      try {
        while (!signal.aborted) {
          const batches = waiting
          waiting = []
          yield* batches
          if (waiting.length > 0) continue
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      } finally {
        signal.removeEventListener('abort', end)
        listeners.delete(listener)
      }
    },
  }
}
