import { expect, test } from 'vitest'
import { compareWithQuorum, databaseUsedRatio, type HeightView } from '../../src/domain/agreement.ts'
import { createSampleIndex, type Sample, sample } from '../../src/core/metric.ts'

const view = (height: number, own: number | null = 1000): HeightView => ({
  height: BigInt(height),
  own: own === null ? null : BigInt(own),
})
const said = (views: readonly HeightView[], configured = views.length) =>
  compareWithQuorum(views, { configured, window: 10n })

test('one reference is its own majority', () => {
  expect(said([view(1007)])).toEqual({ agreeing: 1, difference: 7n })
})
test('ahead of the reference is negative', () => {
  expect(said([view(998)])).toEqual({ agreeing: 1, difference: -2n })
})
test('one of three that answers decides nothing', () => {
  expect(said([view(1007)], 3)).toEqual({ agreeing: 1, difference: null })
})
test('two of three decide: the lower of the two', () => {
  expect(said([view(1007), view(1009)], 3)).toEqual({ agreeing: 2, difference: 7n })
})
test('a reference far ahead or behind is ignored', () => {
  expect(said([view(1007), view(1009), view(9_000_000)])).toEqual({ agreeing: 2, difference: 7n })
  expect(said([view(12), view(1007), view(1009)])).toEqual({ agreeing: 2, difference: 7n })
})
test('two that do not agree are no majority', () => {
  expect(said([view(1000), view(1011)])).toEqual({ agreeing: 1, difference: null })
  expect(said([view(1000), view(1010)])).toEqual({ agreeing: 2, difference: 0n })
})
test('of two groups of the same size the higher one decides', () => {
  expect(said([view(1000), view(1008), view(1016)])).toEqual({ agreeing: 2, difference: 8n })
})
test('of four the lower median', () => {
  expect(said([view(1001), view(1003), view(1005), view(1007)])).toEqual({
    agreeing: 4,
    difference: 3n,
  })
})
test('each is compared with the node on its own tag', () => {
  // An RPC endpoint at 1003 against latest 1000, a query service at 1000 against finalized 997.
  expect(said([view(1003, 1000), view(1000, 997)])).toEqual({ agreeing: 2, difference: 3n })
})
test('without a height of the node there is no difference, and the references still agree', () => {
  expect(said([view(1003, null), view(1004, null)])).toEqual({ agreeing: 2, difference: null })
})
test('without references there is no result', () => {
  expect(said([], 2)).toEqual({ agreeing: 0, difference: null })
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
