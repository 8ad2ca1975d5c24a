import { type Page } from '../query/client/types.ts'
import { type Stat } from './stats.ts'

export type Standard = 'erc20' | 'erc721' | 'erc1155'

/** Contracts with additional transfer events: deposits of wrapped ether, sales of CryptoPunks. */
export type Profile = 'weth' | 'punks'

export interface BalanceRow {
  /** Lower case. */
  readonly address: string
  /** Null for ERC-20. */
  readonly id: bigint | null
  /** 1 for ERC-721. */
  readonly balance: bigint
}

/** A range of token ids that one owner received in one event; inclusive at both ends. */
export interface Interval {
  readonly from: bigint
  readonly to: bigint
  readonly owner: string
}

export interface LedgerResult {
  /** ERC-20 by descending balance, then address; ERC-721 by id; ERC-1155 by id, descending balance, address. Includes negative balances. */
  readonly rows: readonly BalanceRow[]
  /** Ranges of ERC-2309 without the ids that were transferred on their own later. */
  readonly intervals: readonly Interval[]
  /** The history is not complete: each balance is the change since the first block. */
  readonly partial: boolean
  /** The history is complete, and its events do not explain the balances. */
  readonly nonConserving: boolean
  /** The contract emits events of ERC-20 and of ERC-721; these are the balances of the requested standard. */
  readonly hybrid: boolean
  /** Minted less burned: amounts of ERC-20, tokens of ERC-721; null if unknown. */
  readonly supply: bigint | null
  readonly stats: Readonly<Record<Stat, number>>
}

export interface Ledger {
  /**
   * Call with pages in block order, without a gap; blocks that were applied before are not applied again. Throws
   * QueryError('protocol') for an invalid page, of which nothing is applied.
   */
  applyPage(page: Page): void
  /** Throws StandardError if all logs are of another standard. */
  result(): LedgerResult
  /** Whether the events explain the balances. Cheaper than `result`, like `balanceOf`. */
  isExplained(): boolean
  /** The balance of an address in lower case; with a null id of ERC-721 the number of its tokens. */
  balanceOf(address: string, id: bigint | null): bigint
  /** The complete state, for `restore`. */
  snapshot(): Uint8Array
  /** Throws ParseError for a snapshot that is damaged or of another ledger. */
  restore(bytes: Uint8Array): void
}

export interface LedgerOptions {
  readonly standard: Standard
  readonly contract: string
  /** False if the query begins after the creation of the contract. */
  readonly fullHistory: boolean
  readonly profile?: Profile | null
  /** `generic` parses every page; `fast`, the default, scans the bytes of plain pages. */
  readonly path?: 'fast' | 'generic'
}
