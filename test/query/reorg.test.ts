import { describe, expect } from 'vitest'
import { fetchAll, it, positionsIn, positionsOf, steadyLogs } from './client-fixtures.ts'
import { alter, type Fault, type Faults, inTurn } from '../support/query-server.ts'
import { type ServedChain } from '../support/query-chain.ts'

/** Replaces the blocks from `block` on before the `nth` query. */
const reorgBefore =
  (chain: ServedChain, nth: number, { block, last = 30 }: { block: number; last?: number }): Faults =>
  (one): Fault | undefined => {
    if (one.path === '/query' && one.nth === nth) {
      chain.reorg(block, steadyLogs(block, last, { data: `0x${nth}f`, perBlock: 1 }))
    }
    return undefined
  }

describe('edge case 39: a reorg between pages', () => {
  it('edge case 39: of the last page', async ({ serve }) => {
    const server = await serve()
    const { url, chain, seen } = server
    server.faults = reorgBefore(chain, 2, { block: 18 })
    const fetched = await fetchAll(url)
    expect(fetched.result).toMatchObject({ complete: true, through: 30, stats: { reorgs: 1, logs: 30 } })
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
    // The third page does not follow the second, which is fetched again and follows the first.
    expect(seen.slice(1).map(({ from }) => from)).toEqual([0, 11, 21, 11, 21])
    expect(fetched.resets()).toBe(0)
  })
  it('edge case 39: over several pages: back to the last page of the same chain', async ({ serve }) => {
    const server = await serve({ pageLogs: 5 })
    const { url, chain, seen } = server
    server.faults = reorgBefore(chain, 4, { block: 8 })
    const fetched = await fetchAll(url)
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
    // Pages from 0, 6, 11, 16: 8 is in the second. The first stays.
    expect(seen.slice(1).map(({ from }) => from)).toEqual([0, 6, 11, 16, 21, 16, 11, 6, 11, 16, 21, 26])
    expect(fetched.result?.stats).toMatchObject({ reorgs: 1, pages: 6 })
    expect(fetched.resets()).toBe(0)
  })
  it('edge case 39: twice', async ({ serve }) => {
    const server = await serve()
    const { url, chain } = server
    server.faults = (one) => reorgBefore(chain, 2, { block: 15 })(one) ?? reorgBefore(chain, 4, { block: 12 })(one)
    const fetched = await fetchAll(url)
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
    expect(fetched.result).toMatchObject({ complete: true, stats: { reorgs: 2 } })
  })
  it('edge case 39: of delivered blocks: the query restarts', async ({ serve }) => {
    const server = await serve({ logs: steadyLogs(1, 1000), pageLogs: 100 })
    const { url, chain } = server
    server.faults = ({ path, from }) => {
      // 801 is the first block that a reorg can replace.
      if (path === '/query' && from === 801 && chain.hash(1000).startsWith('0x00000000')) {
        chain.reorg(700, steadyLogs(700, 1000, { data: '0x02' }))
      }
      return undefined
    }
    const fetched = await fetchAll(url)
    expect(fetched.resets()).toBe(1)
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
    expect(fetched.result).toMatchObject({ complete: true, through: 1000, stats: { logs: 1000, reorgs: 1 } })
  })
  it('edge case 39: while old blocks are fetched concurrently', async ({ serve }) => {
    const server = await serve({ logs: steadyLogs(1, 2000), pageLogs: 100 })
    const { url, chain } = server
    server.faults = reorgBefore(chain, 9, { block: 300, last: 2000 })
    const fetched = await fetchAll(url)
    expect(fetched.resets()).toBe(1)
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
    expect(fetched.result?.stats.logs).toBe(2000)
  })
  it('edge case 39: between two runs: a resumed run restarts', async ({ serve }) => {
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
  it('edge case 39: again and again: an error, and no page is delivered', async ({ serve }) => {
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
  it('a service without hashes', async ({ serve }) => {
    for (const options of [{ guard: false }, { dialect: 'spec' }] as const) {
      const { url, chain } = await serve(options)
      const fetched = await fetchAll(url)
      expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
      expect(fetched.pages.map(({ last }) => last)).toEqual([null, null, null])
    }
  })
  it('a hash of the head instead of the page', async ({ serve }) => {
    const ofTheHead = (hash: string): Fault =>
      alter((answer) => ({ ...answer, rollback_guard: { block_number: 4000, hash } }))
    const { url, chain } = await serve({ faults: inTurn(ofTheHead('0xaa'), ofTheHead('0xbb'), ofTheHead('0xcc')) })
    const fetched = await fetchAll(url)
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
    expect(fetched.result?.stats.reorgs).toBe(0)
  })
})
