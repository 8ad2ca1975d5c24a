import { describe, expect } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { createQueryClient } from '../../query/client/client.ts'
import { impreciseClock, jumpingClock } from '../support/jumping-clock.ts'
import {
  EVERYTHING,
  fetchAll,
  fetchWhole,
  it,
  keepPages,
  positionsIn,
  positionsOf,
  steadyLogs,
} from './client-fixtures.ts'
import { always, type Faults } from '../support/query-server.ts'

/** Queries that begin at `block` or later get a response without further blocks. */
const stallFrom =
  (block: number, archiveHeight?: number): Faults =>
  ({ path, from }) => {
    if (path !== '/query' || from < block) return undefined
    return archiveHeight === undefined ? { kind: 'stall' } : { kind: 'stall', archiveHeight }
  }

describe('a service that returns no further blocks', () => {
  it('eight attempts with waits from 0.1 s to 5 s, then an error', async ({ serve }) => {
    const { url, seen } = await serve({ faults: stallFrom(11) })
    const { error, clock, pages } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'no-progress' })
    expect(String(error)).toContain('it responds but returns no further blocks')
    expect(String(error)).toContain('block 11, again and again')
    expect(clock.waits.map(Math.round)).toEqual([100, 200, 400, 800, 1600, 3200, 5000])
    expect(seen.slice(1).map(({ from }) => from)).toEqual([0, ...Array.from({ length: 8 }, () => 11)])
    // The blocks were near the head, so the page was held back.
    expect(pages).toEqual([])
  })
  it('the error has the height of a service that is behind', async ({ serve }) => {
    const { url } = await serve({ faults: stallFrom(11, 10) })
    const { error } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'no-progress' })
    expect(String(error)).toContain('it has the blocks up to 10; block 11 was requested')
  })
  it('the run continues when the service recovers', async ({ serve }) => {
    let stalls = 0
    const server = await serve({
      faults: (one) => {
        const fault = stallFrom(11, 10)(one)
        if (fault !== undefined) stalls += 1
        return stalls <= 5 ? fault : undefined
      },
    })
    const { result } = await fetchWhole(server)
    expect(result).toMatchObject({ complete: true, through: 30, stats: { retries: 5 } })
  })
  it.for([400, 41])('at most ten queries in ten seconds, stalled at block %i', async (block, { serve }) => {
    const clock = jumpingClock()
    const times: number[] = []
    const { url } = await serve({
      logs: steadyLogs(1, 3000),
      pageLogs: 40,
      faults: (one) => {
        const fault = stallFrom(block)(one)
        if (fault !== undefined) times.push(clock.elapsed())
        return fault
      },
    })
    const { error, pages } = await fetchAll(url, { clock })
    expect(error).toMatchObject({ kind: 'no-progress' })
    const busiest = times.map((began) => times.filter((at) => at >= began && at < began + 10_000))
    expect(Math.max(...busiest.map(({ length }) => length))).toBeLessThanOrEqual(10)
    expect(clock.elapsed()).toBeGreaterThanOrEqual(10_000)
    expect(clock.elapsed()).toBeLessThanOrEqual(16_000)
    // The pages before it were delivered without a gap.
    expect(pages.length).toBeGreaterThan(0)
    pages.forEach(({ from }, at) => {
      expect(from).toBe(pages[at - 1]?.next ?? 0)
    })
    expect(pages.at(-1)?.from).toBeLessThan(block)
  })
  it('a wait that ended early is followed by the rest of it', async ({ serve }) => {
    const { url } = await serve({ faults: stallFrom(11) })
    const client = createQueryClient({ url, apiKey: null, clock: impreciseClock(jumpingClock()) })
    const running = client.run(EVERYTHING, keepPages().sink, { signal: new AbortController().signal })
    await expect(running).rejects.toMatchObject({ kind: 'no-progress' })
  })
})

describe('cancelling', () => {
  it('ends a run: the pages have no gap, and it is incomplete', async ({ serve }) => {
    const { url, chain } = await serve({ logs: steadyLogs(1, 3000), pageLogs: 40 })
    const cancel = new AbortController()
    const { result, logs } = await fetchAll(url, {
      signal: cancel.signal,
      onProgress: ({ through }) => {
        if (through >= 1000) cancel.abort()
      },
    })
    expect(result?.complete).toBe(false)
    expect(result?.through).toBeGreaterThanOrEqual(1000)
    const expected = chain.logs().filter(({ block }) => block <= (result?.through ?? 0))
    expect(positionsOf(logs())).toEqual(positionsIn(expected))
    expect(result?.stats.logs).toBe(expected.length)
  })
  it('ends a wait and a request at once', { timeout: 90_000 }, async ({ serve }) => {
    for (const fault of [
      { kind: 'hang' },
      // Longer than the limit of the test.
      { kind: 'reply', status: 429, headers: { 'retry-after': '100' } },
    ] as const) {
      const { url } = await serve({ faults: always(fault) })
      const client = createQueryClient({ url, apiKey: null, clock: systemClock })
      const cancel = new AbortController()
      setTimeout(() => {
        cancel.abort()
      }, 100)
      const result = await client.run(EVERYTHING, keepPages().sink, { signal: cancel.signal })
      expect(result).toMatchObject({ complete: false, through: -1 })
    }
  })
})
