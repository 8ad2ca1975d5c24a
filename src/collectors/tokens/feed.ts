/** A token whose holders are exported, as it is configured. */
export interface WatchedToken {
  readonly name: string
  /** In lower case. */
  readonly contract: string
  readonly standard: 'erc20' | 'erc721' | 'erc1155'
  readonly profile: 'weth' | 'punks' | null
  /** A unit is 10 to this power of the smallest one. */
  readonly decimals: number
  readonly fromBlock: number
  readonly holders: readonly Holder[]
}

interface Holder {
  readonly name: string
  /** In lower case. */
  readonly address: string
  readonly id: bigint | null
}

/** How long one stretch of reading may take, in milliseconds. */
export interface Time {
  /** Then it ends with the piece that is under way. */
  readonly soft: number
  /** Then it ends as it is. */
  readonly hard: number
}

export interface Balances {
  /** The last block that is in them; null while there is none. */
  readonly through: number | null
  /** Null while the history is still being read. */
  readonly result: Known | null
  /** Whether it has come further than it was before. */
  readonly hasMoved: boolean
  /** Why the service gave nothing; null where it did. */
  readonly refusal: string | null
}

interface Known {
  /** Whether the events explain the balances. */
  readonly isExplained: boolean
  /** Of the holders that are configured, in their order. */
  readonly held: readonly bigint[]
}

/** The balances of one token, as they follow the chain. */
export interface TokenFeed {
  /** Reads on for so long. Throws a SourceError where nobody could be asked. */
  advance(time: Time, signal: AbortSignal): Promise<Balances>
}
