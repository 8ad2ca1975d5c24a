import { summaryOf } from '../../../core/errors.ts'
import { type Block, type StoreRange } from '../../store/store.ts'
import { StoreError } from '../../store/errors.ts'
import { IngestEnded, IngestError } from './errors.ts'
import { type IngestErrorKind, type IngestPhase, type IngestState } from './state.ts'
import { type Tip } from './tip.ts'

/** What the ingest tells of itself, kept as it goes. */
export interface Tally {
  state(): IngestState
  phase(phase: IngestPhase): void
  /** What the node has said of its height, and when. */
  told(tip: Tip, now: number): void
  /** What is held; the time of its last block, where that is known. */
  holds(range: StoreRange, timestamp: number | null): void
  wrote(blocks: readonly Block[]): void
  failed(error: Error): void
  trouble(trouble: string | null): void
}

export const createTally = (): Tally => {
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
    phase: (phase) => set({ phase }),
    told: ({ height }, now) => {
      // A node that does not say its height now leaves what it said before, with its time.
      if (height !== null) set({ nodeHeight: height, nodeHeightAt: now })
    },
    holds: ({ first, last }, indexedTimestamp) => set({ first, indexed: last, indexedTimestamp }),
    wrote: (blocks) => {
      const logs = blocks.reduce((sum, each) => sum + each.logs.length, state.logs)
      set({ blocks: state.blocks + blocks.length, logs })
    },
    failed: (error) => {
      const kind = kindOf(error)
      const errors =
        kind === null ? state.errors : { ...state.errors, [kind]: state.errors[kind] + 1 }
      set({ errors, trouble: summaryOf(error) })
    },
    trouble: (trouble) => set({ trouble }),
  }
}

const kindOf = (error: Error): IngestErrorKind | null => {
  if (error instanceof IngestError) return error.kind
  if (error instanceof StoreError) return 'store'
  return error instanceof IngestEnded ? 'unlinked' : null
}
