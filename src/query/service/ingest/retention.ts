import { type Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import { type LogStore, type StoreRange, type StoreSize } from '../../store/store.ts'

export type Retention = { readonly blocks?: number; readonly bytes?: number } | 'unbounded'

/** Prunes blocks beyond the retention limits, in steps. */
export interface RetentionEnforcer {
  /** Returns the range after pruning. */
  enforce(range: StoreRange): Promise<StoreRange>
}

/** The newest blocks are never pruned, however small the limit. */
const MIN_KEPT = 100
/** Share of the stored blocks that is pruned per step, since each step costs the store some work. */
const STEP = 1 / 20
/** Measuring a store costs it some work as well. */
const MEASURE_EVERY = 10 * second

interface RetentionOptions {
  readonly store: LogStore
  readonly retention: Retention
  readonly clock: Clock
}

export const createRetentionEnforcer = ({ store, retention, clock }: RetentionOptions): RetentionEnforcer => {
  const { blocks, bytes } = retention === 'unbounded' ? {} : retention
  let measuredAt = Number.NEGATIVE_INFINITY
  /** High-water size of a store that reuses pruned space but does not shrink its file (DuckDB). */
  let highWater: StoreSize | null = null

  const byBlocks = ({ first, last }: StoreRange): number | null => {
    if (blocks === undefined) return null
    const firstKept = last - blocks + 1
    return firstKept - first >= Math.max(1, Math.floor(blocks * STEP)) ? firstKept : null
  }

  /** Estimated size in bytes without unused space. */
  const usedBytes = (size: StoreSize): number => {
    if (highWater === null || size.bytes > highWater.bytes) return size.bytes
    return (highWater.bytes * rowsOf(size)) / rowsOf(highWater)
  }

  const byBytes = async ({ first, last }: StoreRange): Promise<number | null> => {
    if (bytes === undefined || clock.elapsed() - measuredAt < MEASURE_EVERY) return null
    measuredAt = clock.elapsed()
    const size = await store.size()
    const used = usedBytes(size)
    if (used <= bytes) return null
    const pruneCount = Math.ceil((last - first + 1) * (1 - ((1 - STEP) * bytes) / used))
    const firstKept = Math.min(first + pruneCount, last - MIN_KEPT + 1)
    if (firstKept <= first) return null
    await store.prune(firstKept)
    const { bytes: left } = await store.size()
    if (left < size.bytes) highWater = null
    else if (highWater === null || size.bytes > highWater.bytes) highWater = size
    return firstKept
  }

  return {
    enforce: async (range) => {
      const firstKept = byBlocks(range)
      if (firstKept !== null) await store.prune(firstKept)
      const pruned = (await byBytes(range)) ?? firstKept
      return pruned === null ? range : ((await store.range()) ?? range)
    },
  }
}

/** A block without logs takes about as much space as a log. */
const rowsOf = ({ logs, blocks }: StoreSize): number => logs + blocks
