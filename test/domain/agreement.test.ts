import { expect, test } from 'vitest'
import { compareWithQuorum, databaseUsedRatio, type HeightView } from '../../src/domain/agreement.ts'
import { createSampleIndex, type Sample, sample } from '../../src/core/metric.ts'

const view = (height: number, own: number | null = 1000): HeightView => ({
  height: BigInt(height),
  own: own === null ? null : BigInt(own),
})
test.each<
  readonly [what: string, configured: number, views: readonly HeightView[], agreeing: number, ahead: bigint | null]
>([
  ['one reference is its own majority', 1, [view(1007)], 1, 7n],
  ['ahead of the reference is negative', 1, [view(998)], 1, -2n],
  ['one of three that answers decides nothing', 3, [view(1007)], 1, null],
  ['two of three decide: the lower of the two', 3, [view(1007), view(1009)], 2, 7n],
  ['a reference far ahead is ignored', 3, [view(1007), view(1009), view(9_000_000)], 2, 7n],
  ['a reference far behind is ignored', 3, [view(12), view(1007), view(1009)], 2, 7n],
  ['two that do not agree are no majority', 2, [view(1000), view(1011)], 1, null],
  ['two that just agree', 2, [view(1000), view(1010)], 2, 0n],
  ['of two groups of the same size the higher one decides', 3, [view(1000), view(1008), view(1016)], 2, 8n],
  ['of four the lower median', 4, [view(1001), view(1003), view(1005), view(1007)], 4, 3n],
  // An RPC endpoint at 1003 against latest 1000, a query service at 1000 against finalized 997.
  ['each is compared with the node on its own tag', 2, [view(1003, 1000), view(1000, 997)], 2, 3n],
  ['without a height of the node there is no difference', 2, [view(1003, null), view(1004, null)], 2, null],
  ['without references there is no result', 2, [], 0, null],
])('%s', (...[, configured, views, agreeing, difference]) => {
  expect(compareWithQuorum(views, { configured, window: 10n })).toEqual({ agreeing, difference })
})

/** A report as in test/fixtures/mpt/a-v0.10.txt: 1,240 of 2,000 chunks are used, and 61.8 % of the bytes. */
const DEVICES = ['a', 'b'].map((device, index) => sample('chain_storage_used_ratio', 0.6 + index * 0.018, { device }))
const CHUNKS = [
  sample('chain_storage_chunks', 1200, { list: 'fast' }),
  sample('chain_storage_chunks', 40, { list: 'slow' }),
  sample('chain_storage_chunks', 760, { list: 'free' }),
]

test('the use of the database is the share of used chunks, as the node compares it with its limits', () => {
  const usedRatio = (...samples: readonly Sample[]) => databaseUsedRatio(createSampleIndex(samples))
  // From monad, category/mpt/trie.hpp, disk_usage: 1 - free / all.
  expect(usedRatio(...DEVICES, ...CHUNKS)).toBeCloseTo(0.62)
  expect(usedRatio(...DEVICES, ...CHUNKS, sample('chain_execution_storage_used_ratio', 0.63))).toBe(0.63)
  expect(usedRatio(...DEVICES)).toBeCloseTo(0.618)
  expect(usedRatio(...CHUNKS.slice(0, 2))).toBeUndefined()
  expect(usedRatio()).toBeUndefined()
})
