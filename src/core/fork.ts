/** A date by which a node must have something, or it is left behind. */
export interface Fork {
  readonly name: string
  /** Whether the rules change, or everybody must merely run a newer version. */
  readonly kind: 'fork' | 'release'
  /** In milliseconds. */
  readonly activationAt: number
  /** The oldest version that can go on from then; null where any can. */
  readonly minimumVersion: string | null
  /** The encoding that a timeline of the database must have; null where any will do. */
  readonly timeline: 'page' | null
}

/** By chain id, in decimal digits. */
export type Forks = ReadonlyMap<string, readonly Fork[]>
