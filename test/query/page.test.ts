import { describe, expect } from 'vitest'
import { jumpingClock } from '../support/jumping-clock.ts'
import { type Answer } from '../support/query-chain.ts'
import { fetchAll, fetchWhole, it, positionsIn, positionsOf, type Serve, steadyLogs } from './client-fixtures.ts'
import { MAX_PAGE_LOGS } from '../../query/client/wire-format.ts'
import { alter, always, inTurn, type QueryServer } from '../support/query-server.ts'

const listOf = (data: unknown): readonly unknown[] => (Array.isArray(data) ? data : [])
const logsOf = (entry: unknown): readonly unknown[] =>
  typeof entry === 'object' && entry !== null && 'logs' in entry ? listOf(entry.logs) : []

describe('a page covers no block above the reported height', () => {
  it.for<[string, Answer, string]>([
    ['no block at all', { data: [], archive_height: null }, 'as if it has no blocks yet; block 0 was requested'],
    ['less', { data: [], archive_height: 0, next_block: 31 }, 'up to 0; block 1 was requested'],
  ])('%s: the client waits, then fails', async ([, answer, words], { serve }) => {
    const behind = alter(() => answer)
    const { url, chain } = await serve({ faults: inTurn(behind, behind) })
    const fetched = await fetchAll(url)
    expect(fetched.result).toMatchObject({ complete: true, through: 30 })
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
    const { url: other } = await serve({ faults: always(behind) })
    const { error, pages } = await fetchAll(other)
    expect(error).toMatchObject({ kind: 'no-progress' })
    expect(String(error)).toContain(words)
    expect(pages).toEqual([])
  })
  it('unless the height is null in every response: then it is unknown', async ({ serve }) => {
    // Four pages; the first has no log.
    const logs = steadyLogs(11, 30)
    const options = { logs, pageBlocks: 10, pageLogs: 1000 }
    const nulls = alter((answer) => ({ ...answer, rollback_guard: null, archive_height: null }))
    const { url } = await serve({ ...options, faults: always(nulls) })
    const fetched = await fetchAll(url)
    expect(fetched.result).toMatchObject({ complete: true, through: 30 })
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(logs))
    // With a hash or a log there is nothing to wait for.
    const { url: hashed } = await serve({
      ...options,
      faults: always(alter((answer) => ({ ...answer, archive_height: null }))),
    })
    const other = await fetchAll(hashed)
    expect(positionsOf(other.logs())).toEqual(positionsIn(logs))
    expect(other.clock.waits).toEqual([])
  })
  it('a null height of an instance without blocks is not used next to other heights', async ({ serve }) => {
    const empty = alter(() => ({ data: [], archive_height: null, next_block: 31 }))
    const { url, chain } = await serve({ faults: inTurn(empty, empty) })
    const fetched = await fetchAll(url)
    expect(positionsOf(fetched.logs())).toEqual(positionsIn(chain.logs()))
    const { url: other } = await serve({
      faults: ({ path, nth }) => (path === '/query' && nth > 0 ? empty : undefined),
    })
    const { error, pages } = await fetchAll(other)
    expect(error).toMatchObject({ kind: 'no-progress' })
    expect(pages).toEqual([])
  })
  it('unless it has a log of that block', async ({ serve }) => {
    const server = await serve({ faults: always(alter((answer) => ({ ...answer, archive_height: 3 }))) })
    const { result } = await fetchWhole(server)
    expect(result).toMatchObject({ complete: true, through: 30 })
  })
})

describe('an end that is only an assumption', () => {
  it('is checked against the height: the client waits for an instance that is behind', async ({ serve }) => {
    let heightRequests = 0
    const server: QueryServer = await serve({
      dialect: 'spec',
      pageLogs: 1000,
      height: 18,
      logs: steadyLogs(1, 18),
      toldHeight: () => {
        heightRequests += 1
        return heightRequests === 1 ? 30 : server.chain.height
      },
    })
    const { url, chain } = server
    // After the height of 18 was returned.
    server.faults = ({ path, nth }) => {
      if (path !== '/query' || nth !== 1) return undefined
      chain.setHeight(30)
      chain.add(steadyLogs(19, 30))
      return undefined
    }
    const { result, logs } = await fetchAll(url)
    expect(result).toMatchObject({ complete: true, through: 30, target: 30 })
    expect(positionsOf(logs())).toEqual(positionsIn(chain.logs()))
  })
  it('is an error if the height stays lower: at most ten requests in ten seconds', async ({ serve }) => {
    let heightRequests = 0
    const times: number[] = []
    const clock = jumpingClock()
    const { url } = await serve({
      dialect: 'spec',
      pageLogs: 1000,
      height: 18,
      logs: steadyLogs(1, 18),
      toldHeight: () => ((heightRequests += 1) === 1 ? 30 : 18),
      faults: () => {
        times.push(clock.elapsed())
        return undefined
      },
    })
    const { error, pages } = await fetchAll(url, { clock })
    expect(error).toMatchObject({ kind: 'no-progress' })
    expect(String(error)).toContain('it has the blocks up to 18; block 30 was requested')
    expect(pages).toEqual([])
    expect(times.filter((at) => at < 10_000).length).toBeLessThanOrEqual(10)
  })
  it('costs one request, and none if a log proves it', async ({ serve }) => {
    for (const [height, heights] of [
      [30, 1],
      [40, 2],
    ] as const) {
      const { url, seen } = await serve({ dialect: 'spec', pageLogs: 1000, height })
      expect((await fetchAll(url)).result).toMatchObject({ complete: true, through: height })
      expect(seen.filter(({ path }) => path === '/height')).toHaveLength(heights)
    }
  })
})

describe('logs in the wrong place', () => {
  it('in the list of entries: rejected', async ({ serve }) => {
    for (const numbers of ['number', 'hex'] as const) {
      const flat = alter(({ data, ...rest }) => ({ ...rest, data: listOf(data).flatMap(logsOf) }))
      const { url } = await serve({ numbers, faults: always(flat) })
      const { error, pages } = await fetchAll(url)
      expect(error).toMatchObject({ kind: 'protocol' })
      expect(String(error)).toContain('is a log instead of an object with logs')
      expect(pages).toEqual([])
    }
  })
  it('some in the list of entries: rejected when the page is parsed', async ({ serve }) => {
    const flat = alter(({ data, ...rest }) => {
      const [first, ...others] = listOf(data)
      return { ...rest, data: [first, ...others.flatMap(logsOf)] }
    })
    const { url } = await serve({ batchBlocks: 1, faults: always(flat) })
    const { error, pages } = await fetchAll(url)
    expect(String(error)).toContain('is a log instead of an object with logs')
    expect(pages).toEqual([])
  })
  it.for([
    ['{}', 'that the scan finds no log in'],
    [String.raw`{"\u0061":1}`, 'that the scan leaves to the parser'],
  ])('too many values, %s, %s: rejected before they are parsed', async ([value], { serve }) => {
    const body = `{"data":[{"logs":[${`${value},`.repeat(16 * MAX_PAGE_LOGS)}{}]}],"next_block":31}`
    const { url, seen } = await serve({ faults: always({ kind: 'reply', status: 200, body }) })
    const { error, pages } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'protocol' })
    expect(String(error)).toContain('the response has more values than a page of logs can have')
    expect(pages).toEqual([])
    expect(seen.filter(({ path }) => path === '/query')).toHaveLength(2)
  })
  it('nested too deeply for an error message: rejected', async ({ serve }) => {
    const body = `{"data":[],"next_block":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const { url } = await serve({ faults: always({ kind: 'reply', status: 200, body }) })
    const { error } = await fetchAll(url)
    expect(error).toMatchObject({ kind: 'protocol' })
    expect(String(error)).toContain('the response is nested more deeply than a page of logs')
  })
})

describe('the hash for resuming', () => {
  const lastsWith = async (serve: Serve, guard: (guard: unknown) => unknown) => {
    const { url } = await serve({
      faults: always(alter((answer) => ({ ...answer, rollback_guard: guard(answer['rollback_guard']) }))),
    })
    const { pages } = await fetchAll(url)
    return pages.map(({ last }) => last?.block ?? null)
  }
  it('is that of the last block', async ({ serve }) => {
    expect(await lastsWith(serve, (guard) => guard)).toEqual([10, 20, 30])
  })
  it('is not that of another block, of the head or before the page', async ({ serve }) => {
    expect(await lastsWith(serve, (guard) => Object.assign({}, guard, { block_number: 4000 }))).toEqual([
      null,
      null,
      null,
    ])
  })
  it('is null without parent hashes', async ({ serve }) => {
    expect(await lastsWith(serve, (guard) => Object.assign({}, guard, { first_parent_hash: null }))).toEqual([
      10,
      null,
      null,
    ])
  })
})
