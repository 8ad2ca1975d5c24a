import { afterAll, beforeAll, expect, it } from 'vitest'
import { startAgent, type Watched } from '../support/agent.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type EvmNode, probeHardhat, startHardhat } from './hardhat.ts'

const describe = await requireRealPart('evm', probeHardhat)

describe('a real JSON-RPC node', () => {
  let node: EvmNode
  let agent: Watched

  beforeAll(async () => {
    node = await startHardhat()
    agent = await startAgent({
      rpc: { url: node.url, interval: '200ms' },
      reference: { interval: '200ms' },
      references: [{ name: 'itself', url: node.url, kind: 'rpc' }],
      ...Object.fromEntries(['services', 'lifecycle', 'ledger'].map((name) => [name, { enabled: false }])),
    })
  })
  afterAll(async () => {
    await agent.stop()
    await node.stop()
  })

  it('is followed as its chain grows', async () => {
    const start = await node.height()
    for (const later of [3, 6, 9]) {
      const seen = await agent.see(
        ({ value }) => value('chain_rpc_block_number', { tag: 'latest' }),
        (height) => (height ?? 0) >= start + later,
      )
      // The height of the agent is never ahead of the node.
      expect(seen).toBeLessThanOrEqual(await node.height())
    }
    expect((await agent.look()).value('chain_rpc_up')).toBe(1)
  })

  it('has every block tag, and the time of the newest block', async () => {
    const { value } = await agent.look()
    for (const tag of ['latest', 'safe', 'finalized']) {
      expect(value('chain_rpc_block_number', { tag })).toBeGreaterThanOrEqual(0)
    }
    const age = Date.now() / 1000 - (value('chain_rpc_block_timestamp_seconds', { tag: 'latest' }) ?? 0)
    expect(Math.abs(age)).toBeLessThan(60)
  })

  it('reports its chain id', async () => {
    const { value } = await agent.look()
    expect(value('chain_rpc_info', { chain_id: '143', net_version: '143' })).toBe(1)
  })

  it('is not behind itself as its own reference', async () => {
    // Blocks may pass between the two requests.
    await agent.see(
      ({ value }) => value('chain_block_difference'),
      (difference) => difference === 0,
    )
  })

  it('has no height after it stops', async () => {
    await node.stop()
    const { value } = await agent.see(
      (seen) => seen,
      (seen) => seen.value('chain_rpc_up') === 0,
    )
    expect(value('chain_rpc_block_number', { tag: 'latest' })).toBe(undefined)
    expect(value('chain_rpc_errors_total', { method: 'eth_blockNumber', reason: 'refused' })).toBeGreaterThan(0)
  })
})
