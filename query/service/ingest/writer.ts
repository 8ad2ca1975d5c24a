import type { Clock } from '../../../src/core/clock.ts'
import { asError, summaryOf } from '../../../src/core/errors.ts'
import { widen } from '../../../src/core/widen.ts'
import { second } from '../../../src/core/units.ts'
import { StoreError } from '../../store/errors.ts'
import type { Block, LogStore, StoreRange, StoreSize } from '../../store/store.ts'
import type { INGEST_PHASES } from '../metrics.ts'
import type { Position } from './block-reader.ts'
import { FatalIngestError, IngestError, type IngestErrorKind } from './errors.ts'

export type IngestPhase = (typeof INGEST_PHASES)[number]

const STARTING = {
  /**
   * Far behind, at the chain head, waiting for a node that is behind or unreachable, before a block whose logs the node
   * does not return, or stopped.
   */
  phase: widen<IngestPhase>('starting'),
  /** The finalized block that the node last reported, and when (milliseconds since the epoch). */
  nodeHeight: widen<number | null>(null),
  nodeHeightAt: widen<number | null>(null),
  /** First and last block in the store, without gaps between them. */
  first: widen<number | null>(null),
  indexed: widen<number | null>(null),
  /** Timestamp of the last indexed block, in seconds since the epoch. */
  indexedTimestamp: widen<number | null>(null),
  /** Blocks and logs indexed since the start. */
  blocks: 0,
  logs: 0,
  /** Blocks whose logs were replaced, since they had more when they were read again. */
  corrected: 0,
  errors: { unreachable: 0, overload: 0, refused: 0, incomplete: 0, unlinked: 0, invalid: 0, store: 0 },
  /** Summary of the current problem; null if there is none. */
  trouble: widen<string | null>(null),
}

/** State at a scrape; unknown values are null. */
export type IngestState = Readonly<typeof STARTING>

export type StateTracker = ReturnType<typeof createStateTracker>

/** Keeps the state of the ingest up to date. */
export const createStateTracker = (held: StoreRange | null) => {
  let state: IngestState = { ...STARTING, ...(held && { first: held.first, indexed: held.last }) }
  const set = (change: Partial<IngestState>): void => {
    state = { ...state, ...change }
  }
  return {
    state: () => state,
    set,
    /** Sets the range of the store and the timestamp of its last block; null if it is not known. */
    setRange: ({ first, last }: StoreRange, indexedTimestamp: number | null) =>
      set({ first, indexed: last, indexedTimestamp }),
    addWritten: (blocks: readonly Block[]): void => {
      const logs = blocks.reduce((sum, each) => sum + each.logs.length, state.logs)
      set({ blocks: state.blocks + blocks.length, logs })
    },
    addCorrected: (): void => set({ corrected: state.corrected + 1 }),
    recordFailure: (error: Error): void => {
      const kind = kindOf(error)
      const errors = kind === null ? state.errors : { ...state.errors, [kind]: state.errors[kind] + 1 }
      set({ errors, trouble: summaryOf(error) })
    },
  }
}

const kindOf = (error: Error): IngestErrorKind | null => {
  if (error instanceof IngestError) return error.kind
  if (error instanceof StoreError) return 'store'
  return error instanceof FatalIngestError ? 'unlinked' : null
}

/** Null: without that limit. */
export interface Retention {
  readonly blocks: number | null
  readonly bytes: number | null
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

/** Prunes blocks beyond the retention limits, in steps. Returns the range after pruning. */
export const createRetentionEnforcer = ({ store, retention, clock }: RetentionOptions) => {
  const { blocks, bytes } = retention
  let measuredAt = Number.NEGATIVE_INFINITY
  /** High-water size of a store that reuses pruned space but does not shrink its file (DuckDB). */
  let highWater: StoreSize | null = null

  const byBlocks = ({ first, last }: StoreRange): number | null => {
    if (blocks === null) return null
    const firstKept = last - blocks + 1
    return firstKept - first >= Math.max(1, Math.floor(blocks * STEP)) ? firstKept : null
  }

  /** Estimated size in bytes without unused space. */
  const usedBytes = (size: StoreSize): number => {
    if (highWater === null || size.bytes > highWater.bytes) return size.bytes
    return (highWater.bytes * rowsOf(size)) / rowsOf(highWater)
  }

  const byBytes = async ({ first, last }: StoreRange): Promise<number | null> => {
    if (bytes === null || clock.elapsed() - measuredAt < MEASURE_EVERY) return null
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

  return async (range: StoreRange): Promise<StoreRange> => {
    const firstKept = byBlocks(range)
    if (firstKept !== null) await store.prune(firstKept)
    const pruned = (await byBytes(range)) ?? firstKept
    return pruned === null ? range : ((await store.range()) ?? range)
  }
}

/** A block without logs takes about as much space as a log. */
const rowsOf = ({ logs, blocks }: StoreSize): number => logs + blocks

interface WriterOptions extends RetentionOptions {
  readonly tracker: StateTracker
}

/** Writes blocks in the background while the next ones are read. */
export const createWriter = (options: WriterOptions) => {
  const { store, tracker } = options
  const enforceRetention = createRetentionEnforcer(options)
  let writing: Promise<Error | null> = Promise.resolve(null)
  let range: StoreRange | null = null

  const write = async (blocks: readonly Block[]): Promise<Error | null> => {
    const [first, last] = [blocks[0], blocks.at(-1)]
    if (first === undefined || last === undefined) return null
    try {
      await store.append(blocks)
      range = { first: range?.first ?? first.number, last: last.number, lastHash: last.hash }
      tracker.addWritten(blocks)
      tracker.setRange(range, last.timestamp)
      range = await enforceRetention(range)
      tracker.setRange(range, last.timestamp)
      return null
    } catch (error) {
      return asError(error)
    }
  }

  const done = async (): Promise<void> => {
    const error = await writing
    writing = Promise.resolve(null)
    if (error !== null) throw error
  }

  return {
    /** The last block in the store; null if it is empty. */
    held: async (): Promise<Position | null> => {
      range = await store.range()
      if (range === null) return null
      const [head] = await store.heads([range.last])
      tracker.setRange(range, head?.timestamp ?? null)
      return { number: range.last, hash: range.lastHash }
    },
    /** Waits for the previous write and starts writing these blocks. Throws the error of the previous write. */
    begin: async (blocks: readonly Block[]): Promise<void> => {
      await done()
      writing = write(blocks)
    },
    /** Waits for the current write. Throws its error. */
    done,
    /** Waits for the current write and ignores its error. */
    settle: async (): Promise<void> => {
      await writing
    },
  }
}
