import type { LogField } from '../../log-fields.ts'
import type { Filter } from '../../store/store.ts'

/**
 * `spec`: to_block inclusive, next_block absent when all has been sent, an entry of data for each block.
 * `hosted`: as the hosted service and its clients have it: to_block exclusive, next_block always there.
 */
export type Dialect = 'spec' | 'hosted'

export const BLOCK_FIELDS = ['number', 'hash', 'parent_hash', 'timestamp'] as const

export type BlockField = (typeof BLOCK_FIELDS)[number]

/** A request that has been understood, whatever its dialect. */
export interface Asked {
  readonly from: number
  /** Inclusive; null: as far as there is. Below `from` where no block is asked for. */
  readonly to: number | null
  readonly filters: readonly Filter[]
  /** What is told of a log; in the hosted dialect it may be nothing. */
  readonly fields: readonly LogField[]
  /** What is told of a block, and of which: those with a log that was found, or each that was looked at. */
  readonly blockFields: readonly BlockField[]
  readonly blocks: 'found' | 'all'
  /** Null: as many as a page holds. */
  readonly maxLogs: number | null
}
