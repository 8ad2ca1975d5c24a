import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/core/clock.ts'
import { createHeaders, readChainId } from '../../query/service/ingest/headers.ts'
import { createIngest } from '../../query/service/ingest/ingest.ts'
import { createHeaderFilters, createReceiptReader } from '../../query/service/ingest/completeness.ts'
import { createRpc } from '../../query/service/ingest/rpc.ts'
import type { Block, StoredLog } from '../../query/store/store.ts'
import { eventually } from '../support/eventually.ts'
import { watchedStore } from '../query/ingest/fixtures.ts'
import { memoryStore } from '../support/memory-store.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type Chain, chainOf, type Deployed } from './chain.ts'
import { type EvmNode, probeHardhat, startHardhat } from './hardhat.ts'
import { deployerOn } from './history.ts'

const describe = await requireRealPart('evm', probeHardhat)

const number = z.string().transform(Number)
const receiptSchema = z.object({
  logs: z.array(
    z
      .object({
        logIndex: number,
        transactionIndex: number,
        transactionHash: z.string(),
        address: z.string(),
        topics: z.array(z.string()),
        data: z.string(),
      })
      .transform((log): StoredLog => ({ ...log, address: log.address.toLowerCase() })),
  ),
})
const blockSchema = z.object({
  number,
  hash: z.string(),
  parentHash: z.string(),
  timestamp: number,
  transactions: z.array(z.string()),
})

/** Out of the receipt of each transaction: another way than that of the ingest. */
const truthOf = async (chain: Chain, height: number): Promise<readonly Block[]> => {
  const blocks: Block[] = []
  for (let block = 0; block <= height; block += 1) {
    const asked = await chain.ask('eth_getBlockByNumber', [`0x${block.toString(16)}`, false])
    const { transactions, ...head } = blockSchema.parse(asked)
    const logs: StoredLog[] = []
    for (const hash of transactions) {
      const receipt = await chain.ask('eth_getTransactionReceipt', [hash])
      logs.push(...receiptSchema.parse(receipt).logs)
    }
    blocks.push({ ...head, logCount: logs.length, logs })
  }
  return blocks
}

describe('the ingest from a real node', () => {
  let node: EvmNode
  let chain: Chain
  let coin: Deployed
  let multi: Deployed

  const churn = async (blocks: number): Promise<void> => {
    for (let block = 0; block < blocks; block += 1) {
      await chain.send([coin, multi].map((to) => ({ to, method: 'churn(uint256)', args: [BigInt(block * 20)] })))
    }
  }

  beforeAll(async () => {
    node = await startHardhat()
    chain = await chainOf(node.url)
    const deploy = await deployerOn(chain)
    coin = await deploy('Coin')
    multi = await deploy('Multi')
    await churn(10)
  })
  afterAll(async () => {
    await node.stop()
  })

  it('indexes exactly the logs of the receipts while blocks are added', async () => {
    const chainId = await readChainId({ rpcUrl: node.url, clock: systemClock }, LIVING)
    const { store, appended } = watchedStore(memoryStore(chainId))
    expect(store.chainId).toBe(143)
    const stop = new AbortController()
    const ingest = createIngest({
      rpcUrl: node.url,
      store,
      scope: { addresses: [], topics: [] },
      fromBlock: 0,
      retention: { blocks: null, bytes: null },
      clock: systemClock,
      pollEvery: 50,
      behindAfter: null,
    })
    const running = ingest.run(stop.signal)
    await eventually(() => ingest.state().phase, 'tail')
    await churn(6)
    const height = await chain.height()
    const state = await eventually(
      () => ingest.state(),
      ({ indexed }) => indexed === height,
    )
    stop.abort()
    await running
    // Also: no filter in a header of a real node has been found wrong.
    expect(Object.values(state.errors)).toEqual([0, 0, 0, 0, 0, 0, 0])
    const truth = await truthOf(chain, height)
    expect(appended.flat()).toEqual(truth)
    expect(state.logs).toBe(truth.reduce((sum, { logCount }) => sum + logCount, 0))
    expect(state.logs).toBeGreaterThan(1000)
  })

  it('detects a missing log by the filter in the header, and reads all receipts', async () => {
    // Two logs that differ in one topic.
    const [one = '', another = ''] = chain.accounts
    await chain.send([one, another].map((to) => ({ to: coin, method: 'mint(address,uint256)', args: [to, 1n] })))
    const rpc = createRpc({ rpcUrl: node.url, clock: systemClock, timeout: 10_000 })
    const headers = createHeaders(rpc)
    const receipts = createReceiptReader(rpc)
    const truth = await truthOf(chain, await chain.height())
    const filters = createHeaderFilters(systemClock, () => expect.unreachable())
    let found = 0
    for (const block of truth) {
      const [head] = await headers.take(block.number, block.number, LIVING)
      if (head === undefined) throw new Error('no header')
      expect((await receipts(head, LIVING)).flatMap(({ logs }) => logs)).toEqual(block.logs)
      expect(filters.areCovered(head.bloom, block.logs)).toBe(true)
      if (block.logCount === 0) continue
      expect(filters.areCovered(head.bloom, [])).toBe(false)
      if (block.logCount !== 2) continue
      for (const log of block.logs) expect(filters.areCovered(head.bloom, [log])).toBe(false)
      found += 1
    }
    expect(found).toBe(1)
  })
})

const LIVING = new AbortController().signal
