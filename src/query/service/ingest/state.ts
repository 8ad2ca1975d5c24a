import { summaryOf } from '../../../core/errors.ts'
import { StoreError } from '../../store/errors.ts'
import type { Block, StoreRange } from '../../store/store.ts'
import type { ChainHead } from './chain-head.ts'
import { FatalIngestError, IngestError } from './errors.ts'

/** Why a step of the ingest failed: a label of a metric. */
export const INGEST_ERRORS = [
  'unreachable',
  'overload',
  'refused',
  'incomplete',
  'unlinked',
  'nonsense',
  'store',
] as const

export type IngestErrorKind = (typeof INGEST_ERRORS)[number]

/** State of the ingest: far behind, at the chain head, waiting for a node that is behind or unreachable, or stopped. */
export type IngestPhase = 'starting' | 'back-fill' | 'tail' | 'waiting' | 'stopped'

/** State at a scrape; unknown values are null. */
export interface IngestState {
  readonly phase: IngestPhase
  /** The finalized block that the node last reported, and when (milliseconds since the epoch). */
  readonly nodeHeight: number | null
  readonly nodeHeightAt: number | null
  /** First and last block in the store, without gaps between them. */
  readonly first: number | null
  readonly indexed: number | null
  /** Timestamp of the last indexed block, in seconds since the epoch. */
  readonly indexedTimestamp: number | null
  /** Blocks and logs indexed since the start. */
  readonly blocks: number
  readonly logs: number
  readonly errors: Readonly<Record<IngestErrorKind, number>>
  /** Summary of the current problem; null if there is none. */
  readonly trouble: string | null
}

export interface Ingest {
  state(): IngestState
  /**
   * Runs until the signal aborts. Throws on permanent errors: another chain, a replaced final block, a broken store.
   */
  run(signal: AbortSignal): Promise<void>
}

/** Keeps the state of the ingest up to date. */
export interface StateTracker {
  state(): IngestState
  setPhase(phase: IngestPhase): void
  /** Sets the height that the node reported, and when. */
  setNodeHeight(head: ChainHead, now: number): void
  /** Sets the range of the store and the timestamp of its last block; null if it is not known. */
  setRange(range: StoreRange, timestamp: number | null): void
  addWritten(blocks: readonly Block[]): void
  recordFailure(error: Error): void
  setTrouble(trouble: string | null): void
}

export const createStateTracker = (): StateTracker => {
  let state: IngestState = {
    phase: 'starting',
    nodeHeight: null,
    nodeHeightAt: null,
    first: null,
    indexed: null,
    indexedTimestamp: null,
    blocks: 0,
    logs: 0,
    errors: {
      unreachable: 0,
      overload: 0,
      refused: 0,
      incomplete: 0,
      unlinked: 0,
      nonsense: 0,
      store: 0,
    },
    trouble: null,
  }
  const set = (change: Partial<IngestState>): void => {
    state = { ...state, ...change }
  }
  return {
    state: () => state,
    setPhase: (phase) => set({ phase }),
    setNodeHeight: ({ height }, now) => {
      // Without a new height the last one stays, with its time.
      if (height !== null) set({ nodeHeight: height, nodeHeightAt: now })
    },
    setRange: ({ first, last }, indexedTimestamp) => set({ first, indexed: last, indexedTimestamp }),
    addWritten: (blocks) => {
      const logs = blocks.reduce((sum, each) => sum + each.logs.length, state.logs)
      set({ blocks: state.blocks + blocks.length, logs })
    },
    recordFailure: (error) => {
      const kind = kindOf(error)
      const errors = kind === null ? state.errors : { ...state.errors, [kind]: state.errors[kind] + 1 }
      set({ errors, trouble: summaryOf(error) })
    },
    setTrouble: (trouble) => set({ trouble }),
  }
}

const kindOf = (error: Error): IngestErrorKind | null => {
  if (error instanceof IngestError) return error.kind
  if (error instanceof StoreError) return 'store'
  return error instanceof FatalIngestError ? 'unlinked' : null
}
