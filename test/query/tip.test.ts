import { describe, expect } from 'vitest'
import { fetchTip, ReorgError } from '../../query/client/delivery.ts'
import { createEndpoint } from '../../query/client/transport.ts'
import { newCounters } from '../../query/client/request.ts'
import type { CheckedPage } from '../../query/client/page.ts'
import { createErrorFactory } from '../../query/client/errors.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import { fetchAll, it, positionsIn, positionsOf, steadyLogs } from './client-fixtures.ts'
import type { Faults, QueryServerOptions } from '../support/query-server.ts'
import type { ServedChain } from '../support/query-chain.ts'

/** Replaces the blocks from `block` to `last` once, before the `nth` query. */
const reorgBefore = (chain: ServedChain, nth: number, [block, last]: readonly [number, number]): Faults => {
  let isDone = false
  return (one) => {
    if (!isDone && one.path === '/query' && one.nth === nth) {
      isDone = true
      chain.reorg(block, steadyLogs(block, last, { data: '0x02' }))
    }
    return undefined
  }
}

describe('edge case 39: pages that may be of two chains', () => {
  it.for<[string, QueryServerOptions, number]>([
    ['all hashes', {}, 0],
    ['no hashes, three pages', { guard: false }, 2],
    ['a dialect without hashes', { dialect: 'spec' }, 2],
    ['one page', { guard: false, pageLogs: 1000 }, 0],
    // A reorg can replace 801 to 1000: two pages, of which the first follows a block that cannot be replaced.
    ['blocks that a reorg can replace and others', { guard: false, logs: steadyLogs(1, 1000), pageLogs: 100 }, 1],
  ])('edge case 39: %s', async ([, options, unguarded], { serve }) => {
    const { url } = await serve(options)
    const { result } = await fetchAll(url)
    expect(result?.stats).toMatchObject({ unguarded, reorgs: 0 })
  })
  it('edge case 39: a reorg without hashes is counted as unguarded pages', async ({ serve }) => {
    const server = await serve({ dialect: 'spec' })
    server.faults = reorgBefore(server.chain, 1, [5, 30])
    const { result, logs } = await fetchAll(server.url)
    expect(new Set(logs().map(({ data }) => data)).size).toBe(2)
    expect(result?.stats).toMatchObject({ reorgs: 0, unguarded: 2 })
  })
  it('edge case 39: a resume point that no hash confirms is counted, too', async ({ serve }) => {
    const after = { block: 10, hash: '0xaa' }
    const { url } = await serve({ guard: false, pageLogs: 1000, height: 1000 })
    const old = await fetchAll(url, { from: 11, after, query: { toBlock: 600 } })
    expect(old.result?.stats.unguarded).toBe(1)
    expect((await fetchAll(url, { from: 11 })).result?.stats.unguarded).toBe(0)
    expect((await fetchAll(url, { from: 901 })).result?.stats.unguarded).toBe(1)
  })
})

describe('edge case 39: one reorg', () => {
  it('edge case 39: is counted once, however many pages it replaces', async ({ serve }) => {
    const server = await serve({ logs: steadyLogs(1, 180) })
    const { url, chain } = server
    server.faults = reorgBefore(chain, 15, [20, 180])
    const { result, logs, clock } = await fetchAll(url)
    expect(result).toMatchObject({ complete: true, stats: { reorgs: 1 } })
    expect(positionsOf(logs())).toEqual(positionsIn(chain.logs()))
    // Thirteen pages back, with a wait before each.
    expect(clock.waits.length).toBe(14)
    expect(Math.min(...clock.waits)).toBeGreaterThanOrEqual(50)
  })
})

describe('pages that are held back', () => {
  const SIZE = 1000
  const hold = (hashOf: (block: number, nth: number) => string, maxHeldBytes: number) => {
    const events: string[] = []
    const counters = newCounters()
    const known = new Map<number, string>()
    let nth = 0
    const running = fetchTip({
      from: 1,
      end: 6,
      maxHeldBytes,
      counters,
      clock: jumpingClock(),
      queryError: createErrorFactory('read', createEndpoint({ url: 'http://host', apiKey: null })),
      signal: new AbortController().signal,
      fetchPage: async (from): Promise<CheckedPage> => {
        nth += 1
        events.push(`fetch ${from}`)
        const blockHashes = [from - 1, from].map((block) => ({ block, hash: hashOf(block, nth) }))
        const rest = { archiveHeight: null, hasNextBlock: true, isInferred: false, count: 0 }
        const page = { from, next: from + 1, body: Buffer.alloc(SIZE), blockHashes, ...rest }
        return Promise.resolve({ ...page, logs: () => [], logObjects: () => [] })
      },
      deliver: async ({ from, blockHashes }) => {
        if (blockHashes.some(({ block, hash }) => (known.get(block) ?? hash) !== hash)) {
          return Promise.reject(new ReorgError())
        }
        for (const { block, hash } of blockHashes) known.set(block, hash)
        events.push(`deliver ${from}`)
        return Promise.resolve()
      },
    })
    return { running, events, counters }
  }
  it('the oldest page is delivered above the limit', async () => {
    const { running, events } = hold(() => '0xa', 2 * SIZE)
    await running
    expect(events.slice(0, 5)).toEqual(['fetch 1', 'fetch 2', 'fetch 3', 'deliver 1', 'fetch 4'])
    expect(events.filter((event) => event.startsWith('deliver'))).toHaveLength(6)
    const all = hold(() => '0xa', 6 * SIZE)
    await all.running
    expect(all.events.indexOf('deliver 1')).toBe(6)
  })
  it('a reorg of delivered blocks is an error', async () => {
    const { running } = hold((block, nth) => (block >= 1 && nth >= 5 ? '0xb' : '0xa'), 2 * SIZE)
    await expect(running).rejects.toBeInstanceOf(ReorgError)
  })
})
