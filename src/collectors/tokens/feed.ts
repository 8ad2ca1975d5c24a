/** A token in the configuration, whose holders are exported. */
export interface WatchedToken {
  readonly name: string
  /** In lower case. */
  readonly contract: string
  readonly standard: 'erc20' | 'erc721' | 'erc1155'
  readonly profile: 'weth' | 'punks' | null
  /** One unit is 10 to this power of the smallest unit. */
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

/** Time limits of one read, in milliseconds. */
export interface TimeLimits {
  /** After this the read ends with the current page. */
  readonly soft: number
  /** After this the read is aborted. */
  readonly hard: number
}

export interface Balances {
  /** The last block that is included; null if there is none. */
  readonly through: number | null
  /** Null while the history is still being read. */
  readonly result: TokenResult | null
  /** Whether this read made progress. */
  readonly hasMoved: boolean
  /** Why the service returned nothing; null if it did. */
  readonly refusal: string | null
}

interface TokenResult {
  /** Whether the events explain the balances. */
  readonly isExplained: boolean
  /** Whether the events may be of another standard than the configured one. */
  readonly isAmbiguous: boolean
  /** Balances in the order of the configured holders. */
  readonly held: readonly bigint[]
}

/** The balances of one token, updated from the events of the chain. */
export interface TokenFeed {
  /** Reads further events within these limits. Throws a SourceError if the API key cannot be read. */
  advance(time: TimeLimits, signal: AbortSignal): Promise<Balances>
}
