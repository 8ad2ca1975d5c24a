/** A height that somebody reports, and the height of the node on the same block tag at that moment. */
export interface View {
  readonly height: bigint
  /** Null when the node did not answer. */
  readonly own: bigint | null
}

export interface Agreement {
  /** How many views lie within the window of each other, in the largest such group. */
  readonly agreeing: number
  /** Blocks that the node is behind; null without a quorum, or without a height of the node. */
  readonly difference: bigint | null
}

/** Blocks within which heights count as the same. */
export const AGREEMENT_WINDOW = 10n

/** The most of them that lie within the window of each other. */
export const largestGroup = <V extends Pick<View, 'height'>>(
  views: readonly V[],
  window: bigint,
): readonly V[] => {
  const sorted = views.toSorted((a, b) => compare(a.height, b.height))
  const groups = sorted.map((lowest) =>
    sorted.filter(({ height }) => height >= lowest.height && height - lowest.height <= window),
  )
  // Of two groups of one size the higher: the chain only grows, and old nodes may agree on an old height.
  return groups.reduce<readonly V[]>(
    (largest, next) => (next.length >= largest.length ? next : largest),
    [],
  )
}

export const isQuorum = (agreeing: number, configured: number): boolean =>
  agreeing > Math.floor(configured / 2)

/**
 * What the references together say. A quorum is the majority of those configured, answering or not:
 * one reference that is left of three decides nothing. Each view is compared with the node on its own
 * tag, and of the differences the lower median counts, which at least half of the group bears out.
 */
export const agree = (
  views: readonly View[],
  { configured, window }: { readonly configured: number; readonly window: bigint },
): Agreement => {
  const group = largestGroup(views, window)
  const behind = group
    .flatMap(({ height, own }) => (own === null ? [] : [height - own]))
    .toSorted(compare)
  const median = behind[Math.floor((behind.length - 1) / 2)]
  const isKnown = isQuorum(group.length, configured) && median !== undefined
  return { agreeing: group.length, difference: isKnown ? median : null }
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
