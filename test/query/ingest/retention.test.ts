import { describe, expect } from 'vitest'
import { createRetentionEnforcer, type Retention } from '../../../query/service/ingest/writer.ts'
import { memoryStore } from '../../support/memory-store.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { createRpcChain } from '../../support/rpc-node.ts'
import { ingestUntil, it, watchedStore } from './fixtures.ts'

const chain = createRpcChain()

/** Adds one block per second and returns the first stored block after each. */
const begins = async (
  retention: Partial<Retention>,
  count: number,
  bytesOf: (blocks: number, most: number) => number = (blocks) => blocks * 10,
) => {
  const clock = jumpingClock()
  const store = memoryStore()
  let most = 0
  let measured = 0
  const sized = {
    ...store,
    size: async () => {
      measured += 1
      const size = await store.size()
      return { ...size, bytes: bytesOf(size.blocks, most) }
    },
  }
  const keeper = createRetentionEnforcer({
    store: sized,
    retention: { blocks: null, bytes: null, ...retention },
    clock,
  })
  const firsts: number[] = []
  for (let number = 0; number < count; number += 1) {
    await store.append([chain.block(number)])
    most = Math.max(most, (await store.size()).blocks)
    const range = await store.range()
    if (range !== null) firsts.push((await keeper(range)).first)
    await clock.sleep(1000, new AbortController().signal)
  }
  return { firsts, measured, store }
}

describe('retention', () => {
  it('by blocks keeps at least this number, and a twentieth more', async () => {
    const { firsts, store } = await begins({ blocks: 100 }, 250)
    for (const [last, first] of firsts.entries()) {
      const held = last - first + 1
      expect(held).toBeGreaterThanOrEqual(Math.min(100, last + 1))
      expect(held).toBeLessThan(105)
    }
    expect(await store.range()).toMatchObject({ first: 150, last: 249 })
    expect(new Set(firsts).size).toBe(31)
  })

  it('by blocks can keep a single block', async () => {
    const { firsts } = await begins({ blocks: 1 }, 5)
    expect(firsts).toEqual([0, 1, 2, 3, 4])
  })

  it('by bytes prunes a twentieth more than necessary, and does not measure each time', async () => {
    const { firsts, measured } = await begins({ bytes: 3000 }, 600)
    for (const [last, first] of firsts.entries()) expect((last - first + 1) * 10).toBeLessThan(3110)
    expect((600 - (firsts.at(-1) ?? 0)) * 10).toBeGreaterThanOrEqual(2850)
    expect(measured).toBeLessThan(100)
  })

  it('by bytes never prunes the newest blocks', async () => {
    const { firsts } = await begins({ bytes: 1 }, 300)
    expect(firsts.at(-1)).toBe(290 - 99)
  })

  it('by bytes does not empty a store that reuses space without shrinking', async () => {
    const { firsts } = await begins({ bytes: 3000 }, 1500, (_, most) => most * 10)
    const last = 1499
    const held = last - (firsts.at(-1) ?? 0) + 1
    expect(held).toBeGreaterThan(270)
    expect(held).toBeLessThan(330)
  })

  it('without limits prunes nothing', async () => {
    expect((await begins({}, 150)).firsts.at(-1)).toBe(0)
  })

  it('does not read blocks into an empty store that would be pruned at once', async ({ startNode }) => {
    const node = await startNode({ height: 500 })
    const { store, appended } = watchedStore()
    const options = { node, store, retention: { blocks: 50, bytes: null } }
    const { state } = await ingestUntil(options, ({ indexed }) => indexed === 500)
    expect(appended.flat()[0]?.number).toBe(451)
    expect(state).toMatchObject({ first: 451, indexed: 500 })
  })

  it.for([
    ['first', 9000, 500],
    ['then', 500, 9000],
  ] as const)(
    'an empty store begins below the lower of two heights: the wrong one comes %s',
    async ([, height, next], { startNode }) => {
      const node = await startNode({ height })
      const { store, appended } = watchedStore()
      const options = { node, store, retention: { blocks: 50, bytes: null } }
      await ingestUntil(options, ({ trouble, indexed }) => {
        if (trouble?.startsWith('the first height')) node.chain.setHeight(next)
        return indexed !== null && indexed >= 500
      })
      expect(appended.flat()[0]?.number).toBe(451)
    },
  )
})
