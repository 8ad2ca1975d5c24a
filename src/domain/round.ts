/** The last thing that the ledger stream reports of a round; `skipped` is a round between a block and its parent. */
export const ROUND_STATES = ['finalized', 'proposed', 'timed out', 'skipped'] as const

/** A round of consensus. */
export interface RecentRound {
  readonly round: bigint
  readonly state: (typeof ROUND_STATES)[number]
  /** The public key of the leader; null for a skipped round. */
  readonly leader: string | null
  /** When its first line was written, in milliseconds since the epoch. */
  readonly at: number
  /** Whether the node led it; null if unknown. */
  readonly isOwn: boolean | null
}
