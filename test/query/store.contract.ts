import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LOG_FIELDS } from '../../query/log-fields.ts'
import { StoreError } from '../../query/store/errors.ts'
import type { Block, LogStore, Selection, StoreIdentity } from '../../query/store/store.ts'
import { memoryStore } from '../support/memory-store.ts'
import {
  columnsOf,
  contract,
  diceOf,
  EVERYTHING,
  hexOf,
  IDENTITY,
  kindOf,
  never,
  oneOf,
  randomChain,
  randomFilter,
  walked,
  WHOLE,
  word,
} from '../support/store-cases.ts'

/** Where a store lies, for the time of one test. */
export interface Place {
  /** Opens what lies here, and makes it where there is nothing. Opened by one at a time. */
  open(identity: StoreIdentity): Promise<LogStore>
  remove(): Promise<void>
}

/** What every store has to do. */
export const storeContract = (
  name: string,
  newPlace: () => Promise<Place>,
  // Of the random chains that are read; where each page takes long, fewer.
  seeds: readonly number[] = [11, 12, 13],
): void => {
  describe(`the store of ${name}`, () => {
    let place: Place
    let store: LogStore | undefined
    const close = async (): Promise<void> => {
      const closing = store
      store = undefined
      await closing?.close()
    }
    beforeEach(async () => {
      place = await newPlace()
      store = await place.open(IDENTITY)
    })
    afterEach(async () => {
      await close()
      await place.remove()
    })
    const bench = {
      store: (): LogStore => {
        if (store === undefined) throw new Error('no store is open')
        return store
      },
      reopen: async (identity: StoreIdentity): Promise<void> => {
        await close()
        store = await place.open(identity)
      },
      renew: async (identity: StoreIdentity): Promise<void> => {
        await close()
        await place.remove()
        place = await newPlace()
        store = await place.open(identity)
      },
    }
    readingContract(bench, seeds)
    writingContract(bench)
  })
}

/** The store of a test that is running. */
interface StoreBench {
  /** The one that is open now. */
  readonly store: () => LogStore
  /** Closes it, and opens what lies there. */
  readonly reopen: (identity: StoreIdentity) => Promise<void>
  /** Closes it, and makes another in a place of its own. */
  readonly renew: (identity: StoreIdentity) => Promise<void>
}

/** Reading: the naive store gives the expected results. */
const readingContract = ({ store }: StoreBench, seeds: readonly number[]): void => {
  it('returns each field as it was stored', async () => {
    // 128 bytes are the first length that ClickHouse writes in two bytes.
    const [data = '', short = ''] = [100_000, 128].map((bytes) => hexOf(diceOf(1), bytes))
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
          data: short,
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
      data: ['0x', data, short],
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

/** What writing leaves, and what others see of it meanwhile. */
const writingContract = (bench: StoreBench): void => {
  const { store } = bench
  it('is empty at first', async () => {
    await store().append([])
    await store().prune(5)
    expect(await store().range()).toBeNull()
    expect(await store().heads([0, 1])).toEqual([])
    expect(await store().size()).toMatchObject({ logs: 0, blocks: 0 })
    expect(await kindOf(store().read(WHOLE, never()))).toBe('empty')
  })

  it('reports its range, also after a reopen', async () => {
    const chain = randomChain({ seed: 2, from: 100, blocks: 30 })
    const logs = chain.flatMap((block) => block.logs).length
    await store().append(chain.slice(0, 10))
    await store().append(chain.slice(10))
    for (const again of [false, true]) {
      if (again) await bench.reopen(IDENTITY)
      expect(await store().range()).toEqual({ first: 100, last: 129, lastHash: chain[29]?.hash })
      expect(await store().size()).toMatchObject({ logs, blocks: 30 })
      expect((await store().heads([129, 100, 99, 107])).map(({ number }) => number)).toEqual([100, 107, 129])
    }
    expect((await store().size()).bytes).toBeGreaterThan(0)
  })

  it('appends atomically', async () => {
    const chain = randomChain({ seed: 31, from: 50, blocks: 12 })
    await store().append(chain.slice(0, 6))
    const before = { range: await store().range(), size: await store().size() }
    const alien = randomChain({ seed: 32, from: 56, blocks: 3 })
    const refused: readonly (readonly [string, readonly Block[]])[] = [
      ['a gap', chain.slice(7)],
      ['a block that is there', chain.slice(5)],
      ['another chain', alien],
      ['a gap within', [...chain.slice(6, 8), ...chain.slice(9)]],
      ['another chain within', [...chain.slice(6, 8), ...alien.slice(2)]],
    ]
    for (const [what, blocks] of refused) {
      expect(await kindOf(store().append(blocks)), what).toBe('conflict')
      const { range, size } = { range: await store().range(), size: await store().size() }
      expect({ range, logs: size.logs, blocks: size.blocks }, what).toEqual({
        range: before.range,
        logs: before.size.logs,
        blocks: before.size.blocks,
      })
    }
    await store().append(chain.slice(6))
    expect(await store().range()).toMatchObject({ first: 50, last: 61 })
  })

  it('prunes old blocks, but never the last', async () => {
    const chain = randomChain({ seed: 41, from: 10, blocks: 20 })
    await store().append(chain.slice(0, 18))
    await store().prune(5)
    expect(await store().range()).toMatchObject({ first: 10, last: 27 })
    await store().prune(15)
    for (const again of [false, true]) {
      if (again) await bench.reopen(IDENTITY)
      expect(await store().range()).toMatchObject({ first: 15, last: 27 })
      const refusal = await store()
        .read({ ...WHOLE, from: 14 }, never())
        .catch((error: unknown) => error)
      expect(refusal).toBeInstanceOf(StoreError)
      expect(refusal).toMatchObject({ kind: 'pruned', first: 15 })
      expect(await store().heads([14, 15])).toHaveLength(1)
      const kept = chain.slice(5, 18).flatMap(({ logs }) => logs)
      expect(await store().size()).toMatchObject({ logs: kept.length, blocks: 13 })
      const found = await store().read({ ...WHOLE, from: 15, fields: ['data'] }, never())
      expect(found.columns.get('data')).toEqual(kept.map(({ data }) => data))
    }
    await store().prune(1000)
    expect(await store().range()).toMatchObject({ first: 27, last: 27, lastHash: chain[17]?.hash })
    await store().append(chain.slice(18))
    expect(await store().range()).toMatchObject({ first: 27, last: 29 })
  })

  const readAll = async (from: number) => {
    const { blocks, columns } = await store().read({ ...WHOLE, from, fields: ['log_index', 'data'] }, never())
    return { blocks, indexes: columns.get('log_index'), data: columns.get('data') }
  }
  const rowsOf = (chain: readonly Block[]) => {
    const rows = chain.flatMap(({ number, logs }) => logs.map((log) => ({ number, log })))
    return {
      blocks: rows.map(({ number }) => number),
      indexes: rows.map(({ log }) => log.logIndex),
      data: rows.map(({ log }) => log.data),
    }
  }

  it('replaces the logs of stored blocks, in order, also after a reopen and before more blocks', async () => {
    const right = randomChain({ seed: 61, from: 20, blocks: 60 })
    // Stored without some of their logs.
    const bare = (block: Block): Block => ({ ...block, logs: block.logs.slice(0, block.number % 3) })
    const stored = right.slice(0, 50).map((block) => (block.number % 5 < 2 ? bare(block) : block))
    await store().append(stored)
    const current = [...stored]
    // Two ranges with one between them, one that overlaps both, the first block, and the last.
    for (const [from, to] of [
      [3, 6],
      [10, 11],
      [5, 30],
      [0, 3],
      [48, 50],
    ] as const) {
      const fresh = right.slice(from, to)
      await store().replace(fresh)
      current.splice(from, to - from, ...fresh)
      expect(await readAll(20)).toEqual(rowsOf(current))
      expect(await readAll(26)).toEqual(rowsOf(current.slice(6)))
      expect(await store().size()).toMatchObject({ logs: rowsOf(current).blocks.length, blocks: 50 })
      expect(await store().range()).toEqual({ first: 20, last: 69, lastHash: right[49]?.hash })
    }
    await bench.reopen(IDENTITY)
    expect(await readAll(20)).toEqual(rowsOf(current))
    expect((await store().heads([23, 69])).map(({ kept }) => kept)).toEqual(
      [right[3], right[49]].map((block) => block?.logs.length),
    )
    await store().append(right.slice(50))
    await store().replace(right.slice(30, 32))
    await store().append([])
    await store().replace(right.slice(32, 50))
    expect(await readAll(20)).toEqual(rowsOf(right))
    await bench.reopen(IDENTITY)
    expect(await readAll(20)).toEqual(rowsOf(right))
    await store().prune(25)
    expect(await readAll(25)).toEqual(rowsOf(right.slice(5)))
    await bench.reopen(IDENTITY)
    expect(await readAll(25)).toEqual(rowsOf(right.slice(5)))
  })

  it('replaces nothing unless all of the blocks are in the store and consecutive', async () => {
    const chain = randomChain({ seed: 62, from: 50, blocks: 12 })
    await store().replace([])
    expect(await kindOf(store().replace(chain.slice(0, 1)))).toBe('conflict')
    await store().append(chain.slice(0, 6))
    const alien = randomChain({ seed: 63, from: 52, blocks: 1 })
    for (const [what, blocks] of [
      ['beyond the last', chain.slice(4, 8)],
      ['another chain', [...chain.slice(1, 2), ...alien]],
      ['a gap', [...chain.slice(1, 2), ...chain.slice(3, 4)]],
      ['before the first', randomChain({ seed: 62, from: 48, blocks: 3 })],
    ] as const) {
      const emptied = blocks.map((block) => ({ ...block, logs: [] }))
      expect(await kindOf(store().replace(emptied)), what).toBe('conflict')
      expect(await readAll(50)).toEqual(rowsOf(chain.slice(0, 6)))
    }
    await store().append(chain.slice(6))
    expect(await readAll(50)).toEqual(rowsOf(chain))
  })

  it('shows all replaced blocks as they were or as they are now', async () => {
    const chain = randomChain({ seed: 64, from: 0, blocks: 40, logs: 6 })
    const bare = chain.map((block) => ({ ...block, logs: [] }))
    await store().append(bare)
    let isWriting = true
    const write = async (): Promise<void> => {
      for (let round = 0; round < 6; round += 1) await store().replace(round % 2 === 0 ? chain : bare)
      isWriting = false
    }
    const look = async (): Promise<readonly number[]> => {
      const counts: number[] = []
      while (isWriting || counts.length === 0) counts.push((await readAll(0)).blocks.length)
      return counts
    }
    const [, ...looks] = await Promise.all([write(), look(), look()])
    const whole = rowsOf(chain).blocks.length
    expect(looks.flat().filter((count) => count !== 0 && count !== whole)).toEqual([])
  })

  it('shows only complete blocks to readers during writes and pruning', async () => {
    const chain = randomChain({ seed: 51, from: 0, blocks: 160, logs: 6 })
    await store().append(chain.slice(0, 5))
    let writing = true
    const write = async (): Promise<void> => {
      for (let at = 5; at < chain.length; at += 5) {
        await store().append(chain.slice(at, at + 5))
        if (at % 20 === 0) await store().prune(at - 15)
      }
      writing = false
    }
    const look = async (): Promise<number> => {
      let looks = 0
      while (writing || looks === 0) {
        const from = (await store().range())?.first ?? 0
        const found = await store()
          .read({ ...WHOLE, from, fields: ['log_index'] }, never())
          .catch(lost)
        looks += 1
        if (found === undefined) continue
        expect(found.next).toBe(found.range.last + 1)
        const whole = chain.slice(from, found.next)
        expect(found.columns.get('log_index')).toEqual(
          whole.flatMap(({ logs }) => logs.map(({ logIndex }) => logIndex)),
        )
      }
      return looks
    }
    const [, ...looks] = await Promise.all([write(), look(), look(), look()])
    expect(Math.min(...looks)).toBeGreaterThan(0)
  })

  it('rejects another identity than it was created with', async () => {
    const scope = { addresses: [contract(2), contract(1)], topics: [[word(1)], [], [word(3)]] }
    await bench.renew({ chainId: 7, scope })
    await store().append(randomChain({ seed: 71, from: 0, blocks: 2 }))
    const others: readonly StoreIdentity[] = [
      { chainId: 8, scope },
      { chainId: 7, scope: EVERYTHING },
      { chainId: 7, scope: { ...scope, addresses: [contract(1)] } },
      { chainId: 7, scope: { ...scope, topics: [[word(1)]] } },
      { chainId: 7, scope: { ...scope, topics: [[word(1)], [word(3)], []] } },
    ]
    for (const other of others) expect(await kindOf(bench.reopen(other))).toBe('identity')
    // The same scope in another order.
    await bench.reopen({ chainId: 7, scope: { ...scope, addresses: scope.addresses.toReversed() } })
    expect(await store().range()).toMatchObject({ first: 0, last: 1 })
  })
}

/** Pruned during a read. */
const lost = (error: unknown): undefined => {
  expect(error).toMatchObject({ kind: 'pruned' })
}
