import { type Clock } from '../../../core/clock.ts'
import { second } from '../../../core/units.ts'
import { type LogStore, type StoreRange, type StoreSize } from '../../store/store.ts'

export type Retention = { readonly blocks?: number; readonly bytes?: number } | 'unbounded'

/** Forgets what is beyond the bounds, in steps. */
export interface Keeper {
  /** What is held afterwards. */
  tidy(range: StoreRange): Promise<StoreRange>
}

/** The newest blocks stay, however small the bound. */
const LEAST_KEPT = 100
/** Of what is held, and a step at a time: each costs the store some work. */
const STEP = 1 / 20
/** To measure a store costs it some work, too. */
const MEASURED_EVERY = 10 * second

interface KeeperOptions {
  readonly store: LogStore
  readonly retention: Retention
  readonly clock: Clock
}

export const createKeeper = ({ store, retention, clock }: KeeperOptions): Keeper => {
  const { blocks, bytes } = retention === 'unbounded' ? {} : retention
  let measured = Number.NEGATIVE_INFINITY
  /** Of a store that keeps the space of what it forgot, to use it anew: how large it was when there was none of that in it. */
  let full: StoreSize | null = null

  const byBlocks = ({ first, last }: StoreRange): number | null => {
    if (blocks === undefined) return null
    const firstKept = last - blocks + 1
    return firstKept - first >= Math.max(1, Math.floor(blocks * STEP)) ? firstKept : null
  }

  /** How many bytes it would be without unused space. */
  const usedOf = (size: StoreSize): number => {
    if (full === null || size.bytes > full.bytes) return size.bytes
    return (full.bytes * rowsOf(size)) / rowsOf(full)
  }

  const byBytes = async ({ first, last }: StoreRange): Promise<number | null> => {
    if (bytes === undefined || clock.elapsed() - measured < MEASURED_EVERY) return null
    measured = clock.elapsed()
    const size = await store.size()
    const used = usedOf(size)
    if (used <= bytes) return null
    const forgotten = Math.ceil((last - first + 1) * (1 - ((1 - STEP) * bytes) / used))
    const firstKept = Math.min(first + forgotten, last - LEAST_KEPT + 1)
    if (firstKept <= first) return null
    await store.prune(firstKept)
    const { bytes: left } = await store.size()
    if (left < size.bytes) full = null
    else if (full === null || size.bytes > full.bytes) full = size
    return firstKept
  }

  return {
    tidy: async (range) => {
      const firstKept = byBlocks(range)
      if (firstKept !== null) await store.prune(firstKept)
      const pruned = (await byBytes(range)) ?? firstKept
      return pruned === null ? range : ((await store.range()) ?? range)
    },
  }
}

/** What takes space: a block without logs takes about as much as a log. */
const rowsOf = ({ logs, blocks }: StoreSize): number => logs + blocks
