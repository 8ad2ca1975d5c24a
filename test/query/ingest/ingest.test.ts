import { describe, expect } from 'vitest'
import { createRpc } from '../../../query/service/ingest/rpc.ts'
import type { IngestState } from '../../../query/service/ingest/writer.ts'
import { eventually } from '../../support/eventually.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { contract, topic } from '../../support/rpc-node.ts'
import type { LogStore } from '../../../query/store/store.ts'
import { callsOf, has, ingestUntil, ingestWhole, it, storeCalling, to, watchedStore } from './fixtures.ts'

describe('an ingest', () => {
  it('reads every final block and log, one request at a time', async ({ startNode }) => {
    const from = await startNode({ height: 1500 })
    const { state } = await ingestWhole(from)
    // 0 + 1 + 2 + 3 in each four of 1,500 blocks, and none in the one more.
    expect(state).toMatchObject({ first: 0, indexed: 1500, blocks: 1501, logs: 375 * 6 })
    expect(state).toMatchObject({
      nodeHeight: 1500,
      indexedTimestamp: 1_700_101_500,
      trouble: null,
    })
    expect(from.most).toBe(1)
    const ranges = from.seen
      .filter(({ method }) => method === 'eth_getLogs')
      .map(({ params }) => JSON.stringify(params))
    // Eight at first, then twice as many each time.
    expect(ranges.slice(0, 2)).toEqual([
      '[{"fromBlock":"0x0","toBlock":"0x7"}]',
      '[{"fromBlock":"0x8","toBlock":"0x17"}]',
    ])
  })

  it('never requests more than a thousand blocks at once', async ({ startNode }) => {
    const from = await startNode({ height: 3100, logsIn: () => 0 })
    const { appended, store } = watchedStore()
    await ingestUntil({ node: from, store }, has(3100))
    expect(Math.max(...appended.map((blocks) => blocks.length))).toBe(1000)
  })

  it('writes one part while it reads the next', async ({ startNode }) => {
    const from = await startNode({ height: 200 })
    const { store, appended } = watchedStore()
    let open = 0
    let most = 0
    const slow: LogStore = {
      ...store,
      append: async (...blocks) => {
        open += 1
        most = Math.max(most, open)
        const asked = from.seen.length
        await eventually(
          () => from.seen.length,
          (now) => now > asked || blocks[0].at(-1)?.number === 200,
          { every: 1 },
        )
        await store.append(...blocks)
        open -= 1
      },
    }
    await ingestUntil({ node: from, store: slow }, has(200))
    expect({ most, count: appended.flat().length }).toEqual({ most: 1, count: 201 })
  })

  // A question for logs keeps the node busy for 300 ms, one for the tip for 100.

  it.for([
    // The chain head is read again after five seconds: in the fifth step.
    { nodeShare: 0.2, writing: 100, rests: [1500, 1100, 1100, 1100, 1500] },
    // What is written for long is rest enough, but for the steps that ask for the tip: 2,000 - 400 - 1,200.
    { nodeShare: 0.2, writing: 1200, rests: [400, 0, 0, 0, 400] },
    { nodeShare: undefined, writing: 100, rests: [300, 200, 200, 200, 200] },
    { nodeShare: undefined, writing: 400, rests: [0, 0, 0, 0, 0] },
    { nodeShare: 1, writing: 0, rests: [0, 0, 0, 0, 0] },
  ])('rests as long as the node had work beyond its share: $nodeShare, $writing', async (row, { startNode }) => {
    const from = await startNode({ height: 250 })
    const clock = jumpingClock()
    let worked = 0
    from.faults = ({ method }) => {
      if (method === 'eth_getLogs') worked += 300
      if (method === 'eth_chainId') worked += 100
      return undefined
    }
    const { store } = storeCalling(() => {
      worked += row.writing
    })
    const late = { ...clock, elapsed: () => clock.elapsed() + worked }
    const share = row.nodeShare === undefined ? {} : { nodeShare: row.nodeShare }
    const { waits } = await ingestUntil({ node: from, store, clock: late, ...share }, has(250))
    // Steps of 8, 16, 32, 64 and 128 blocks; the last three are no longer backfill, and followed at once.
    expect(waits).toEqual(row.rests.filter((ms) => ms > 0))
  })

  it('counts failed requests as work of the node', async () => {
    const clock = jumpingClock()
    const never = new AbortController().signal
    const works = [300, 40]
    const rpc = createRpc({ rpcUrl: 'http://node', clock, timeout: 1 }, async (_body, _maxBytes, signal) => {
      await clock.sleep(works.shift() ?? 0, signal)
      if (works.length === 0) throw new Error('cut off')
      return { status: 200, body: Buffer.from('{"result":"0x1"}'), wait: null }
    })
    const call = { method: 'eth_chainId', params: [] }
    await rpc.one(call, never)
    await clock.sleep(1000, never)
    await expect(rpc.one(call, never)).rejects.toThrow('cut off')
    expect(rpc.busyMs()).toBe(340)
  })

  it('continues as blocks become final, each requested by its hash', async ({ startNode }) => {
    const from = await startNode({ height: 10 })
    const { appended, store } = watchedStore()
    const clock = jumpingClock()
    const grown: IngestState['phase'][] = []
    await ingestUntil({ node: from, store, clock }, (state) => {
      if (state.indexed === 10) from.chain.setHeight(12)
      if (state.indexed === 12) from.chain.setHeight(13)
      grown.push(state.phase)
      return state.indexed === 13
    })
    expect(appended.flat()).toEqual(to(13).map(from.chain.block))
    const asked = callsOf(from, 'eth_getLogs').slice(-3)
    expect(asked.map(({ params }) => params)).toEqual(
      [11, 12, 13].map((block) => [{ blockHash: from.chain.hash(block) }]),
    )
    // One question a second at the tip.
    expect(clock.waits).toEqual([1000, 1000])
    expect(grown.at(-1)).toBe('tail')
  })

  it('continues after the last stored block, whatever fromBlock is', async ({ startNode }) => {
    const from = await startNode({ height: 20 })
    const { appended, store } = watchedStore()
    await ingestUntil({ node: from, store, fromBlock: 5 }, has(20))
    from.chain.setHeight(30)
    const { state } = await ingestUntil({ node: from, store, fromBlock: 0 }, has(30))
    expect(appended.flat().map(({ number }) => number)).toEqual(to(30, 5))
    expect(state).toMatchObject({ first: 5, blocks: 10 })
  })

  it('keeps the logs in scope, and the number of all logs of the block', async ({ startNode }) => {
    const from = await startNode({ height: 40 })
    const { appended, store } = watchedStore()
    const scope = {
      addresses: [contract(0), contract(2).toUpperCase().replace('0X', '0x')],
      topics: [[topic(2)], [], [topic(7)]],
    }
    await ingestUntil({ node: from, store, scope }, has(40))
    const kept = appended.flat()
    expect(kept.map(({ logCount }) => logCount)).toEqual(to(40).map((block) => block % 4))
    expect(kept).toEqual(
      to(40).map((number) => {
        const block = from.chain.block(number)
        const logs = block.logs.filter(({ address }) => address === contract(2))
        return { ...block, logs }
      }),
    )
    expect(kept.flatMap(({ logs }) => logs).length).toBeGreaterThan(10)
  })
})
