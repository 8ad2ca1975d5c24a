import { describe, expect } from 'vitest'
import { fetchTip, ReorgError } from '../../query/client/delivery.ts'
import { createErrorFactory } from '../../query/client/errors.ts'
import type { CheckedPage } from '../../query/client/page.ts'
import { newCounters } from '../../query/client/types.ts'
import { createEndpoint } from '../../query/client/transport.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import type { ServedChain } from '../support/query-chain.ts'
import { alter, type Fault, type Faults, inTurn, type QueryServerOptions } from '../support/query-server.ts'
import { fetchAll, fetchWhole, it, positionsIn, positionsOf, steadyLogs } from './client-fixtures.ts'

/** Replaces the blocks from `block` on before the `nth` query. */
const reorgBefore =
  (chain: ServedChain, nth: number, [block, last]: readonly [number, number]): Faults =>
  (one): Fault | undefined => {
    if (one.path === '/query' && one.nth === nth) chain.reorg(block, steadyLogs(block, last, { data: `0x${nth}f` }))
    return undefined
  }

describe('a reorg between pages', () => {
  it('of the last page', async ({ serve }) => {
    const server = await serve()
    const { chain, seen } = server
    server.faults = reorgBefore(chain, 2, [18, 30])
    const fetched = await fetchWhole(server)
    expect(fetched.result).toMatchObject({ complete: true, through: 30, stats: { reorgs: 1, logs: 30 } })
    // The third page does not follow the second, which is fetched again and follows the first.
    expect(seen.slice(1).map(({ from }) => from)).toEqual([0, 11, 21, 11, 21])
    expect(fetched.resets()).toBe(0)
  })
  it('over several pages: back to the last page of the same chain', async ({ serve }) => {
    const server = await serve({ pageLogs: 5 })
    const { chain, seen } = server
    server.faults = reorgBefore(chain, 4, [8, 30])
    const fetched = await fetchWhole(server)
    // Pages from 0, 6, 11, 16: 8 is in the second. The first stays.
    expect(seen.slice(1).map(({ from }) => from)).toEqual([0, 6, 11, 16, 21, 16, 11, 6, 11, 16, 21, 26])
    // Three pages back are one reorg, with a wait before each.
    expect(fetched.result?.stats).toMatchObject({ reorgs: 1, pages: 6 })
    expect(fetched.clock.waits).toHaveLength(3)
    expect(Math.min(...fetched.clock.waits)).toBeGreaterThanOrEqual(50)
    expect(fetched.resets()).toBe(0)
  })
  it('of delivered blocks: the query restarts', async ({ serve }) => {
    const server = await serve({ logs: steadyLogs(1, 1000), pageLogs: 100 })
    const { chain } = server
    server.faults = ({ path, from }) => {
      // 801 is the first block that a reorg can replace.
      if (path === '/query' && from === 801 && chain.hash(1000).startsWith('0x00000000')) {
        chain.reorg(700, steadyLogs(700, 1000, { data: '0x02' }))
      }
      return undefined
    }
    const fetched = await fetchWhole(server)
    expect(fetched.resets()).toBe(1)
    expect(fetched.result).toMatchObject({ complete: true, through: 1000, stats: { logs: 1000, reorgs: 1 } })
  })
  it('while old blocks are fetched concurrently', async ({ serve }) => {
    const server = await serve({ logs: steadyLogs(1, 2000), pageLogs: 100 })
    const { chain } = server
    server.faults = reorgBefore(chain, 9, [300, 2000])
    const fetched = await fetchWhole(server)
    expect(fetched.resets()).toBe(1)
    expect(fetched.result?.stats.logs).toBe(2000)
  })
  it('between two runs: a resumed run restarts', async ({ serve }) => {
    const { url, chain } = await serve()
    const first = await fetchAll(url)
    const last = first.pages.at(-1)?.last
    expect(last).toEqual({ block: 30, hash: chain.hash(30) })
    chain.setHeight(50)
    chain.add(steadyLogs(31, 50))
    const onwards = await fetchAll(url, { from: 31, after: last })
    expect(onwards.resets()).toBe(0)
    expect(positionsOf(onwards.logs())).toEqual(positionsIn(chain.logs().slice(30)))
    chain.reorg(29, steadyLogs(29, 50, { data: '0x02' }))
    const again = await fetchAll(url, { from: 31, after: last })
    expect(again.resets()).toBe(1)
    expect(positionsOf(again.logs())).toEqual(positionsIn(chain.logs()))
    expect(again.result).toMatchObject({ complete: true, from: 0, through: 50 })
  })
  it('again and again: an error, and no page is delivered', async ({ serve }) => {
    const server = await serve()
    server.faults = ({ path, nth }) => {
      if (path === '/query' && nth > 0) server.chain.reorg(11, steadyLogs(11, 30))
      return undefined
    }
    const { error, pages } = await fetchAll(server.url)
    expect(error).toMatchObject({ kind: 'no-progress' })
    expect(String(error)).toContain('replaced again and again')
    expect(pages).toEqual([])
  })
})

describe('not a reorg', () => {
  it('a hash of the head instead of the page', async ({ serve }) => {
    const ofTheHead = (hash: string): Fault =>
      alter((answer) => ({ ...answer, rollback_guard: { block_number: 4000, hash } }))
    const server = await serve({ faults: inTurn(ofTheHead('0xaa'), ofTheHead('0xbb'), ofTheHead('0xcc')) })
    const fetched = await fetchWhole(server)
    expect(fetched.result?.stats.reorgs).toBe(0)
  })
})

describe('pages that may be of two chains', () => {
  it.for<[string, QueryServerOptions, number]>([
    ['all hashes', {}, 0],
    ['no hashes, three pages', { guard: false }, 2],
    ['a dialect without hashes', { dialect: 'spec' }, 2],
    ['one page', { guard: false, pageLogs: 1000 }, 0],
    // A reorg can replace 801 to 1000: two pages, of which the first follows a block that cannot be replaced.
    ['blocks that a reorg can replace and others', { guard: false, logs: steadyLogs(1, 1000), pageLogs: 100 }, 1],
  ])('%s', async ([, options, unguarded], { serve }) => {
    const { url } = await serve(options)
    const { result } = await fetchAll(url)
    expect(result?.stats).toMatchObject({ unguarded, reorgs: 0 })
  })
  it('a reorg without hashes is counted as unguarded pages', async ({ serve }) => {
    const server = await serve({ dialect: 'spec' })
    server.faults = reorgBefore(server.chain, 1, [5, 30])
    const { result, logs } = await fetchAll(server.url)
    expect(new Set(logs().map(({ data }) => data)).size).toBe(2)
    expect(result?.stats).toMatchObject({ reorgs: 0, unguarded: 2 })
  })
  it('a resume point that no hash confirms is counted, too', async ({ serve }) => {
    const after = { block: 10, hash: '0xaa' }
    const { url } = await serve({ guard: false, pageLogs: 1000, height: 1000 })
    const old = await fetchAll(url, { from: 11, after, query: { toBlock: 600 } })
    expect(old.result?.stats.unguarded).toBe(1)
    expect((await fetchAll(url, { from: 11 })).result?.stats.unguarded).toBe(0)
    expect((await fetchAll(url, { from: 901 })).result?.stats.unguarded).toBe(1)
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
