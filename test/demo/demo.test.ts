import { expect, it, onTestFinished } from 'vitest'
import { startDemo } from '../support/agent.ts'

it('continues when the node is killed: its metrics are absent, and the agent reports it', async () => {
  const demo = await startDemo('lagging')
  onTestFinished(async () => demo.stop())
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
