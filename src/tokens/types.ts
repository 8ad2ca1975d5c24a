import { QueryError } from '../query/client/errors.ts'
import type { Page } from '../query/client/types.ts'

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

/**
 * What a ledger counts; no unusual log is ignored without being counted. Logs that were applied: `oversizeData`,
 * `unindexed`, `dirtyTopic` (an address with more than 20 bytes), `inconsistent` (the sender was not the known
 * owner), `unknownBuyer`. Logs that were not applied: `duplicate`, `removed`, `unrequested`, `wrongStandard`,
 * `malformed`. `overflow` counts balances of more than 256 bits.
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

type Stat = (typeof STATS)[number]

export class StatCounter {
  readonly #counts = new Map<Stat, number>(STATS.map((stat) => [stat, 0]))

  add(stat: Stat, times = 1): void {
    this.#counts.set(stat, this.of(stat) + times)
  }

  of(stat: Stat): number {
    return this.#counts.get(stat) ?? 0
  }

  addAll(other: StatCounter): void {
    for (const stat of STATS) this.add(stat, other.of(stat))
  }

  toRecord(): Readonly<Record<Stat, number>> {
    const of = (stat: Stat): number => this.of(stat)
    return {
      pages: of('pages'),
      fastPages: of('fastPages'),
      logs: of('logs'),
      applied: of('applied'),
      duplicate: of('duplicate'),
      removed: of('removed'),
      unrequested: of('unrequested'),
      wrongStandard: of('wrongStandard'),
      malformed: of('malformed'),
      oversizeData: of('oversizeData'),
      unindexed: of('unindexed'),
      dirtyTopic: of('dirtyTopic'),
      inconsistent: of('inconsistent'),
      unknownBuyer: of('unknownBuyer'),
      overflow: of('overflow'),
    }
  }
}

const NAMES: Readonly<Record<Standard, string>> = {
  erc20: 'ERC-20',
  erc721: 'ERC-721',
  erc1155: 'ERC-1155',
}

/** All logs of the contract are of another standard than the requested one. */
export class StandardError extends Error {
  override name = 'StandardError'
  readonly requested: Standard
  readonly found: Standard
  constructor(requested: Standard, found: Standard, logs: number) {
    const profile = requested === 'erc721' ? ' (or, if these are the CryptoPunks, with the profile punks)' : ''
    super(
      `Could not compute the balances: all ${logs} events of this contract are of ${NAMES[found]}, not of ${NAMES[requested]}\n` +
        `  what to do: use the standard ${found}${profile}`,
    )
    this.requested = requested
    this.found = found
  }
}

/** The error for a page that a correct service does not return. */
export const invalidPage = (happened: string, evidence?: string): QueryError =>
  new QueryError('protocol', { doing: 'read a page of logs', happened, evidence })
