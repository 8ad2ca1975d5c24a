import { StoreError } from './errors.ts'
import type { Filter, WantedIdentity } from './store.ts'

/** What a store has written down of itself. */
export interface MadeIdentity {
  readonly chainId: number
  /** As `scopeText` tells it. */
  readonly scope: string
}

/** A scope as text: the same for the same scope, however it was told. */
export const scopeText = ({ addresses, topics }: Filter): string => {
  const positions = topics.map(inOrder)
  // A last position with any topic, or none, asks for nothing.
  const last = positions.findLastIndex(({ length }) => length > 0)
  return JSON.stringify({ addresses: inOrder(addresses), topics: positions.slice(0, last + 1) })
}

/** Throws where the store was made for something else. */
export const expectIdentity = (wanted: WantedIdentity, made: MadeIdentity): void => {
  if (wanted.chainId !== null && wanted.chainId !== made.chainId)
    throw new StoreError('identity', {
      doing: `open the store for chain ${wanted.chainId}`,
      happened: `it holds blocks of chain ${made.chainId}`,
      advice: 'take another place for this chain, or the node of that one',
    })
  if (scopeText(wanted.scope) !== made.scope)
    throw new StoreError('identity', {
      doing: 'open the store',
      happened:
        'it was made for other contracts or topics, and half of what is asked for would be missing',
      evidence: `it keeps ${made.scope}`,
      advice:
        'set the contracts and topics that it was made with, or take another place and begin anew',
    })
}

const inOrder = (values: readonly string[]): readonly string[] => [...new Set(values)].toSorted()
