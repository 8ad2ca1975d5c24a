import { minute } from '../../core/units.ts'

interface Block {
  readonly height: number
  /** The block's own time, in seconds since the epoch. */
  readonly time: number
}

/** Blocks this far apart measure the rate well: one block interval more or less is below a percent. */
const WINDOW_S = 300
const LEAST_S = 20
/** The pace of a chain changes with its releases; an hour without a block is another matter. */
const KEPT_MS = 60 * minute

/**
 * The rate at which the chain makes blocks, in blocks per second, by the blocks' own times: it is
 * right while the node catches up, and while it is stalled it stays what it was, for an hour.
 */
export const createBlockRate = () => {
  let blocks: readonly Block[] = []
  let advancedAt = -Infinity
  return (newest: Block | undefined, elapsed: number): number | null => {
    const last = blocks.at(-1)
    if (newest && newest.height > (last?.height ?? -1) && newest.time > (last?.time ?? 0)) {
      const kept = blocks.filter(({ time }) => newest.time - time <= WINDOW_S)
      blocks = [...kept, newest]
      advancedAt = elapsed
    }
    const [from, to] = [blocks[0], blocks.at(-1)]
    if (!from || !to || to.time - from.time < LEAST_S || elapsed - advancedAt > KEPT_MS) return null
    return (to.height - from.height) / (to.time - from.time)
  }
}
