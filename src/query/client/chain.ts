import { type BlockHash } from './types.ts'

/** More pages than that never lie between two that are compared. */
const REMEMBERED = 1000

/** The hashes that the service has told so far. Two for one block are a reorg. */
export const createChain = () => {
  const hashes = new Map<number, string>()
  return {
    agrees: (claims: readonly BlockHash[]): boolean =>
      claims.every(({ block, hash }) => (hashes.get(block) ?? hash) === hash),
    knows: (block: number): boolean => hashes.has(block),
    learn: (claims: readonly BlockHash[]): void => {
      for (const { block, hash } of claims) hashes.set(block, hash)
      for (const block of hashes.keys()) {
        if (hashes.size <= REMEMBERED) break
        hashes.delete(block)
      }
    },
    forget: (): void => {
      hashes.clear()
    },
  }
}

export type Chain = ReturnType<typeof createChain>

/** Whether a page and what was fetched before it can be of one chain. */
export const fits = (
  claims: readonly BlockHash[],
  before: readonly (readonly BlockHash[])[],
): boolean =>
  before.every((others) =>
    others.every(({ block, hash }) =>
      claims.every((claim) => claim.block !== block || claim.hash === hash),
    ),
  )
