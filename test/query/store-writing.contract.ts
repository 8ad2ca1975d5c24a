import { expect, it } from 'vitest'
import { StoreError } from '../../query/store/errors.ts'
import type { Block, StoreIdentity } from '../../query/store/store.ts'
import {
  contract,
  EVERYTHING,
  IDENTITY,
  kindOf,
  never,
  randomChain,
  type StoreBench,
  WHOLE,
  word,
} from '../support/store-cases.ts'

/** What writing leaves, and what others see of it meanwhile. */
export const writingContract = (bench: StoreBench): void => {
  const { store, durable } = bench
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
      if (again && durable) await bench.reopen(IDENTITY)
      expect(await store().range()).toEqual({ first: 100, last: 129, lastHash: chain[29]?.hash })
      expect(await store().size()).toMatchObject({ logs, blocks: 30 })
      expect((await store().heads([129, 100, 99, 107])).map(({ number }) => number)).toEqual([100, 107, 129])
    }
    if (durable) expect((await store().size()).bytes).toBeGreaterThan(0)
  })

  it('accepts blocks without logs, and covers them', async () => {
    const bare = randomChain({ seed: 3, from: 0, blocks: 8, logs: 0 })
    await store().append(bare)
    expect(await store().read({ ...WHOLE, to: 5 }, never())).toMatchObject({ count: 0, next: 6 })
    expect(await store().read(WHOLE, never())).toMatchObject({ count: 0, next: 8 })
    expect(await store().size()).toMatchObject({ logs: 0, blocks: 8 })
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
      if (again && durable) await bench.reopen(IDENTITY)
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
    if (durable) await bench.reopen(IDENTITY)
    expect(await readAll(20)).toEqual(rowsOf(current))
    expect((await store().heads([23, 69])).map(({ kept }) => kept)).toEqual(
      [right[3], right[49]].map((block) => block?.logs.length),
    )
    await store().append(right.slice(50))
    await store().replace(right.slice(30, 32))
    await store().append([])
    await store().replace(right.slice(32, 50))
    expect(await readAll(20)).toEqual(rowsOf(right))
    if (durable) await bench.reopen(IDENTITY)
    expect(await readAll(20)).toEqual(rowsOf(right))
    await store().prune(25)
    expect(await readAll(25)).toEqual(rowsOf(right.slice(5)))
    if (durable) await bench.reopen(IDENTITY)
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

  if (!durable) return
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
