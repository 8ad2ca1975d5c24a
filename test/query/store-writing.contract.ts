import { expect, it } from 'vitest'
import { StoreError } from '../../src/query/store/errors.ts'
import type { Block, StoreIdentity } from '../../src/query/store/store.ts'
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
