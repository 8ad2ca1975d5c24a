import { type Page } from '../query/client/types.ts'
import { type TokenLog } from './ledger-log.ts'
import { type SnapshotReader, type SnapshotWriter } from './snapshot.ts'
import { type Tally } from './tally.ts'
import { type BalanceRow, type Interval } from './types.ts'

/** Tells an oddity of what was booked. */
export type Booking = (tally: Tally) => void

/** What a ledger knows of who holds what, after the rules of one standard. */
export interface Book {
  /** Understands a page's logs, all of them; what is returned books them. */
  prepare(logs: readonly TokenLog[], tally: Tally): Booking
  /** The same out of a page's bytes; undefined where they are not plain. */
  scan(page: Page, tally: Tally): Booking | undefined
  /** In order. */
  rows(): readonly BalanceRow[]
  intervals(): readonly Interval[]
  /** What one has of an id, or of all of them; of amounts with ids, always of one. */
  heldBy(address: string, id: bigint | null): bigint
  /** Without making the rows. */
  hasNegative(): boolean
  /** What was minted and not burned, of amounts or tokens. */
  readonly supply: bigint
  write(to: SnapshotWriter): void
  /** Into an empty one. */
  read(from: SnapshotReader): void
}
