import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Bench, createBench } from './bench.ts'
import { missing, read, unlike } from './series.ts'
import { BLOCKS, COUNTERS, DIFFERENCE, GAUGES, OF_RPC, OF_SERVICES, PARTS, ROWS } from './table.ts'

let bench: Bench
beforeAll(async () => {
  bench = await createBench()
}, 30_000)
afterAll(async () => {
  await bench.close()
})

describe.each(ROWS)('$part $fault', ({ part, fault, counted, logged }) => {
  const { vanish, becomes } = PARTS[part]

  test('takes away what it alone tells, and nothing else; it is logged once; all comes back', async () => {
    await bench.isWell()
    const before = await bench.look()
    const logBefore = bench.agent.output().length
    await bench.parts[part].set(fault)
    try {
      await bench.agent.see(
        (seen) => [
          ...vanish.filter((one) => read(seen, one) !== undefined),
          ...unlike(seen, becomes),
        ],
        (left) => left.length === 0,
        30_000,
      )
      // The fault goes on: some more attempts, no more lines in the log.
      if (counted !== '') {
        const now = read(await bench.look(), counted) ?? 0
        await bench.agent.see(
          (seen) => read(seen, counted) ?? 0,
          (count) => count >= now + 1,
          30_000,
        )
      }
      // A request that was late among eight floods is absent for one poll: not what the fault takes.
      const gone = [...vanish].toSorted()
      await bench.agent.see(
        (seen) => missing(seen, GAUGES).toSorted(),
        (left) => left.join('\n') === gone.join('\n'),
        10_000,
      )
      // The poll that was under way when the fault came may have ended in another way.
      await eventually(
        () => bench.agent.output().slice(logBefore),
        (log) => logged.test(log),
      )
      const during = await bench.look()
      for (const counter of COUNTERS) {
        expect(read(during, counter), counter).toBeGreaterThanOrEqual(
          read(before, counter) ?? Infinity,
        )
      }
    } finally {
      // One row that fails must not take the others along.
      await bench.parts[part].set('well')
    }
    await bench.isWell()
    const log = bench.agent.output().slice(logBefore)
    expect(log.match(new RegExp(logged.source, 'g')) ?? []).toHaveLength(1)
  }, 90_000)
})

describe('restarted', () => {
  test('rpc: heights and the answer to who it is come back', async () => {
    await bench.isWell()
    await bench.parts.rpc.set('gone')
    await bench.agent.see(
      (seen) => read(seen, 'chain_rpc_up'),
      (up) => up === 0,
    )
    await bench.parts.rpc.set('well')
    await bench.isWell()
    expect(missing(await bench.look(), OF_RPC)).toEqual([])
  })
  test('reference: the difference comes back', async () => {
    await bench.parts.reference.set('gone')
    await bench.agent.see(
      (seen) => read(seen, DIFFERENCE),
      (difference) => difference === undefined,
    )
    await bench.parts.reference.set('well')
    const difference = await bench.agent.see(
      (seen) => read(seen, DIFFERENCE),
      (seen) => seen !== undefined,
    )
    expect(Math.abs(difference ?? Infinity)).toBeLessThanOrEqual(1)
  })
  test('systemctl: one poll that was killed does not take the services away', async () => {
    await bench.isWell()
    await bench.parts.systemctl.set('well')
    expect(missing(await bench.look(), OF_SERVICES)).toEqual([])
  })
  test('journalctl: it is started anew and goes on where it was; nothing is lost or counted twice', async () => {
    await bench.isWell()
    const restarts = 'chain_agent_journal_restarts_total{service=ledger-tail}'
    const before = await bench.look()
    await bench.parts.journalctl.set('well') // kills the follower
    await bench.agent.see(
      (seen) => read(seen, restarts),
      (count) => count === (read(before, restarts) ?? 0) + 1,
    )
    await bench.isWell()
    // Heights are numbered without a gap, so that counted blocks and heights must go on in step:
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

test('in all of this no height was ever 0, and the agent had no bug', () => {
  expect(bench.zeros()).toEqual([])
  const lines = bench.agent.output().split('\n')
  // An error is about a subject of the node, such as its RPC.
  const own = lines.filter(
    (line) => line.includes('"level":"error"') && !line.includes('"subject":'),
  )
  expect([...own, ...lines.filter((line) => /is a bug of|"level":"fatal"/.test(line))]).toEqual([])
})
