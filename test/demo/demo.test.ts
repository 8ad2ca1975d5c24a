import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDemo, type Watched } from '../support/agent.ts'

describe('the demo of a lagging node', () => {
  let demo: Watched

  beforeAll(async () => {
    demo = await startDemo('lagging')
  })
  afterAll(async () => {
    await demo.stop()
  })

  it('continues when the node is killed: its metrics are absent, and the agent reports it', async () => {
    const [, pid] = /pid +(\d+) is the node/.exec(demo.output()) ?? []
    process.kill(Number(pid), 'SIGKILL')
    const { value } = await demo.see(
      (seen) => seen,
      (seen) => seen.value('chain_rpc_up') === 0,
    )
    expect(value('chain_rpc_block_number', { tag: 'latest' })).toBe(undefined)
    expect(value('chain_rpc_block_timestamp_seconds', { tag: 'latest' })).toBe(undefined)
    expect(value('chain_agent_collector_up', { collector: 'rpc' })).toBe(1)
    await demo.see((seen) => seen.value('chain_block_difference'), undefined)
  })
})
