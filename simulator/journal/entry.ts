/** `frozen`: readers wait. `forbidden`: journalctl fails as for a user outside of its group. */
export type JournalAccess = 'open' | 'frozen' | 'forbidden'

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
  /** Whether it can be read now. */
  access(): JournalAccess
  /** The current entries with a number of at least `from`, oldest first. */
  read(from: number): readonly Entry[]
  /** Some entries of each unit from days before; the time in between is not kept. */
  oldest(): readonly Entry[]
  /** The number of the entry at the cursor, or of the next one; undefined if the text is not a cursor. */
  seek(cursor: string): number | undefined
}
