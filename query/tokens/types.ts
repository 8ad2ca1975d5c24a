import { QueryError } from '../client/errors.ts'

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

/** The texts around the numbers of a row. */
export interface RowText {
  readonly open: string
  /** Before the id, for tokens with ids. */
  readonly id: string
  readonly balance: string
  readonly close: string
}

/** A range of token ids that one owner received in one event; inclusive at both ends. */
export interface Interval {
  readonly from: bigint
  readonly to: bigint
  readonly owner: string
}

/** The number of ids in the ranges. */
export const sizeOf = (intervals: readonly Interval[]): bigint =>
  intervals.reduce((sum, { from, to }) => sum + to - from + 1n, 0n)

/** A balance at the end of a block that no contract can have: below 0, or of more than 256 bits. */
export interface OutOfRange extends BalanceRow {
  readonly block: number
}

export interface LedgerOptions {
  readonly standard: Standard
  /** In lower case. */
  readonly contract: string
  /** False if the query begins after the creation of the contract. */
  readonly fullHistory: boolean
  /** Of this standard. */
  readonly profile?: Profile | null
}

/**
 * What a ledger counts; no unusual log is ignored without being counted. Logs that were applied: `oversizeData`,
 * `unindexed`, `dirtyTopic` (an address with more than 20 bytes), `inconsistent` (the sender was not the known
 * owner), `unknownBuyer`, `paired` (a deposit or withdrawal and its Transfer, applied once). Logs that were not applied:
 * `duplicate`, `removed`, `unrequested`, `wrongStandard`, `malformed`. `overflow` counts balances of more than 256 bits,
 * and such a supply.
 */
const NO_LOGS = {
  pages: 0,
  fastPages: 0,
  logs: 0,
  applied: 0,
  duplicate: 0,
  removed: 0,
  unrequested: 0,
  wrongStandard: 0,
  malformed: 0,
  oversizeData: 0,
  unindexed: 0,
  dirtyTopic: 0,
  inconsistent: 0,
  unknownBuyer: 0,
  paired: 0,
  overflow: 0,
}

type Stat = keyof typeof NO_LOGS

export const STATS = Object.keys(NO_LOGS).filter((name): name is Stat => name in NO_LOGS)

export class StatCounter {
  readonly #counts: Record<Stat, number> = { ...NO_LOGS }

  add(stat: Stat, times = 1): void {
    this.#counts[stat] += times
  }

  of(stat: Stat): number {
    return this.#counts[stat]
  }

  addAll(other: StatCounter): void {
    for (const stat of STATS) this.add(stat, other.of(stat))
  }

  toRecord(): Readonly<Record<Stat, number>> {
    return { ...this.#counts }
  }
}

/** All logs that were read are of another standard than the requested one. */
export class StandardError extends Error {
  override name = 'StandardError'
  /** Null if it is none that can be read. */
  readonly found: Standard | null
  constructor(found: Standard | null, logs: number) {
    const [what, advice] = found === null ? INDEXED_ID : OF_ANOTHER[found === 'erc20' ? 'erc20' : 'erc721']
    super(
      `Could not compute the balances: all Transfer events that were read (${logs}) are of ${what}\n` +
        `  what to do: ${advice}`,
    )
    this.found = found
  }
}

const OF_ANOTHER = {
  erc20: [
    'ERC-20, or of an ERC-721 that does not index the id and does not log all transfers',
    'use the standard erc20 (or, if these are the CryptoPunks, with the profile punks)',
  ],
  erc721: [
    'ERC-721, not of ERC-20',
    'use the standard erc721; if the contract also has amounts, they are in an event of another name',
  ],
} as const

/** What `mayIndexId` indicates. */
const INDEXED_ID = [
  'an ERC-721 that indexes the id in the place of an address: each recipient is a small number, each amount has the size of an address',
  'read the order of the arguments in the source of the contract, and fetch its logs with `chain-agent query`',
] as const

/** The error for a page that a correct service does not return. */
export const invalidPage = (happened: string, evidence?: string): QueryError =>
  new QueryError('protocol', { doing: 'read a page of logs', happened, evidence })
