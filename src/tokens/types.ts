import { type Page } from '../query/client/types.ts'

export type Standard = 'erc20' | 'erc721' | 'erc1155'

/** Contracts that move tokens by events of their own: wrapped ether's deposits, CryptoPunks' sales. */
export type Profile = 'weth' | 'punks'

/**
 * What was met on the way; nothing odd is left out in silence. Of a log that was applied: `oversizeData`,
 * `unindexed`, `dirtyTopic` (an address with more than 20 bytes), `inconsistent` (an owner who gave what he
 * was not known to have), `unknownBuyer`. Not applied: `duplicate`, `removed`, `unrequested`, `wrongStandard`,
 * `malformed`. `overflow` are balances beyond 256 bits.
 */
export const STATS = [
  'pages',
  'fastPages',
  'logs',
  'applied',
  'duplicate',
  'removed',
  'unrequested',
  'wrongStandard',
  'malformed',
  'oversizeData',
  'unindexed',
  'dirtyTopic',
  'inconsistent',
  'unknownBuyer',
  'overflow',
] as const

export type Stat = (typeof STATS)[number]

export interface BalanceRow {
  /** Lower case. */
  readonly address: string
  /** Null for ERC-20. */
  readonly id: bigint | null
  /** 1 for ERC-721. */
  readonly balance: bigint
}

/** Token ids of one owner that were given to him as a range, both ends included. */
export interface Interval {
  readonly from: bigint
  readonly to: bigint
  readonly owner: string
}

export interface LedgerResult {
  /** ERC-20 by falling balance, then address; ERC-721 by id; ERC-1155 by id, falling balance, address. Negative ones too. */
  readonly rows: readonly BalanceRow[]
  /** Ranges of ERC-2309, without the ids in them that moved on alone. */
  readonly intervals: readonly Interval[]
  /** Not the contract's whole history was read: each balance is what it changed by since then. */
  readonly partial: boolean
  /** The whole history was read, and its events do not explain the balances. */
  readonly nonConserving: boolean
  /** Events of ERC-20 and of ERC-721 came from the one contract; these are the balances of the standard that was asked for. */
  readonly hybrid: boolean
  /** By mints and burns: amounts of ERC-20, tokens of ERC-721; null where it can not be known. */
  readonly supply: bigint | null
  readonly stats: Readonly<Record<Stat, number>>
}

export interface Ledger {
  /**
   * Pages in block order, without a gap; blocks that were read before are not applied again. Throws
   * QueryError('protocol') where a page is refused, and has applied nothing of it.
   */
  applyPage(page: Page): void
  /** Throws StandardError where all logs are of another standard. */
  result(): LedgerResult
  /** Whether the events explain the balances, as `result` says; without its cost, as `balanceOf` is. */
  isExplained(): boolean
  /** Of a holder in lower case: what he has of the id, or of an ERC-721 without one, how many tokens. */
  balanceOf(address: string, id: bigint | null): bigint
  /** All that `restore` needs to go on with the same result. */
  snapshot(): Uint8Array
  /** Throws ParseError where it is damaged, or of another ledger. */
  restore(bytes: Uint8Array): void
}

export interface LedgerOptions {
  readonly standard: Standard
  readonly contract: string
  /** False where the query begins later than the contract. */
  readonly fullHistory: boolean
  readonly profile?: Profile | null
  /** `generic` never looks at a page's bytes. */
  readonly path?: 'fast' | 'generic'
}
