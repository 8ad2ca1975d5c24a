import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/core/clock.ts'
import { eventually } from '../support/eventually.ts'
import { expectedLogs, FIRST, LAST, logsOf, pageOf, queryOf } from './chain.ts'
import { ALL, describeClients, RECENT, startClient } from './clients.ts'
import { FIRST_HEAD, startApi, startGrowingApi } from './service.ts'

describeClients.each(ALL)('the head for client %s', (version) => {
  it('a stream up to a block above the head follows the chain, with one request per block', async () => {
    // Each request reads the height some times, and each 100 ms while it waits: a block for every request or two.
    const { blocks, failures, ...api } = await startGrowingApi({ reads: 5 })
    const toBlock = FIRST_HEAD + 11
    const pages = await startClient(version, api).all('stream', queryOf({ toBlock }))
    expect(failures).toEqual([])
    expect(logsOf(pages)).toEqual(expectedLogs({ blocks, to: toBlock }))
    const queries = api.answered.filter(({ path }) => path === '/query/arrow-ipc')
    expect(queries.length).toBeLessThanOrEqual(12)
  })

  it('the same while no block arrives: each request waits for one, and the newest client gives up', async () => {
    const holdMs = 400
    const api = await startApi({ limits: { holdMs } })
    const client = startClient(version, api)
    const pages: unknown[] = []
    const startedAt = systemClock.elapsed()
    const result = client
      .begin((page) => pages.push(page), 'stream', queryOf({ toBlock: LAST + 11 }))
      .then(
        () => 'ended',
        (error: unknown) => String(error),
      )
    // The first request is answered at once. Without a wait the others are some hundred in a second.
    const answers = version === '1.4.1' ? 2 : 4
    await eventually(() => api.answered.length >= answers, Boolean, { every: 10 })
    expect(systemClock.elapsed() - startedAt).toBeGreaterThanOrEqual((answers - 1) * holdMs)
    // Older clients never end.
    if (version === '1.4.1') expect(await result).toContain('outside the requested range')
    else await client.kill()
    await result
    // The pages before the head are delivered.
    expect(logsOf(pages)).toEqual(expectedLogs())
  })

  it('the height and the chain ID, also before the first block', async () => {
    const full = startClient(version, await startApi())
    expect([await full.call('getHeight'), await full.call('getChainId')]).toEqual([LAST, 143])
    const empty = startClient(version, await startApi({ blocks: [], limits: { holdMs: 100 } }))
    expect(await empty.call('getHeight')).toBe(0)
    const { data, nextBlock, archiveHeight } = pageOf(await empty.call('get', queryOf()))
    expect({ data, nextBlock, archiveHeight }).toEqual({
      data: { blocks: [], transactions: [], logs: [] },
      nextBlock: FIRST,
      archiveHeight: undefined,
    })
  })
})

const HEIGHT_EVENT = z.looseObject({ type: z.string(), height: z.int().optional() })

describeClients.each(RECENT)('the stream of heights for client %s', (version) => {
  const follow = (client: ReturnType<typeof startClient>, count?: number) => {
    const events: z.output<typeof HEIGHT_EVENT>[] = []
    const ended = client.begin((event) => events.push(HEIGHT_EVENT.parse(event)), 'streamHeight', count)
    return { events, ended }
  }

  it('stays open while no block arrives', async () => {
    // The height is read each 100 ms. A client reconnects after 15 s without an event.
    const api = await startGrowingApi({ reads: 180 })
    const { events, ended } = follow(startClient(version, api), 3)
    await ended
    expect(events).toEqual([
      { type: 'Connected' },
      { type: 'Height', height: FIRST_HEAD },
      { type: 'Height', height: FIRST_HEAD + 1 },
    ])
  })

  it('ends with its client, and fifty of them leave room for queries', async () => {
    const warnings: Error[] = []
    const warn = (warning: Error) => warnings.push(warning)
    process.on('warning', warn)
    onTestFinished(() => {
      process.off('warning', warn)
    })
    let head = LAST
    const api = await startApi({ height: () => head })
    const client = startClient(version, api)
    const closed = follow(client, 2)
    const streams = [closed, ...Array.from({ length: 49 }, () => follow(client))]
    const everyStreamHas = (events: number) =>
      eventually(() => streams.filter((stream) => stream.events.length === events).length, 50)
    // Connected, and the height.
    await everyStreamHas(2)
    const query = queryOf({ fromBlock: LAST - 20 })
    expect(logsOf([await client.call('get', query)])).toEqual(expectedLogs({ from: LAST - 20 }))
    const ended = () => api.answered.filter(({ path }) => path === '/height/sse').length
    expect(ended()).toBe(0)
    // A stream that was closed disconnects when the next height arrives.
    await closed.ended
    head += 1
    await eventually(ended, 1)
    await client.kill()
    await eventually(ended, 50)
    // Such as one of Node.js about listeners that are never removed.
    expect(warnings).toEqual([])
  })
})
