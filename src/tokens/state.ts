import { type Page } from '../query/client/types.ts'
import { type SnapshotReader, type SnapshotWriter } from './snapshot.ts'
import { type StatCounter } from './stats.ts'
import { type TokenLog } from './token-logs.ts'
import { type BalanceRow, type Interval } from './types.ts'

/** Applies the logs of one page to the state and counts what only the state reveals, such as `inconsistent`. */
export type ApplyLogs = (stats: StatCounter) => void

/** The balances or owners of one ledger, by the rules of one standard. */
export interface TokenState {
  /** Decodes all logs of a page. Changes nothing until the result is called. */
  prepare(logs: readonly TokenLog[], stats: StatCounter): ApplyLogs
  /** The same from the bytes of a page, without parsing it; undefined unless the page is plain. */
  scan(page: Page, stats: StatCounter): ApplyLogs | undefined
  /** In the order of `LedgerResult.rows`. */
  rows(): readonly BalanceRow[]
  intervals(): readonly Interval[]
  /** The balance of an id; with null the balance of ERC-20, or the number of tokens of ERC-721. */
  balanceOf(address: string, id: bigint | null): bigint
  /** Does not create the rows. */
  hasNegative(): boolean
  /** Minted less burned: amounts of ERC-20 and ERC-1155, tokens of ERC-721. */
  readonly supply: bigint
  write(to: SnapshotWriter): void
  /** Call on an empty state only. */
  read(from: SnapshotReader): void
}

/** Balances by address and id. A balance of 0 is the same as none. */
export interface Balances {
  add(address: string, id: bigint, amount: bigint): void
  get(address: string, id: bigint): bigint
  hasNegative(): boolean
  entries(): Iterable<BalanceEntry>
  write(to: SnapshotWriter): void
}

export type BalanceEntry = readonly [address: string, id: bigint, balance: bigint]

/** The owner of each token id that was transferred on its own; the zero address after a burn. */
export interface Owners {
  /** At least the number of known ids. */
  readonly size: number
  get(id: bigint): string | undefined
  set(id: bigint, owner: string): void
  delete(id: bigint): void
  /** The number of tokens of an owner. */
  countOf(owner: string): number
  entries(): Iterable<OwnerEntry>
}

export type OwnerEntry = readonly [id: bigint, owner: string]

interface Order<T> {
  /** Must not fall where `compare` rises. Equal keys are ordered by `compare`. */
  readonly key: (one: T) => number
  readonly compare: (a: T, b: T) => number
}

/** Sorts by a number first, which takes a tenth of the time of comparing bigints. */
export const sortByNumber = <T>(list: readonly T[], { key, compare }: Order<T>): readonly T[] =>
  list
    .map((one) => ({ one, key: key(one) }))
    .sort((a, b) => a.key - b.key || compare(a.one, b.one))
    .map(({ one }) => one)
