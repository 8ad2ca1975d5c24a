import type { JournalEntry } from '../../parsers/journal.ts'
import { type ClockStep, compareOrder, createTimeline, type PlacedEntry } from '../../sources/journal-order.ts'
import type { EntryBatch } from '../../sources/journal-range.ts'

/** Entries of a step of the replay. */
export interface TakenEntries {
  /** By source. */
  readonly entries: readonly (readonly JournalEntry[])[]
  /** The entries after which the clock of the host had been set. */
  readonly steps: readonly (PlacedEntry & { readonly step: ClockStep })[]
  /** What the clock shows in addition to the time of the replay; undefined before the first entry. */
  readonly offset: number | undefined
}

/**
 * Entries of several sources in the order in which they were written, read only as far as needed. Their times are those
 * of a timeline, which only increases: the first one has its time by the clock of the host.
 */
export interface BufferedEntries {
  /** Time of the next entry; null after the last. */
  next(): Promise<number | null>
  /** Removes and returns the entries up to a time, including older ones that were recorded late. */
  take(until: number): Promise<TakenEntries>
  /** The next entries of each source, without removing them. */
  peek(): Promise<readonly JournalEntry[]>
  /** Number of lines of each source that were not entries since the last call. */
  takeUnreadable(): readonly number[]
  /** Stops reading. */
  close(): Promise<void>
}

/** Entries that peek() returns at least from each source, if there are so many. */
const PEEK_ENTRIES = 3000

type Batches = AsyncGenerator<EntryBatch<JournalEntry>, undefined>

export const createBufferedEntries = (sources: readonly Batches[]): BufferedEntries => {
  const queues = sources.map(createQueue)
  const place = createTimeline()
  let head: { readonly index: number; readonly entry: JournalEntry; readonly placed: PlacedEntry } | undefined
  let offset: number | undefined

  const fill = async (): Promise<void> => {
    for (const queue of queues) if (queue.isEmpty()) await queue.fill()
  }
  /** The first of the next entries of all sources, none of which may be empty before its end. */
  const findHead = () => {
    if (head) return head
    let first: { readonly index: number; readonly entry: JournalEntry } | undefined
    for (const [index, queue] of queues.entries()) {
      const entry = queue.current()
      if (entry && (!first || compareOrder(entry, first.entry) < 0)) first = { index, entry }
    }
    if (first) head = { ...first, placed: place(first.entry) }
    return head
  }

  return {
    next: async () => {
      await fill()
      return findHead()?.placed.elapsed ?? null
    },
    take: async (until) => {
      const entries: JournalEntry[][] = queues.map(() => [])
      const steps: (PlacedEntry & { readonly step: ClockStep })[] = []
      for (;;) {
        // Waiting only if necessary: a wait for each entry takes longer than the entry.
        if (queues.some((queue) => queue.isEmpty())) await fill()
        const next = findHead()
        if (!next || next.placed.elapsed > until) break
        const { index, entry, placed } = next
        const { step } = placed
        entries[index]?.push(entry)
        if (step) steps.push({ ...placed, step })
        ;({ offset } = placed)
        queues[index]?.shift()
        head = undefined
      }
      return { entries, steps, offset }
    },
    peek: async () => (await Promise.all(queues.map((queue) => queue.peek()))).flat(),
    takeUnreadable: () => queues.map((queue) => queue.takeUnreadable()),
    close: async () => {
      await Promise.all(sources.map((batches) => batches.return(undefined)))
    },
  }
}

/** The entries of one source. */
const createQueue = (batches: Batches) => {
  let held: readonly JournalEntry[] = []
  let position = 0
  let unreadable = 0
  let hasEnded = false

  const more = async (): Promise<readonly JournalEntry[] | undefined> => {
    if (hasEnded) return undefined
    const result: IteratorResult<EntryBatch<JournalEntry>, undefined> = await batches.next()
    hasEnded = result.done === true
    if (result.done === true) return undefined
    unreadable += result.value.unreadable
    return result.value.entries
  }
  return {
    current: () => held[position],
    isEmpty: () => position >= held.length && !hasEnded,
    shift: () => {
      position += 1
    },
    /** Reads on until there is an entry, or to the end. */
    fill: async () => {
      while (position >= held.length) {
        const entries = await more()
        if (!entries) return
        held = entries
        position = 0
      }
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
  }
}
