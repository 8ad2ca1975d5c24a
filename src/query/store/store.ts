import type { LogField } from '../log-fields.ts'

/** A log as the node told it. Hex in lower case with 0x. */
export interface StoredLog {
  readonly logIndex: number
  readonly transactionIndex: number
  readonly transactionHash: string
  readonly address: string
  /** None to four. */
  readonly topics: readonly string[]
  readonly data: string
}

export interface BlockHead {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
}

/** A final block. */
export interface Block extends BlockHead {
  /** All logs of the block, whether they are kept or not. */
  readonly logCount: number
  /** Those that are kept, by logIndex. */
  readonly logs: readonly StoredLog[]
}

/** Empty: any. A position with values needs the topic to be there. */
export interface Filter {
  readonly addresses: readonly string[]
  readonly topics: readonly (readonly string[])[]
}

/** What a store is for. It is written down when the store is made, and a store of another is refused: half of it would be missing. */
export interface StoreIdentity {
  readonly chainId: number
  /** What is kept of each block. */
  readonly scope: Filter
}

/** What a store is opened for. Null where the node is away and its chain id not known: then the store opens only where it was made before, else StoreError('empty'). */
export interface WantedIdentity {
  readonly chainId: number | null
  readonly scope: Filter
}

/** What to read. Blocks inclusive at both ends. */
export interface Selection {
  readonly from: number
  readonly to: number
  /** Alternatives; a log that matches several comes once. At least one. */
  readonly filters: readonly Filter[]
  /** Only these columns are read. */
  readonly fields: readonly LogField[]
  /** After so many logs, so many bytes of values as hex (about) or so much time, no further block is begun. One block is always covered. */
  readonly maxLogs: number
  readonly maxBytes: number
  readonly maxMs: number
}

/** One value a row; null where the log has no such topic. Numbers for the three that count and for block_number, a boolean for removed, else hex. */
export type Column = readonly (string | number | boolean | null)[]

/** Whole blocks, in order of block and logIndex. */
export interface Found {
  readonly count: number
  /** The block of each row, whether asked for or not. */
  readonly blocks: readonly number[]
  /** Exactly the fields asked for. */
  readonly columns: ReadonlyMap<LogField, Column>
  /** First block that is not covered: at most `to` + 1 and `range.last` + 1. */
  readonly next: number
  /** What the store held at that moment. */
  readonly range: StoreRange
}

/** Contiguous, inclusive. */
export interface StoreRange {
  readonly first: number
  readonly last: number
  readonly lastHash: string
}

export interface StoreSize {
  readonly bytes: number
  readonly logs: number
  readonly blocks: number
}

/** Final blocks in order, without a gap. One process writes, and reads while it writes. */
export interface LogStore {
  /** Of the chain that it was made for. */
  readonly chainId: number
  /** Null while it is empty. */
  range(): Promise<StoreRange | null>
  /**
   * All or nothing, and durable when it resolves. The blocks follow each other and what is there
   * by number and parentHash, else StoreError('conflict') and nothing has changed.
   */
  append(blocks: readonly Block[]): Promise<void>
  /**
   * Throws StoreError('pruned') where `from` lies before what is held at that moment, and 'empty' where nothing is;
   * a `from` beyond the last is covered by nothing: no rows, next = from.
   */
  read(selection: Selection, signal: AbortSignal): Promise<Found>
  /** Those of these blocks that are held, in order of number. */
  heads(numbers: readonly number[]): Promise<readonly BlockHead[]>
  /** Forgets all before `firstKept`; never the last block. */
  prune(firstKept: number): Promise<void>
  size(): Promise<StoreSize>
  close(): Promise<void>
}
