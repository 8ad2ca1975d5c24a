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

/** What the ingest is at: far behind, at the tip, waiting for the node (which is behind or does not answer), or ended. */
export type IngestPhase = 'starting' | 'back-fill' | 'tail' | 'waiting' | 'stopped'

/** Read at a scrape; unknown is null. */
export interface IngestState {
  readonly phase: IngestPhase
  /** The finalized block of the node as last told, and when that was (milliseconds since the epoch). */
  readonly nodeHeight: number | null
  readonly nodeHeightAt: number | null
  /** What is held: contiguous. */
  readonly first: number | null
  readonly indexed: number | null
  /** Time of the last indexed block, seconds since the epoch. */
  readonly indexedTimestamp: number | null
  /** In this run. */
  readonly blocks: number
  readonly logs: number
  readonly errors: Readonly<Record<IngestErrorKind, number>>
  /** Summary of what stands in the way at the moment; null when nothing does. */
  readonly trouble: string | null
}

export interface Ingest {
  state(): IngestState
  /** Ends when the signal does. Throws where it must not go on: another chain, a fork below what was final, a broken store. */
  run(signal: AbortSignal): Promise<void>
}
