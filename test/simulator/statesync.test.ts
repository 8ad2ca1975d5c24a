import { expect, test } from 'vitest'
import { createStatusTool } from '../../simulator/status-report.ts'
import { createStorageTool } from '../../simulator/storage.ts'
import { BEGIN, chain, consensusLog, play, playLines, printed, saying, secondsOf, textOf } from './play.ts'

const target = chain.headAt(BEGIN).seqNum

test('statesync: the log shows start, progress and end', async () => {
  const { node, to } = await play('statesync')
  await to(200)
  const log = consensusLog(node, -200)
  const secondsOfAll = (message: string): readonly number[] => saying(log, message).map(secondsOf).map(Math.round)
  expect(secondsOfAll('starting zephyr-bft with version 0.16.1')).toEqual([0])
  expect(secondsOfAll('starting up, syncing')).toEqual([1])
  expect(secondsOfAll('local tip over 30000 blocks older than root')).toEqual([5])
  // In the first second, and every other second from 6 to 178.
  expect(secondsOfAll('still syncing...')).toHaveLength(88)
  expect(secondsOfAll('done db statesync')).toEqual([180])
  expect(secondsOfAll('done syncing, initializing consensus')).toEqual([180])
  const phases = saying(log, 'still syncing...').map((entry) => /"db_status":"(\w+)"/.exec(textOf(entry))?.[1])
  expect([phases[0], ...new Set(phases.slice(1))]).toEqual(['Waiting', 'Started'])
  expect(
    saying(log, 'committed block')
      .map(secondsOf)
      .every((second) => second > 180),
  ).toBe(true)
  expect(saying(log, 'committed block').length).toBeGreaterThan(50)
})

test('start-hangs: the log shows the start, requests without an answer, and its end; an ordinary start has both at once', async () => {
  const { node, to } = await play('start-hangs')
  await to(280)
  const log = consensusLog(node)
  const secondsOfAll = (message: string): readonly number[] => saying(log, message).map(secondsOf).map(Math.round)
  expect(secondsOfAll('starting up, syncing')).toEqual([31])
  expect(secondsOfAll('still syncing...')).toEqual([31])
  expect(secondsOfAll('blocksync: header request timed out, sending new request')).toHaveLength(238) // 32 to 269
  expect(secondsOfAll('done syncing, initializing consensus')).toEqual([270])
  const ordinary = playLines('10s bft crashes SIGABRT', '20s bft starts')
  await ordinary.to(30)
  const steps = [
    'starting up, syncing',
    'still syncing...',
    'done db statesync',
    'done syncing, initializing consensus',
  ]
  for (const step of steps) {
    expect(saying(consensusLog(ordinary.node), step).map(secondsOf).map(Math.round)).toEqual([21])
  }
})

test('statesync: reports show its progress, and heights do not change until the node joins', async () => {
  const { node, to } = await play('statesync')
  const status = createStatusTool(node)
  await to(90)
  const half = target / 2n
  const halfway = await printed(status)
  // Rounded down: half of an odd height is a little less than 50 %.
  expect(halfway).toContain(`  percentage: ${target % 2n === 0n ? '50.0000' : '49.9999'}%\n`)
  expect(halfway).toContain(`  progress: ${half}\n  target: ${target}\n`)
  expect(halfway).toContain('  status: out-of-sync\n  mode: syncing\n')
  expect(halfway).toContain(`  blockNumber: ${target - 40_000n}\n`)
  expect(halfway).toContain('rpc:\n  status: inactive\n')
  expect(halfway).toContain('  zephyr-rpc: running\n')
  expect(halfway).toContain('uptime: 0d 00h 01m 30s\n')
  const storage = await printed(createStorageTool(node), '--storage', '/dev/triedb')
  expect(storage).toContain(`Latest proposed is (${target - 40_000n}, `)
  await to(181)
  const joined = await printed(status)
  expect(joined).toContain(`  percentage: 100.0000%\n  progress: ${target}\n  target: ${target}\n`)
  expect(joined).toContain('  status: in-sync\n  mode: live\n')
  expect(joined).toContain('rpc:\n  status: active\n')
  expect(node.heights.rpc(node.now())).toBe(chain.headAt(node.now()).seqNum)
})
