import type { JournalEntry } from '../../parsers/journal.ts'

/** What one listener hears in a step. */
export interface Heard {
  readonly entries: readonly JournalEntry[]
  readonly unreadable: number
}

/** The past, heard step by step. */
export interface Ears {
  /** When the next entry was written, whoever hears it; null behind the last. */
  next(): Promise<number | null>
  /** What each of the listeners hears up to a moment, in their order. */
  hear(until: number): Promise<readonly Heard[]>
  /** The next few entries. */
  peek(): Promise<readonly JournalEntry[]>
  /** Whether nobody at all wrote between two moments: then the recording says nothing of them. */
  isBlank(from: number, to: number): Promise<boolean>
  close(): Promise<void>
}

/** Where the past is told: the journal of this host, or a file. Times are milliseconds since the epoch. */
export interface PastSource {
  /** The maker's word. */
  readonly prefix: string
  /** What journalctl says of patterns: nothing, where it can filter by them. */
  readonly grepSays: string
  readonly from: number
  /** Null where it ends with its last entry. */
  readonly to: number | null
  /** For listeners with these matches. */
  listen(matches: readonly (readonly string[])[]): Ears
}
