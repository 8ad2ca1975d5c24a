import { StoreError } from './errors.ts'
import type { BlockHead, StoreRange } from './store.ts'

/** Throws where blocks do not follow each other, and what is there. */
export const expectFollowing = (held: StoreRange | null, blocks: readonly BlockHead[]): void => {
  let before = held === null ? undefined : { number: held.last, hash: held.lastHash }
  for (const block of blocks) {
    if (before !== undefined && block.number !== before.number + 1)
      throw conflict(block, `the block before it would be ${before.number}`)
    if (before !== undefined && block.parentHash !== before.hash)
      throw conflict(block, `its parent is another than block ${before.number}`)
    before = block
  }
}

const conflict = ({ number, parentHash }: BlockHead, happened: string): StoreError =>
  new StoreError('conflict', {
    doing: `add block ${number} to the store`,
    happened,
    evidence: `its parent is ${parentHash}`,
  })
