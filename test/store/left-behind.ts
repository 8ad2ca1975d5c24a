import { expect } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openDuckDbStore } from '../../src/query/store/duckdb/store.ts'
import type { Block } from '../../src/query/store/store.ts'
import { memoryStore } from '../support/memory-store.ts'
import type { Dice } from '../support/store-chain.ts'
import { columnsOf, IDENTITY, never, walked, WHOLE } from '../support/store-pages.ts'
import type { Change } from '../support/store-writer.ts'

export interface Left {
  readonly first: number
  readonly last: number
}

/** What lies there is what a chain has, from the first block to the last. */
export const expectWhole = async (
  directory: string,
  chain: readonly Block[],
): Promise<Left | null> => {
  const store = await openDuckDbStore(directory, { identity: IDENTITY, clock: systemClock })
  try {
    const range = await store.range()
    if (range === null) return null
    const { first, last } = range
    const naive = memoryStore()
    await naive.append(chain.slice(first, last + 1))
    const expected = await naive.read({ ...WHOLE, from: first }, never())
    expect(await walked(store, { ...WHOLE, from: first })).toEqual({
      blocks: expected.blocks,
      columns: columnsOf(expected),
      next: last + 1,
    })
    expect(await store.size()).toMatchObject({ logs: expected.count, blocks: last - first + 1 })
    return { first, last }
  } finally {
    await store.close()
  }
}

/** Blocks are added in parts, and old ones forgotten now and then. */
export const changesFrom = (
  dice: Dice,
  chain: readonly Block[],
  left: Left | null,
): readonly Change[] => {
  const changes: Change[] = []
  for (let at = (left?.last ?? -1) + 1; at < chain.length;) {
    const size = 1 + dice(dice(4) === 0 ? 60 : 4)
    changes.push({ append: chain.slice(at, at + size) })
    at += size
    if (dice(6) === 0) changes.push({ prune: Math.max(1, at - 150) })
  }
  return changes
}

/** What the changes that were said to be done have left at the least. */
export const leastOf = (changes: readonly Change[], left: Left | null): Left | null =>
  changes.reduce<Left | null>((before, change) => {
    if ('prune' in change)
      return before === null
        ? null
        : { ...before, first: Math.max(before.first, Math.min(change.prune, before.last)) }
    const last = change.append.at(-1)?.number ?? 0
    return { first: before?.first ?? change.append[0]?.number ?? 0, last }
  }, left)
