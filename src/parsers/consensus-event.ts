/** What a message of consensus reports. Null is a field that the line or its version does not have. */
export type ConsensusEventBody =
  | { readonly event: 'committed_block'; readonly block: bigint; readonly transactions: bigint | null }
  /** A round ended, by a quorum certificate or a timeout certificate. `round` is the certificate's round. */
  | { readonly event: 'round_closed'; readonly by: 'qc' | 'tc'; readonly round: bigint; readonly epoch: bigint }
  | { readonly event: 'qc_created'; readonly round: bigint; readonly epoch: bigint | null }
  | { readonly event: 'local_timeout'; readonly round: bigint; readonly leader: string | null }
  | { readonly event: 'remote_timeout'; readonly round: bigint | null }
  | {
      readonly event: 'proposal'
      readonly round: bigint
      readonly epoch: bigint | null
      readonly seqNum: bigint | null
      readonly author: string | null
      /** The round of its block: an earlier one if the block is proposed again after a timeout. */
      readonly blockRound: bigint | null
    }
  | { readonly event: 'vote_created'; readonly round: bigint | null }
  | { readonly event: 'vote_succeeded' }
  | { readonly event: 'start'; readonly step: StartStep }
  | {
      readonly event: 'statesync'
      readonly step: StatesyncStep
      readonly target: bigint | null
      /** The requests of other nodes that wait, and those that this node answers; only in the line about a request. */
      readonly requests?: { readonly pending: bigint; readonly inProgress: bigint }
    }
  | { readonly event: 'blocksync'; readonly step: BlocksyncStep }
  | {
      readonly event: 'network_error'
      readonly kind: NetworkErrorKind
      /** Without the port, which changes from session to session. */
      readonly peer: string | null
    }
  /** The leader has no executed block to build on. */
  | { readonly event: 'execution_lagging'; readonly round: bigint | null }
  /** The leader does not have the block to build on, or could not check it. */
  | { readonly event: 'parent_missing'; readonly round: bigint | null }
  /** The network uses a different vote pace than this node's version or configuration. */
  | { readonly event: 'pacing_differs' }
  | { readonly event: 'wal'; readonly trouble: 'thread_stopped' | 'push_failed' }
  | { readonly event: 'crash'; readonly reason: string }
  /** The reason of a panic: the block tree is too old to continue from. */
  | { readonly event: 'too_far_behind' }
  /** The first line of a panic. Since Rust 1.73 the reason is on the next line; null in that case. */
  | { readonly event: 'panic'; readonly place: string; readonly reason: string | null }
  | { readonly event: 'starting'; readonly version: string }
  | { readonly event: 'configs_replaced' }
  | { readonly event: 'stopping' }
  /** A warning or an error without a known message. */
  | { readonly event: 'other' }

/** Each start has these phases. `waiting`: for the blocks of the root. `database_done`: their state is present, also without statesync. */
export type StartStep = 'begun' | 'waiting' | 'database_done' | 'live'

/** `serving` answers other nodes and is healthy; every other step is this node's own statesync. */
export type StatesyncStep = 'running' | 'new_target' | 'snapshot_advised' | 'reached' | 'serving'

export type BlocksyncStep = 'own' | 'no_peers' | 'serving'

export type NetworkErrorKind = 'decrypt' | 'session_timeout' | 'timestamp'
