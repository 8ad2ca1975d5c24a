import { describe, expect } from 'vitest'
import { createQueryClient } from '../../query/client/client.ts'
import { jumpingClock } from '../support/jumping-clock.ts'
import { type Answer } from '../support/query-chain.ts'
import { EVERYTHING, fetchAll, fetchWhole, it, keepPages, type Serve } from './client-fixtures.ts'
import { alter, always, type Fault, inTurn } from '../support/query-server.ts'

const withNext = (next: unknown): Fault => alter((answer) => ({ ...answer, next_block: next }))
const log = (block: unknown, index: unknown = 0): Answer => ({ block_number: block, log_index: index, data: '0x01' })
const listOf = (data: unknown): readonly unknown[] => (Array.isArray(data) ? data : [])
const withLog = (one: Answer): Fault =>
  alter(({ data, ...rest }) => ({ ...rest, data: [...listOf(data), { logs: [one] }] }))

/** The second page always has the fault: no page is delivered, and the run fails after two attempts. */
const expectError = async (serve: Serve, fault: Fault, words: string): Promise<void> => {
  const { url, seen } = await serve({ faults: ({ from }) => (from === 11 ? fault : undefined) })
  const { error, pages } = await fetchAll(url)
  expect(error).toMatchObject({ kind: 'protocol' })
  expect(String(error)).toContain(words)
  expect(seen.slice(1).map(({ from }) => from)).toEqual([0, 11, 11])
  expect(pages).toEqual([])
}

/** The second page has the fault once: the client requests the same blocks again and delivers each log once. */
const expectRecovery = async (serve: Serve, fault: Fault): Promise<void> => {
  const server = await serve({ faults: inTurn(undefined, fault) })
  const { result } = await fetchWhole(server)
  expect(result).toMatchObject({ complete: true, stats: { retries: 1, pages: 3, logs: 30 } })
  expect(server.seen.slice(1).map(({ from }) => from)).toEqual([0, 11, 11, 21])
}

describe('a page that cannot be read', () => {
  it('a truncated page is discarded and requested again', async ({ serve }) => {
    const body = '{"data":[{"logs":[{"block_number":11,'
    await expectRecovery(serve, { kind: 'reply', status: 200, body })
    await expectError(serve, { kind: 'reply', status: 200, body }, 'the response is not JSON')
  })
  it.for<[string, Answer, string]>([
    ['without a block number', { log_index: 0 }, 'a log has no block number'],
    ['without an index', { block_number: 15 }, 'a log has no index'],
    ['with a topic that is a number', { ...log(15), topic0: 7 }, 'the topic0 of a log is not a string'],
    ['with data that is an object', { ...log(15), data: {} }, 'the data of a log is not a string'],
    ['neither removed nor not', { ...log(15), removed: 'no' }, 'neither true nor false'],
  ])('a log %s', async ([, one, words], { serve }) => {
    await expectError(serve, withLog(one), words)
    await expectRecovery(serve, withLog(one))
  })
})

describe('pages that do not match the request', () => {
  it.for<[string, Fault, string]>([
    ['next_block goes back', withNext(10), 'its next_block is before the requested blocks'],
    ['next_block is a fraction', withNext(20.5), 'its next_block is not a block number'],
    ['next_block is negative', withNext(-1), 'its next_block is not a block number'],
    ['next_block is beyond 2^53', withNext(2 ** 53), 'its next_block is not a block number'],
    ['next_block is text', withNext('soon'), 'its next_block is not a block number'],
    ['a log before the page', withLog(log(10)), 'a log is outside the blocks of its page'],
    ['a log at next_block', withLog(log(21)), 'a log is outside the blocks of its page'],
    ['a log far beyond', withLog(log(4_000_000)), 'a log is outside the blocks of its page'],
    [
      'logs in a page that covers nothing',
      alter((answer) => ({ ...answer, next_block: 11 })),
      'a log is outside the blocks of its page',
    ],
  ])('%s', async ([, fault, words], { serve }) => {
    await expectError(serve, fault, words)
    await expectRecovery(serve, fault)
  })
})

describe('the end of a page', () => {
  it('a page without next_block covers the requested range', async ({ serve }) => {
    const { url, seen } = await serve({ dialect: 'spec', pageLogs: 1000 })
    const { result } = await fetchAll(url, { query: { toBlock: 20 } })
    expect(result).toMatchObject({ complete: true, through: 20, target: 20, stats: { logs: 20 } })
    // One past the end, for inclusive and exclusive services; the log of block 21 is removed.
    expect(seen.at(-1)?.to).toBe(21)
    expect(result?.stats.logs).toBe(20)
  })
  it.for<[string, unknown]>([
    ['null', null],
    ['the block after the end', 31],
    ['one more, of an inclusive service', 32],
    ['far beyond, the head of the service', 5_000_000],
  ])('next_block that is %s means done', async ([, next], { serve }) => {
    const { url, seen } = await serve({ pageLogs: 1000, faults: inTurn(withNext(next)) })
    const { result } = await fetchAll(url)
    expect(result).toMatchObject({ complete: true, through: 30 })
    expect(seen).toHaveLength(2)
  })
  it('a page without next_block of an instance that is behind covers the blocks up to its height', async ({
    serve,
  }) => {
    const behind = alter(({ data }) => ({ data: listOf(data).slice(0, 1), archive_height: 9 }))
    const { result } = await fetchWhole(await serve({ pageLogs: 1000, faults: inTurn(behind) }))
    expect(result).toMatchObject({ complete: true, through: 30 })
  })
  it.for<['number' | 'hex', number | undefined]>([
    ['number', 20],
    ['hex', undefined],
  ])(
    'the extra block of an inclusive service is in no form of a page with numbers as %s',
    async ([numbers, scanned], { serve }) => {
      const { url } = await serve({ dialect: 'spec', pageLogs: 1000, numbers })
      const { pages } = await fetchAll(url, { query: { toBlock: 20 } })
      expect(pages[0]?.logs().map(({ blockNumber }) => blockNumber)).toEqual(
        Array.from({ length: 20 }, (_, at) => at + 1),
      )
      expect(pages[0]?.logObjects()).toHaveLength(20)
      expect(pages[0]?.scanned?.count).toBe(scanned)
    },
  )
  it('a query that begins after the height fails with no-data', async ({ serve }) => {
    const { url } = await serve()
    const { error } = await fetchAll(url, { query: { fromBlock: 31 } })
    expect(error).toMatchObject({ kind: 'no-data' })
    expect(String(error)).toContain('up to 30; the query begins at 31')
  })
  it('a run that is resumed at the end is complete', async ({ serve }) => {
    const { url, seen } = await serve()
    const { result, pages } = await fetchAll(url, { from: 31 })
    expect(result).toMatchObject({ complete: true, through: 30, target: 30 })
    expect(pages).toEqual([])
    expect(seen).toHaveLength(1)
  })
  it('a height that is lower at the end, or in a page, is no error', async ({ serve }) => {
    let heightRequests = 0
    const { url } = await serve({
      toldHeight: () => {
        heightRequests += 1
        return heightRequests === 1 ? 30 : 25
      },
      faults: inTurn(
        undefined,
        undefined,
        alter((answer) => ({ ...answer, archive_height: 25 })),
      ),
    })
    const { result } = await fetchAll(url)
    expect(result).toMatchObject({ complete: true, through: 30, target: 30 })
  })
  it('a height that lags behind the pages does not end the query early', async ({ serve }) => {
    const { url } = await serve({ toldHeight: () => 12 })
    expect((await fetchAll(url, { query: { toBlock: 28 } })).result).toMatchObject({
      complete: true,
      through: 28,
      target: 28,
    })
    expect((await fetchAll(url)).result).toMatchObject({ through: 12, target: 12 })
  })
  it('the height of one instance counts for another one that is behind', async ({ serve }) => {
    let heightRequests = 0
    const { url, chain } = await serve({
      toldHeight: () => {
        heightRequests += 1
        return heightRequests === 2 ? 25 : 30
      },
      // The pages do not show that the service has further blocks.
      faults: always(alter(({ archive_height: _height, ...answer }) => answer)),
    })
    const clock = jumpingClock()
    const client = createQueryClient({ url, apiKey: null, clock })
    const { signal } = new AbortController()
    const toBlock = await client.height(signal)
    const again = { ...EVERYTHING, toBlock }
    const { sink } = keepPages()
    expect(await client.run(again, sink, { signal })).toMatchObject({ through: 30, target: 30 })
    // A lower height, of a chain that was reset, counts after a minute.
    heightRequests = 1
    chain.setHeight(25)
    await clock.sleep(60_001, signal)
    expect(await client.run(again, sink, { signal })).toMatchObject({ through: 25, target: 25 })
  })
})
