import type { Validator } from './validators.ts'

interface Round {
  readonly round: bigint
  /** Whose turn it was. */
  readonly leader: Validator
  /** When the network knew how the round ended. */
  readonly seenMs: number
}

export interface Block extends Round {
  readonly kind: 'block'
  readonly seqNum: bigint
  readonly parentRound: bigint
  readonly epoch: bigint
  /** The block's own time. */
  readonly timeMs: number
  readonly transactions: number
  /** 64 hex digits. */
  readonly id: string
}

/** A round whose leader said nothing: no block. */
export interface Timeout extends Round {
  readonly kind: 'timeout'
}

export type Happening = Block | Timeout
