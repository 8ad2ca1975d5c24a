import { expect, it } from 'vitest'
import { LOG_FIELDS } from '../../query/log-fields.ts'
import type { Block, Selection } from '../../query/store/store.ts'
import { memoryStore } from '../support/memory-store.ts'
import {
  columnsOf,
  contract,
  diceOf,
  hexOf,
  kindOf,
  never,
  oneOf,
  randomChain,
  randomFilter,
  type StoreBench,
  walked,
  WHOLE,
  word,
} from '../support/store-cases.ts'

/** Reading: the naive store gives the expected results. */
export const readingContract = ({ store }: StoreBench, seeds: readonly number[]): void => {
  it('returns each field as it was stored', async () => {
    const data = hexOf(diceOf(1), 100_000)
    const log = { logIndex: 3, transactionIndex: 1, transactionHash: word(71) }
    const block: Block = {
      number: 2 ** 40,
      hash: word(8),
      parentHash: word(7),
      timestamp: 2 ** 33,
      logCount: 6,
      logs: [
        { ...log, address: contract(1), topics: [], data: '0x' },
        { ...log, logIndex: 4, address: contract(2), topics: [word(1), word(0)], data },
        {
          logIndex: 5,
          transactionIndex: 70_000,
          transactionHash: `0x${'f0'.repeat(32)}`,
          address: `0x${'0a'.repeat(20)}`,
          topics: [word(1), word(2), word(3), `0x${'ff'.repeat(32)}`],
          data: '0x00',
        },
      ],
    }
    await store().append([block])
    const found = await store().read({ ...WHOLE, from: 2 ** 40 }, never())
    expect(found).toMatchObject({
      count: 3,
      blocks: [2 ** 40, 2 ** 40, 2 ** 40],
      next: 2 ** 40 + 1,
      range: { first: 2 ** 40, last: 2 ** 40, lastHash: word(8) },
    })
    expect(columnsOf(found)).toEqual({
      removed: [false, false, false],
      log_index: [3, 4, 5],
      transaction_index: [1, 1, 70_000],
      transaction_hash: [word(71), word(71), `0x${'f0'.repeat(32)}`],
      block_hash: [word(8), word(8), word(8)],
      block_number: [2 ** 40, 2 ** 40, 2 ** 40],
      address: [contract(1), contract(2), `0x${'0a'.repeat(20)}`],
      data: ['0x', data, '0x00'],
      topic0: [null, word(1), word(1)],
      topic1: [null, word(0), word(2)],
      topic2: [null, null, word(3)],
      topic3: [null, null, `0x${'ff'.repeat(32)}`],
    })
    const { number, hash, parentHash, timestamp } = block
    const heads = await store().heads([2 ** 40 + 1, 2 ** 40])
    expect(heads).toMatchObject([{ number, hash, parentHash, timestamp }])
    const none = await store().read({ ...WHOLE, from: 2 ** 40, fields: [] }, never())
    expect({ count: none.count, columns: none.columns.size }).toEqual({ count: 3, columns: 0 })
  })

  it('covers nothing beyond its last block', async () => {
    await store().append(randomChain({ seed: 4, from: 10, blocks: 5 }))
    expect(await store().read({ ...WHOLE, from: 15 }, never())).toMatchObject({ count: 0, next: 15 })
    expect(await store().read({ ...WHOLE, from: 99 }, never())).toMatchObject({ count: 0, next: 99 })
    expect(await store().read({ ...WHOLE, from: 14 }, never())).toMatchObject({ next: 15 })
  })

  it.each(seeds)('finds what the naive filter finds (seed %i)', async (seed) => {
    const dice = diceOf(seed)
    const chain = randomChain({ seed, from: 1000, blocks: 120 })
    const naive = memoryStore()
    await naive.append(chain)
    for (let at = 0; at < chain.length;) {
      const size = 1 + dice(40)
      await store().append(chain.slice(at, at + size))
      at += size
    }
    for (let round = 0; round < 12; round += 1) {
      const from = 1000 + dice(120)
      const selection: Selection = {
        from,
        to: from + dice(130),
        filters: Array.from({ length: oneOf(dice, [1, 1, 2, 4]) }, () => randomFilter(dice)),
        fields: LOG_FIELDS.filter(() => dice(2) === 0),
        encoding: oneOf(dice, ['hex', 'latin1']),
        maxLogs: oneOf(dice, [1, 20, 100, 1e9]),
        maxBytes: oneOf(dice, [3000, 30_000, 1e12]),
        maxMs: 1e9,
      }
      const all = { ...selection, maxLogs: 1e9, maxBytes: 1e12 }
      const expected = await naive.read(all, never())
      expect(await walked(store(), selection), JSON.stringify(selection)).toEqual({
        blocks: expected.blocks,
        columns: columnsOf(expected),
        next: expected.next,
      })
    }
  })

  it('finds the logs of many long lists in little memory', async () => {
    const chain = randomChain({ seed: 12, from: 5, blocks: 60 })
    const naive = memoryStore()
    await Promise.all([naive.append(chain), store().append(chain)])
    const own = (filter: number, count: number, value: (of: number) => string) =>
      Array.from({ length: count }, (_, each) => value(1000 + 100 * filter + each))
    const filters = Array.from({ length: 100 }, (_, each) => ({
      // Of few filters the one list is left out, of few the other.
      addresses: each % 9 === 0 ? [] : [...own(each, 50, contract), contract(each % 5)],
      topics: [each % 7 === 0 ? [] : [word(each % 3)], [...own(each, 49, word), word(each % 4)]],
    }))
    const selection = { ...WHOLE, from: 5, filters, maxLogs: 40 }
    const expected = await naive.read({ ...selection, maxLogs: 1e9 }, never())
    const all = chain.reduce((sum, { logs }) => sum + logs.length, 0)
    expect(expected.count).toBeGreaterThan(10)
    expect(expected.count).toBeLessThan(all / 2)
    expect(await walked(store(), selection)).toMatchObject({ blocks: expected.blocks, columns: columnsOf(expected) })
  })

  it('covers at least one block whatever the limits', async () => {
    const chain = randomChain({ seed: 22, from: 0, blocks: 20, logs: 200 })
    await store().append(chain)
    const large = chain.find(({ logs }) => logs.length > 3)
    if (large === undefined) throw new Error('the seed brings no large block')
    const from = large.number
    expect(await store().read({ ...WHOLE, from, maxLogs: 3, maxBytes: 10, maxMs: 0 }, never())).toMatchObject({
      count: large.logs.length,
      next: from + 1,
    })
    // Without any time, each page still covers one block.
    expect(await walked(store(), { ...WHOLE, maxMs: 0 })).toMatchObject({ next: 20 })
  })

  it('does not read after an abort', async () => {
    await store().append(randomChain({ seed: 61, from: 0, blocks: 3 }))
    expect(await kindOf(store().read(WHOLE, AbortSignal.abort()))).toBe('aborted')
    expect(await store().read(WHOLE, never())).toMatchObject({ next: 3 })
  })
}
