import { setImmediate } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { fetchBulk } from '../../query/client/delivery.ts'
import type { CheckedPage } from '../../query/client/page.ts'
import type { Progress } from '../../query/client/types.ts'
import { eventually } from '../support/eventually.ts'
import { fetchAll, it as queryTest, positionsIn, positionsOf, steadyLogs } from './client-fixtures.ts'

/** Blocks 1 to 3000, of which those to 2800 are old: forty a page. */
const it = queryTest.extend('served', { logs: steadyLogs(1, 3000), pageLogs: 40 })

const signal = new AbortController().signal

const createGate = () => {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open: () => open() }
}

/** A page without logs of the blocks before `next`. */
const pageOf = (from: number, next: number, body = Buffer.alloc(0)): CheckedPage => ({
  from,
  next,
  body,
  archiveHeight: null,
  blockHashes: [],
  hasNextBlock: true,
  isInferred: false,
  count: 0,
  logs: () => [],
  logObjects: () => [],
})

describe('blocks that no reorg can replace', () => {
  it('the first page alone, then four requests at a time', async ({ serve }) => {
    const server = await serve({ logs: steadyLogs(1, 1000) })
    const gate = createGate()
    let held = 0
    /** Afterwards the server has received everything that the client sent before. */
    const heldAfterAll = async (): Promise<number> => {
      for (let turn = 0; turn < 5; turn += 1) await fetch(`${server.url}/height`)
      return held
    }
    const first = createGate()
    server.faults = ({ path, from, nth }) => {
      if (path !== '/query' || from > 800) return undefined
      held += 1
      return { kind: 'held', until: nth === 0 ? first.passed : gate.passed }
    }
    const running = fetchAll(server.url)
    await eventually(() => held, 1, { every: 5 })
    expect(await heldAfterAll()).toBe(1)
    first.open()
    await eventually(() => held >= 5, Boolean, { every: 5 })
    expect(await heldAfterAll()).toBe(5)
    gate.open()
    expect(positionsOf((await running).logs())).toEqual(positionsIn(server.chain.logs()))
  })
  it('are requested in ranges that fill a page: few more requests than pages', async ({ serve }) => {
    const { url, seen } = await serve()
    const { pages } = await fetchAll(url)
    // 75 full pages at the least.
    expect(pages.length).toBeGreaterThanOrEqual(75)
    expect(seen.length).toBeLessThan(75 * 2)
  })
  it('are not fetched beyond the buffer limit', async () => {
    const body = Buffer.alloc(8 * 1024 * 1024)
    const late = createGate()
    const requested: number[] = []
    const fetchPage = async (from: number): Promise<CheckedPage> => {
      requested.push(from)
      if (from === 1) await late.passed
      await setImmediate()
      return pageOf(from, from + 1, body)
    }
    const delivered: number[] = []
    const running = fetchBulk({
      from: 0,
      end: 99,
      concurrency: 4,
      fetchPage,
      deliver: async ({ from }) => {
        delivered.push(from)
        await setImmediate()
      },
      signal,
    })
    // Block 0, the late block 1, and eight pages that fill 64 MiB; then the requests that were running with those.
    await eventually(() => requested.length >= 10, Boolean, { every: 1 })
    for (let turn = 0; turn < 50; turn += 1) await setImmediate()
    expect(requested.length).toBeLessThanOrEqual(10 + 3)
    expect(delivered).toEqual([0])
    late.open()
    await running
    expect(delivered).toEqual(Array.from({ length: 100 }, (_, block) => block))
  })
  it('a range that did not fit in its page is requested again from there', async () => {
    const requested: (readonly [number, number])[] = []
    const fetchPage = async (from: number, end: number): Promise<CheckedPage> => {
      requested.push([from, end])
      await setImmediate()
      return pageOf(from, Math.min(end + 1, from + (from === 0 ? 10 : 4)))
    }
    const delivered: number[] = []
    await fetchBulk({
      from: 0,
      end: 19,
      concurrency: 1,
      fetchPage,
      deliver: async ({ from }) => {
        delivered.push(from)
        await setImmediate()
      },
      signal,
    })
    // The first page has ten blocks, the others four.
    expect(requested).toEqual([
      [0, 19],
      [10, 19],
      [14, 19],
      [18, 19],
    ])
    expect(delivered).toEqual([0, 10, 14, 18])
  })
  it('requests that are running are awaited when the run ends', async () => {
    const late = createGate()
    const running = fetchBulk({
      from: 0,
      end: 99,
      concurrency: 4,
      fetchPage: async (from) => {
        if (from > 0) await late.passed
        return pageOf(from, 1)
      },
      deliver: async () => Promise.reject(new Error('no space left')),
      signal,
    }).catch((error: unknown) => String(error))
    const soon = new Promise((resolve) => {
      setTimeout(resolve, 50, 'soon')
    })
    expect(await Promise.race([running, soon])).toBe('soon')
    late.open()
    expect(await running).toBe('Error: no space left')
  })
})

describe('progress', () => {
  it('rises to the target, with the statistics', async ({ serve }) => {
    const { url } = await serve()
    const reports: Progress[] = []
    const { result, pages } = await fetchAll(url, { onProgress: (progress) => reports.push(progress) })
    expect(reports).toHaveLength(pages.length)
    expect(reports.map(({ through }) => through)).toEqual(pages.map(({ next }) => next - 1))
    expect(reports.at(-1)).toMatchObject({ from: 0, through: 3000, target: 3000, logs: 3000 })
    const bytes = pages.reduce((sum, { body }) => sum + body.length, 0)
    expect(result?.stats).toMatchObject({ pages: pages.length, logs: 3000, bytes, reorgs: 0 })
  })
})
