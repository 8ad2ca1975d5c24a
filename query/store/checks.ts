import { StoreError } from './errors.ts'
import type { BlockHeader, Filter, StoreRange, WantedIdentity } from './store.ts'

/** The identity that is recorded in a store. */
export interface StoredIdentity {
  readonly chainId: number
  /** In the format of `scopeText`. */
  readonly scope: string
}

/** The scope with its values sorted and each once. Trailing positions without values match anything, so they are dropped. */
export const canonicalScope = ({ addresses, topics }: Filter): Filter => {
  const positions = topics.map(sortedUnique)
  const last = positions.findLastIndex(({ length }) => length > 0)
  return { addresses: sortedUnique(addresses), topics: positions.slice(0, last + 1) }
}

/** Equal scopes give equal texts. */
export const scopeText = (scope: Filter): string => JSON.stringify(canonicalScope(scope))

/** Throws StoreError('identity') if the store was created for another chain or scope. */
export const expectIdentity = (wanted: WantedIdentity, stored: StoredIdentity): void => {
  if (wanted.chainId !== null && wanted.chainId !== stored.chainId)
    throw new StoreError('identity', {
      doing: `open the store for chain ${wanted.chainId}`,
      happened: `it holds blocks of chain ${stored.chainId}`,
      advice: 'use another store for this chain, or a node of the chain of the store',
    })
  if (scopeText(wanted.scope) !== stored.scope)
    throw new StoreError('identity', {
      doing: 'open the store',
      happened: 'it was created for other contracts or topics, so a part of the requested logs would be missing',
      evidence: `it keeps ${stored.scope}`,
      advice: 'set the contracts and topics that the store was created with, or create a new store elsewhere',
    })
}

const sortedUnique = (values: readonly string[]): readonly string[] => [...new Set(values)].toSorted()

/** The range of a store with these contents. */
export const rangeOf = (contents: StoreRange | null): StoreRange | null =>
  contents && { first: contents.first, last: contents.last, lastHash: contents.lastHash }

/** Throws StoreError('conflict') unless the blocks continue the stored ones and each other. */
export const expectContinuation = (range: StoreRange | null, blocks: readonly BlockHeader[]): void => {
  let previous = range === null ? undefined : { number: range.last, hash: range.lastHash }
  for (const block of blocks) {
    if (previous !== undefined && block.number !== previous.number + 1)
      throw conflict(block, `it does not follow block ${previous.number}`)
    if (previous !== undefined && block.parentHash !== previous.hash)
      throw conflict(block, `its parent is not block ${previous.number}`)
    previous = block
  }
}

/** Throws StoreError('conflict') unless these are consecutive blocks of the store. */
export const expectStored = (stored: readonly BlockHeader[], blocks: readonly BlockHeader[]): void => {
  const hashes = new Map(stored.map(({ number, hash }) => [number, hash]))
  for (const [index, { number, hash }] of blocks.entries()) {
    const isNext = number === (blocks[0]?.number ?? 0) + index
    if (isNext && hashes.get(number) === hash) continue
    throw new StoreError('conflict', {
      doing: `replace block ${number} in the store`,
      happened: isNext ? 'the store does not have this block' : 'the blocks are not consecutive',
      evidence: `its hash is ${hash}`,
    })
  }
}

const conflict = ({ number, parentHash }: BlockHeader, happened: string): StoreError =>
  new StoreError('conflict', {
    doing: `add block ${number} to the store`,
    happened,
    evidence: `its parent is ${parentHash}`,
  })
