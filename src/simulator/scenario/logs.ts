/** What a scenario makes programs write beside what happens: what each says is in journal/spoken.ts. */
export const CONSENSUS_SAYS = [
  'wal_stopped',
  'wal_push_failed',
  'consensus_crashed',
  'parent_executor_gone',
  'slow_executor',
  'clock_rejected',
  'pacing_mismatch',
  'cannot_propose',
  'snapshot_advised',
] as const
export const EXECUTION_SAYS = [
  'assertion',
  'abort',
  'block_failed',
  'result_mismatch',
  'slow_commit',
  'event_ring',
  'io_uring',
  'virtual_offset',
  'exception',
  'caught_exception',
  'history_shortened',
  'timeline_missing',
  'db_old_format',
  'db_hard_reset',
  'db_dirty',
  'disk_full',
  'fatal',
] as const

export type Spoken =
  | { readonly role: 'bft'; readonly says: (typeof CONSENSUS_SAYS)[number]; readonly atMs: number }
  | {
      readonly role: 'execution'
      readonly says: (typeof EXECUTION_SAYS)[number]
      readonly atMs: number
    }

/** Something that comes so many times a second, from a moment on. */
export interface Steady {
  readonly fromMs: number
  readonly perSecond: number
}

export interface Speech {
  /** What was said last. */
  readonly last: Spoken | undefined
  /** While the thread that writes the write-ahead log has stopped. */
  readonly walStopped: Steady | undefined
  /** While other nodes send what cannot be read. */
  readonly networkErrors: Steady | undefined
}

/** The journal as others find it. */
export interface JournalState {
  /** `frozen`: whoever reads waits. `forbidden`: as for a user outside of the group. */
  readonly access: 'open' | 'frozen' | 'forbidden'
  /** So much of the past is kept; undefined for all that there is room for. */
  readonly keptMs: number | undefined
}

export interface Cleanup {
  /** Whether it finds nothing new, whatever the node does. */
  readonly skips: boolean
  /** When somebody last ran it by hand. */
  readonly ranMs: number | undefined
}

export const silent: Speech = { last: undefined, walStopped: undefined, networkErrors: undefined }
export const readable: JournalState = { access: 'open', keptMs: undefined }
export const usualCleanup: Cleanup = { skips: false, ranMs: undefined }
