import type { NetworkErrorKind } from './consensus-log-fields.ts'

/** What one line of the consensus log tells; null is what the line or its version leaves out. */
export type ConsensusEvent = { readonly level: Level | null } & Said

/** Null on lines that are not JSON: what Rust itself prints of a panic. */
export type Level = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR'

export type Said =
  | {
      readonly event: 'committed_block'
      readonly block: bigint
      readonly transactions: bigint | null
    }
  /** A round ended, by a quorum certificate or by a timeout certificate, whose round this is. */
  | {
      readonly event: 'round_closed'
      readonly by: 'qc' | 'tc'
      readonly round: bigint
      readonly epoch: bigint
    }
  | { readonly event: 'qc_created'; readonly round: bigint; readonly epoch: bigint | null }
  | { readonly event: 'local_timeout'; readonly round: bigint; readonly leader: string | null }
  | { readonly event: 'remote_timeout'; readonly round: bigint | null }
  | {
      readonly event: 'proposal'
      readonly round: bigint
      readonly epoch: bigint | null
      readonly seqNum: bigint | null
      readonly author: string | null
    }
  | { readonly event: 'vote_sent'; readonly round: bigint | null }
  | { readonly event: 'vote_succeeded' }
  | { readonly event: 'statesync'; readonly step: StatesyncStep; readonly target: bigint | null }
  | { readonly event: 'blocksync'; readonly step: BlocksyncStep }
  | {
      readonly event: 'network_error'
      readonly kind: NetworkErrorKind
      /** Without the port, which changes from session to session. */
      readonly peer: string | null
    }
  /** The leader has nothing executed to build on. */
  | { readonly event: 'execution_lagging' }
  /** The network votes at another pace than this node is built or configured for. */
  | { readonly event: 'pacing_differs' }
  | { readonly event: 'wal'; readonly trouble: 'thread_stopped' | 'push_failed' }
  | { readonly event: 'crash'; readonly reason: string }
  /** The reason of a panic: the tree of blocks is too old to go on from. */
  | { readonly event: 'too_far_behind' }
  /** The first line of a panic. Its reason stands on the next one; null where it does, as it does since Rust 1.73. */
  | { readonly event: 'panic'; readonly place: string; readonly reason: string | null }
  | { readonly event: 'starting'; readonly version: string }
  | { readonly event: 'configs_replaced' }
  | { readonly event: 'stopping' }
  /** A warning or an error that we know nothing more of. */
  | { readonly event: 'other' }

/** `serving` helps others and is healthy; all else is the node's own need, or its end. */
type StatesyncStep =
  | 'begun'
  | 'running'
  | 'new_target'
  | 'snapshot_advised'
  | 'database_done'
  | 'done'
  | 'serving'

type BlocksyncStep = 'own' | 'no_peers' | 'serving'
