import { describe, expect } from 'vitest'
import { ReorgError } from '../../src/query/client/deliver.ts'
import { createBase } from '../../src/query/client/base.ts'
import { newCounters } from '../../src/query/client/counters.ts'
import { type CheckedPage } from '../../src/query/client/page.ts'
import { createTell } from '../../src/query/client/tell.ts'
import { fetchTip } from '../../src/query/client/tip.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import { fetchAll, it, placesIn, placesOf, steadyLogs } from './client-fixtures.ts'
import { type Faults, type QueryServerOptions } from '../support/query-server.ts'
import { type ServedChain } from '../support/query-chain.ts'

/** Once, before the `nth` query, the blocks from `block` to `last` are replaced. */
const reorgBefore = (
  chain: ServedChain,
  nth: number,
  [block, last]: readonly [number, number],
): Faults => {
  let isDone = false
  return (one) => {
    if (!isDone && one.path === '/query' && one.nth === nth) {
      isDone = true
      chain.reorg(block, steadyLogs(block, last, { data: '0x02' }))
    }
    return undefined
  }
}

describe('edge case 39: blocks that may be of two chains', () => {
  it.for<[string, QueryServerOptions, number]>([
    ['with all hashes', {}, 0],
    ['with none, over three pages', { guard: false }, 2],
    ['in the dialect that has none', { dialect: 'spec' }, 2],
    ['of one page', { guard: false, pageLogs: 1000 }, 0],
    // 801 to 1000 may still be replaced: two pages, and the first of them stands on a block that stays.
    ['below those that stay', { guard: false, logs: steadyLogs(1, 1000), pageLogs: 100 }, 1],
  ])('edge case 39: %s', async ([, options, unguarded], { serve }) => {
    const { url } = await serve(options)
    const { result } = await fetchAll(url)
    expect(result?.stats).toMatchObject({ unguarded, reorgs: 0 })
  })
  it('edge case 39: are told of where no hash shows it', async ({ serve }) => {
    const server = await serve({ dialect: 'spec' })
    server.faults = reorgBefore(server.chain, 1, [5, 30])
    const { result, logs } = await fetchAll(server.url)
    expect(new Set(logs().map(({ data }) => data)).size).toBe(2)
    expect(result?.stats).toMatchObject({ reorgs: 0, unguarded: 2 })
  })
  it('edge case 39: a place to go on from that nothing confirms is told of, too', async ({
    serve,
  }) => {
    const after = { block: 10, hash: '0xaa' }
    const { url } = await serve({ guard: false, pageLogs: 1000, height: 1000 })
    const old = await fetchAll(url, { from: 11, after, query: { toBlock: 600 } })
    expect(old.result?.stats.unguarded).toBe(1)
    expect((await fetchAll(url, { from: 11 })).result?.stats.unguarded).toBe(0)
    expect((await fetchAll(url, { from: 901 })).result?.stats.unguarded).toBe(1)
  })
})

describe('edge case 39: one reorg', () => {
  it('edge case 39: is one, over however many pages it goes', async ({ serve }) => {
    const server = await serve({ logs: steadyLogs(1, 180) })
    const { url, chain } = server
    server.faults = reorgBefore(chain, 15, [20, 180])
    const { result, logs, clock } = await fetchAll(url)
    expect(result).toMatchObject({ complete: true, stats: { reorgs: 1 } })
    expect(placesOf(logs())).toEqual(placesIn(chain.logs()))
    // Thirteen pages back, each after a moment.
    expect(clock.waits.length).toBe(14)
    expect(Math.min(...clock.waits)).toBeGreaterThanOrEqual(50)
  })
})

describe('what is held back', () => {
  const SIZE = 1000
  const hold = (hashOf: (block: number, nth: number) => string, mostHeld: number) => {
    const events: string[] = []
    const counters = newCounters()
    const known = new Map<number, string>()
    let nth = 0
    const running = fetchTip({
      from: 1,
      end: 6,
      mostHeld,
      counters,
      clock: jumpingClock(),
      tell: createTell('read', createBase({ url: 'http://host', apiKey: null })),
      signal: new AbortController().signal,
      fetch: async (from): Promise<CheckedPage> => {
        nth += 1
        events.push(`fetch ${from}`)
        const claims = [from - 1, from].map((block) => ({ block, hash: hashOf(block, nth) }))
        const rest = { archiveHeight: null, isTold: true, isInferred: false, count: 0 }
        const page = { from, next: from + 1, body: Buffer.alloc(SIZE), claims, ...rest }
        return Promise.resolve({ ...page, logs: () => [] })
      },
      deliver: async ({ from, claims }) => {
        if (claims.some(({ block, hash }) => (known.get(block) ?? hash) !== hash)) {
          return Promise.reject(new ReorgError())
        }
        for (const { block, hash } of claims) known.set(block, hash)
        events.push(`deliver ${from}`)
        return Promise.resolve()
      },
    })
    return { running, events, counters }
  }
  it('is no more than there is room for: then the oldest page is handed on', async () => {
    const { running, events } = hold(() => '0xa', 2 * SIZE)
    await running
    expect(events.slice(0, 5)).toEqual(['fetch 1', 'fetch 2', 'fetch 3', 'deliver 1', 'fetch 4'])
    expect(events.filter((event) => event.startsWith('deliver'))).toHaveLength(6)
    const all = hold(() => '0xa', 6 * SIZE)
    await all.running
    expect(all.events.indexOf('deliver 1')).toBe(6)
  })
  it('and a reorg below what was handed on makes all of it void', async () => {
    const { running } = hold((block, nth) => (block >= 1 && nth >= 5 ? '0xb' : '0xa'), 2 * SIZE)
    await expect(running).rejects.toBeInstanceOf(ReorgError)
  })
})
