import { expect, it } from 'vitest'
import { startApi } from './service.ts'
import { blockAt, expectedLogs, FIRST, LAST, logsOf, pageOf, queryOf } from './chain.ts'
import { ALL, describeClients, startClient } from './clients.ts'

/** 50 pages or more of the chain. */
const SMALL_PAGES = { pageLogs: 60, holdMs: 200 }
const EVERY_LOG = expectedLogs()

describeClients.each(ALL)('pages for client %s', (version) => {
  it('get in a loop returns every log once, with its height and the hashes of its first and last block', async () => {
    const api = await startApi({ limits: SMALL_PAGES })
    const pages = (await startClient(version, api).all('pages', queryOf())).map(pageOf)
    expect(logsOf(pages)).toEqual(EVERY_LOG)
    expect(pages.length).toBeGreaterThanOrEqual(50)
    const firsts = [FIRST, ...pages.map(({ nextBlock }) => nextBlock)]
    for (const [index, { nextBlock, archiveHeight, rollbackGuard }] of pages.entries()) {
      expect(archiveHeight).toBe(LAST)
      const last = blockAt(nextBlock - 1)
      expect(rollbackGuard).toEqual({
        blockNumber: last.number,
        timestamp: last.timestamp,
        hash: last.hash,
        firstBlockNumber: firsts[index],
        firstParentHash: blockAt(firsts[index] ?? 0).parentHash,
      })
    }
    expect(firsts.at(-1)).toBe(LAST + 1)
  })

  it('collect and stream return every log in order, over one page and over many', async () => {
    for (const limits of [{}, SMALL_PAGES]) {
      // The meaning of `/query` only: without an option it is another one, in the other tests.
      const api = await startApi({ limits, dialect: 'hosted' })
      const client = startClient(version, api)
      expect(logsOf([await client.call('collect', queryOf(), {})])).toEqual(EVERY_LOG)
      const collected = api.answered.length
      expect(logsOf(await client.all('stream', queryOf()))).toEqual(EVERY_LOG)
      const counts = [collected, api.answered.length - collected]
      if (limits === SMALL_PAGES) expect(Math.min(...counts)).toBeGreaterThanOrEqual(50)
      else expect(counts).toEqual([1, 1])
    }
  })

  it('a stream without an end ends at the head, also if it begins there or above it', async () => {
    const api = await startApi({ limits: { holdMs: 200 } })
    const client = startClient(version, api)
    const open = (fromBlock: number) => queryOf({ fromBlock, toBlock: undefined })
    expect(logsOf(await client.all('stream', open(FIRST)))).toEqual(EVERY_LOG)
    expect(logsOf(await client.all('stream', open(LAST)))).toEqual(expectedLogs({ from: LAST }))
    for (const above of [1, 2, 1000]) expect(logsOf(await client.all('stream', open(LAST + above)))).toEqual([])
  })

  it('a stream without an end leaves out the block at the head that its first page does not reach', async () => {
    const api = await startApi({ limits: SMALL_PAGES })
    const pages = await startClient(version, api).all('stream', queryOf({ toBlock: undefined }))
    expect(logsOf(pages)).toEqual(expectedLogs({ to: LAST }))
  })

  it('pages without rows of a kind, or of any kind', async () => {
    const api = await startApi()
    const client = startClient(version, api)
    const both = { block: ['Number', 'Hash'], log: ['BlockNumber'] }
    const none = queryOf({ logs: [{ address: [`0x${'ff'.repeat(20)}`] }], fieldSelection: both })
    const counts = async (query: unknown) => {
      const { data, nextBlock } = pageOf(await client.call('get', query))
      expect(nextBlock).toBe(LAST + 1)
      return [data.blocks.length, data.transactions.length, data.logs.length]
    }
    expect(await counts(none)).toEqual([0, 0, 0])
    expect(await counts({ ...none, includeAllBlocks: true })).toEqual([600, 0, 0])
    expect(await counts(queryOf({ toBlock: LAST + 1 }))).toEqual([0, 0, EVERY_LOG.length])
    expect(logsOf([await client.call('collect', none, {})])).toEqual([])
    expect(logsOf(await client.all('stream', none))).toEqual([])
  })

  it('a URL that ends with a slash', async () => {
    const api = await startApi()
    const client = startClient(version, { url: `${api.url}/` })
    expect(logsOf([await client.call('get', queryOf())])).toEqual(EVERY_LOG)
    expect(await client.call('getHeight')).toBe(LAST)
  })
})
