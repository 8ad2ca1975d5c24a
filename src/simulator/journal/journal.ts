import { digest } from '../chain/random.ts'
import { bareDirective, type Directive, directive, duration, type Effect } from '../scenario/directives.ts'

/** Whether and how far back the journal can be read. */
export interface JournalState {
  /** `frozen`: readers wait. `forbidden`: journalctl fails as for a user outside of its group. */
  readonly access: 'open' | 'frozen' | 'forbidden'
  /** How much of the past is kept, in milliseconds; undefined for as much as there is room for. */
  readonly keptMs: number | undefined
}

export const usualJournal: JournalState = { access: 'open', keptMs: undefined }

const changeJournal =
  (change: Partial<JournalState>): Effect =>
  (condition) => ({ ...condition, journal: { ...condition.journal, ...change } })

export const journalDirectives: readonly Directive[] = [
  bareDirective(
    {
      subject: 'journal',
      verb: 'freezes',
      meaning: 'readers of the journal receive no more entries and wait; the node keeps writing',
    },
    changeJournal({ access: 'frozen' }),
  ),
  bareDirective(
    {
      subject: 'journal',
      verb: 'thaws',
      meaning: 'readers receive the entries written in the meantime',
    },
    changeJournal({ access: 'open' }),
  ),
  bareDirective(
    {
      subject: 'journal',
      verb: 'forbids',
      meaning: 'journalctl fails, as for a user outside of its group',
    },
    changeJournal({ access: 'forbidden' }),
  ),
  bareDirective(
    { subject: 'journal', verb: 'allows', meaning: 'journalctl can read again' },
    changeJournal({ access: 'open' }),
  ),
  directive({ subject: 'journal', verb: 'keeps', meaning: 'entries older than that are removed' }, duration, (keptMs) =>
    changeJournal({ keptMs }),
  ),
]

/** An entry before it is written to the journal. */
export interface Draft {
  readonly atMs: number
  readonly fields: Readonly<Record<string, string>>
}

export interface Entry {
  readonly number: number
  readonly cursor: string
  readonly realtimeUs: number
  readonly monotonicUs: number
  readonly fields: Readonly<Record<string, string>>
}

/** A journal that produces its entries when it is read, up to the current time. */
export interface Journal {
  readonly bootId: string
  /** Whether it can be read now: readers wait while `frozen` and fail while `forbidden`. */
  access(): 'open' | 'frozen' | 'forbidden'
  /** The current entries with a number of at least `from`, oldest first. */
  read(from: number): readonly Entry[]
  /** Some entries of each unit from days before; the time in between is not kept. */
  oldest(): readonly Entry[]
  /** The number of the entry at the cursor, or of the next one; undefined if the text is not a cursor. */
  seek(cursor: string): number | undefined
}

interface JournalOptions {
  readonly node: string
  readonly now: () => number
  /** Time of the first entry. */
  readonly beginMs: number
  /** The entries after `fromMs` and up to `toMs`, in order. */
  readonly produce: (fromMs: number, toMs: number) => Iterable<Draft>
  /** A few entries from days before, in order: they show how far back the journal reaches. */
  readonly produceOld: () => readonly Draft[]
  /** How many entries are kept, in addition to those from days before. */
  readonly keep: number
  readonly state: () => {
    readonly access: 'open' | 'frozen' | 'forbidden'
    /** How much of the past is kept, in milliseconds; undefined for no limit. */
    readonly keptMs: number | undefined
  }
}

export const createJournal = (options: JournalOptions): Journal => {
  const { node, now, beginMs, produce, produceOld, keep, state } = options
  const bootId = digest(node, 'boot').slice(0, 32)
  const sequence = digest(node, 'journal', beginMs).slice(0, 32)
  const bootMs = beginMs - UPTIME_MS
  let entries: Entry[] = []
  let oldEntries: readonly Entry[] | undefined
  let writtenMs = beginMs
  let nextNumber = OLD_ENTRY_NUMBERS + 1
  let lastUs = 0

  const entryOf = (number: number, realtimeUs: number, { fields }: Draft): Entry => {
    const monotonicUs = realtimeUs - bootMs * 1000
    const check = hex(Math.imul(number, 0x9e3779b1) >>> 0).padStart(16, sequence)
    const cursor = `s=${sequence};i=${hex(number)};b=${bootId};m=${hex(monotonicUs)};t=${hex(realtimeUs)};x=${check}`
    return { number, cursor, realtimeUs, monotonicUs, fields }
  }

  const append = (draft: Draft): void => {
    // Each entry has a microsecond of its own: a cursor can be found by its time.
    lastUs = Math.max(draft.atMs * 1000, lastUs + 1)
    entries.push(entryOf(nextNumber, lastUs, draft))
    nextNumber += 1
  }

  const write = (): void => {
    const toMs = now()
    // In batches: after a long time without a read, memory stays near what is kept.
    while (writtenMs < toMs) {
      const batchEndMs = Math.min(writtenMs + BATCH_MS, toMs)
      for (const draft of produce(writtenMs, batchEndMs)) append(draft)
      writtenMs = batchEndMs
      if (entries.length > keep) entries = entries.slice(-keep)
    }
    const { keptMs } = state()
    if (keptMs === undefined) return
    const oldestUs = (toMs - keptMs) * 1000
    const first = entries.findIndex(({ realtimeUs }) => realtimeUs >= oldestUs)
    entries = first < 0 ? [] : entries.slice(first)
    oldEntries = getOldEntries().filter(({ realtimeUs }) => realtimeUs >= oldestUs)
  }

  /** Lazy: most tests and commands never read them. */
  const getOldEntries = (): readonly Entry[] =>
    (oldEntries ??= produceOld().map((draft, index) => entryOf(index + 1, draft.atMs * 1000 + index, draft)))

  return {
    bootId,
    access: () => state().access,
    read: (from) => {
      write()
      const oldest = entries[0]?.number ?? nextNumber
      return entries.slice(Math.max(0, from - oldest))
    },
    oldest: () => {
      write()
      return getOldEntries()
    },
    seek: (cursor) => {
      write()
      const parts = /^s=([0-9a-f]{32});i=([0-9a-f]+);.*\bt=([0-9a-f]+)/.exec(cursor)
      if (!parts) return undefined
      const [, of, number = '', time = ''] = parts
      if (of === sequence) return Number.parseInt(number, 16)
      const realtimeUs = Number.parseInt(time, 16)
      return entries.find((entry) => entry.realtimeUs >= realtimeUs)?.number ?? nextNumber
    },
  }
}

const BATCH_MS = 5000
/** Numbers reserved for the entries from days before. */
const OLD_ENTRY_NUMBERS = 1000
const UPTIME_MS = 13 * 24 * 3_600_000

const hex = (number: number): string => number.toString(16)
