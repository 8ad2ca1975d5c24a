/** The length of the epochs of a network. */
export interface EpochLength {
  readonly blocks: number
  /** Rounds from the boundary block of an epoch to the start of the next epoch. */
  readonly delayRounds: number
}

/** A map from the chain id, in decimal digits. */
export type EpochLengths = Pick<ReadonlyMap<string, EpochLength>, 'get'>

export interface EpochPosition {
  /** `delay`: the boundary block has been proposed, and the next epoch has not started. */
  readonly phase: 'before boundary' | 'delay'
  /** Blocks until the boundary block; in the delay, the number of blocks after which it is over at the latest. */
  readonly blocksLeft: number
}

/**
 * The position of a block in its epoch. Undefined if the epoch number does not fit the length: the length is not that
 * of this network.
 */
export const epochPosition = (
  { height, epoch }: { readonly height: number; readonly epoch: number },
  { blocks, delayRounds }: EpochLength,
): EpochPosition | undefined => {
  const boundaries = Math.floor((height + 1) / blocks)
  const sinceBoundary = (height + 1) % blocks
  if (epoch === boundaries + 1) return { phase: 'before boundary', blocksLeft: blocks - 1 - (height % blocks) }
  // A block takes one round or more.
  if (epoch === boundaries && sinceBoundary <= delayRounds)
    return { phase: 'delay', blocksLeft: delayRounds - sinceBoundary }
  return undefined
}
