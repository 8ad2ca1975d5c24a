import type { LogField } from '../log-fields.ts'

/** A log as the node returned it. Hex is lower case with 0x. */
export interface StoredLog {
  readonly logIndex: number
  readonly transactionIndex: number
  readonly transactionHash: string
  readonly address: string
  /** Zero to four. */
  readonly topics: readonly string[]
  readonly data: string
}

export interface BlockHeader {
  readonly number: number
  readonly hash: string
  readonly parentHash: string
  /** Seconds since the epoch. */
  readonly timestamp: number
}

/** The header of a stored block. */
export interface StoredHeader extends BlockHeader {
  /** Number of its logs in the store. */
  readonly kept: number
}

/** A final block. */
export interface Block extends BlockHeader {
  /** Number of logs in the block, including those that are not kept. */
  readonly logCount: number
  /** The kept logs, ordered by logIndex. */
  readonly logs: readonly StoredLog[]
}

/** An empty list matches anything. A topic position with values requires a topic there. */
export interface Filter {
  readonly addresses: readonly string[]
  readonly topics: readonly (readonly string[])[]
}

/**
 * The chain and scope of a store. They are recorded when the store is created; opening it for others fails, since a
 * part of the logs would be missing.
 */
export interface StoreIdentity {
  readonly chainId: number
  /** Which logs of each block are kept. */
  readonly scope: Filter
}

/**
 * The identity that the caller expects. The chain id is null while the node is unreachable: then only an existing store
 * is opened, otherwise the error is StoreError('empty').
 */
export interface WantedIdentity {
  readonly chainId: number | null
  readonly scope: Filter
}

/** What to read. Block numbers are inclusive at both ends. */
export interface Selection {
  readonly from: number
  readonly to: number
  /** Alternatives; a log that matches several is returned once. At least one. */
  readonly filters: readonly Filter[]
  /** Only these columns are read. */
  readonly fields: readonly LogField[]
  readonly encoding: BytesEncoding
  /**
   * The page ends with the block that reaches the number of logs, the approximate length of its values as text, or the
   * time in milliseconds. It always covers at least one block.
   */
  readonly maxLogs: number
  readonly maxBytes: number
  readonly maxMs: number
}

/** How a value of bytes is written as text: as 0x and hex digits, or as one character per byte. */
export type BytesEncoding = 'hex' | 'latin1'

/** The text of a value in hex, in this encoding. */
export const encodedBytes = (hex: string, encoding: BytesEncoding): string =>
  encoding === 'hex' ? hex : Buffer.from(hex.slice(2), 'hex').toString('latin1')

/**
 * One value per row; null if the log has no such topic. Numbers for log_index, transaction_index and block_number, a
 * boolean for removed, otherwise bytes in the encoding of the selection.
 */
export type Column = readonly (string | number | boolean | null)[]

/** Complete blocks, ordered by block number and logIndex. */
export interface LogPage {
  readonly count: number
  /** The block number of each row, whether it is a requested field or not. */
  readonly blocks: readonly number[]
  /** The requested fields only. */
  readonly columns: ReadonlyMap<LogField, Column>
  /** First block that the page does not cover: at most `to` + 1 and `range.last` + 1. */
  readonly next: number
  /** The range of the store at the time of the read. */
  readonly range: StoreRange
}

/** Block numbers without gaps, inclusive at both ends. */
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

/** Final blocks in order and without gaps. One process writes, and reads while it writes. */
export interface LogStore {
  /** Chain id of the stored blocks. */
  readonly chainId: number
  /** Null while the store is empty. */
  range(): Promise<StoreRange | null>
  /**
   * Atomic, and durable when it resolves. The blocks must continue the stored ones by number and parentHash, otherwise
   * it throws StoreError('conflict') and changes nothing.
   */
  append(blocks: readonly Block[]): Promise<void>
  /**
   * Replaces the logs of these stored blocks. Atomic, and durable when it resolves: a read returns all of them as they
   * were, or all as they are now. They are consecutive, and their hashes are those in the store, otherwise it throws
   * StoreError('conflict') and changes nothing.
   */
  replace(blocks: readonly Block[]): Promise<void>
  /**
   * Throws StoreError('pruned') if `from` is before the first stored block, and 'empty' if the store is empty. A `from`
   * after the last block returns no rows and next = from.
   */
  read(selection: Selection, signal: AbortSignal): Promise<LogPage>
  /** The headers of those blocks that are stored, ordered by number. */
  heads(numbers: readonly number[]): Promise<readonly StoredHeader[]>
  /** Deletes all blocks before `firstKept`, but never the last block. */
  prune(firstKept: number): Promise<void>
  size(): Promise<StoreSize>
  close(): Promise<void>
}
