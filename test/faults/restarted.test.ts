import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Bench, createBench } from './bench.ts'
import { missing, read } from './series.ts'
import { expectNoBug } from './suite.ts'
import { BLOCKS, DIFFERENCE, OF_RPC, OF_SERVICES } from './table.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
})
afterAll(async () => {
  await bench.close()
})

describe('restarted', () => {
  test('rpc: heights and client version return', async () => {
    await bench.isWell()
    await bench.parts.rpc.set('gone')
    await bench.agent.see(
      (seen) => read(seen, 'chain_rpc_up'),
      (up) => up === 0,
    )
    await bench.parts.rpc.set('healthy')
    await bench.isWell()
    expect(missing(await bench.look(), OF_RPC)).toEqual([])
  })
  test('reference: the difference returns', async () => {
    await bench.parts.reference.set('gone')
    await bench.agent.see(
      (seen) => read(seen, DIFFERENCE),
      (difference) => difference === undefined,
    )
    await bench.parts.reference.set('healthy')
    const difference = await bench.agent.see(
      (seen) => read(seen, DIFFERENCE),
      (seen) => seen !== undefined,
    )
    expect(Math.abs(difference ?? Infinity)).toBeLessThanOrEqual(1)
  })
  test('systemctl: one killed poll does not remove the services', async () => {
    await bench.isWell()
    await bench.parts.systemctl.set('healthy')
    expect(missing(await bench.look(), OF_SERVICES)).toEqual([])
  })
  test('journalctl: it is restarted and resumes; nothing is lost or counted twice', async () => {
    await bench.isWell()
    const restarts = 'chain_agent_journal_restarts_total{service=ledger-tail}'
    const before = await bench.look()
    await bench.parts.journalctl.set('healthy') // kills the follower
    await bench.agent.see(
      (seen) => read(seen, restarts),
      (count) => count === (read(before, restarts) ?? 0) + 1,
    )
    await bench.isWell()
    // Heights have no gap, so counted blocks and heights must grow together:
    // a height proposed twice is two blocks, and the healthy node proposes none twice.
    const after = await eventually(
      () => bench.look(),
      (seen) => (read(seen, BLOCKS) ?? 0) > (read(before, BLOCKS) ?? 0) + 3,
    )
    const seqNum = 'chain_ledger_seq_num{event=proposed}'
    const heights = (read(after, seqNum) ?? 0) - (read(before, seqNum) ?? 0)
    expect((read(after, BLOCKS) ?? 0) - (read(before, BLOCKS) ?? 0)).toBe(heights)
  })
})

expectNoBug(() => bench)
