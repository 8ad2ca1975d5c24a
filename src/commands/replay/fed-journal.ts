import type { JournalEntry } from '../../parsers/journal.ts'
import type { Journal, JournalBatch } from '../../sources/journal.ts'

/** One that listens: what it wants to hear, and where it hears it. */
interface Listener {
  readonly match: readonly string[]
  /** Without entries it is a heartbeat. */
  hear(batch: Pick<JournalBatch<JournalEntry>, 'entries' | 'unreadable'>): void
}

/** A journal whose followers hear what they are told, when they are told it. */
export interface FedJournal extends Journal<JournalEntry> {
  readonly listeners: () => readonly Listener[]
}

export const createFedJournal = (): FedJournal => {
  const listeners = new Set<Listener>()
  return {
    listeners: () => [...listeners],
    async *follow({ match }, { signal }) {
      let waiting: JournalBatch<JournalEntry>[] = [{ entries: [], unreadable: 0, gap: false }]
      let wake: () => void = () => undefined
      const listener: Listener = {
        match,
        hear: (batch) => {
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
