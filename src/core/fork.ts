/** A date from which the network requires a version or a database timeline. */
export interface Fork {
  readonly name: string
  /** `fork`: the protocol rules change. `release`: a minimum version is required. */
  readonly kind: 'fork' | 'release'
  /** In milliseconds. */
  readonly activationAt: number
  /** The oldest version that works from then on; null if every version does. */
  readonly minimumVersion: string | null
  /** The required encoding of a database timeline; null if none is required. */
  readonly timeline: 'page' | null
}

/** By chain id, in decimal digits. */
export type Forks = ReadonlyMap<string, readonly Fork[]>
