import { expect, test } from 'vitest'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { createStatusTool } from '../../simulator/status-report.ts'
import { createStorageTool } from '../../simulator/storage.ts'
import { BEGIN, chain, consensusLog, play, playLines, printed, saying } from './play.ts'

const head = chain.headAt(BEGIN).seqNum

const report = async (node: SimulatedNode): Promise<string> =>
  printed(createStorageTool(node), '--storage', '/dev/triedb')

test('the storage report: sizes, chunks, then the blocks of each timeline', async () => {
  const { node } = playLines('0s mpt timelines dual')
  const [proposed, voted] = [head, head - 1n].map((number) => `(${number}, ${chain.block(number)?.id})`)
  expect(await report(node)).toBe(
    [
      'MPT database on storages:',
      '          Capacity           Used      %  Path',
      '           1.81 Tb      399.68 Gb 21.53%  "/dev/nvme3n1p2"',
      'MPT database internal lists:',
      '     Fast: 1387 chunks with capacity 346.75 Gb used 346.70 Gb',
      '     Slow: 212 chunks with capacity 53.00 Gb used 52.98 Gb',
      '     Free: 5825 chunks with capacity 1.42 Tb used 0.00 bytes',
      'MPT database has been configured to retain no more than 16777216 versions.',
      `     Latest proposed is ${proposed}.`,
      `     Latest voted is ${voted}.`,
      `     Latest finalized is ${head - 2n}, latest verified is ${head - 5n}`,
      'Active timelines:',
      '     Primary:',
      '        State machine kind: ethereum',
      `        History: 642000 versions, earliest is ${head - 641_999n}, latest is ${head}`,
      `        Auto expire version: ${head - 641_999n}`,
      '     Secondary:',
      '        State machine kind: zephyr',
      `        History: 328075 versions, earliest is ${head - 328_074n}, latest is ${head}`,
      `        Auto expire version: ${head - 328_074n}`,
      '',
    ].join('\n'),
  )
})

test.each([
  // 5642 of 7424 chunks are taken; 71 MiB of them are not in use, which makes a hundredth of a percent.
  { second: 0, share: '75.99', free: 1782, history: 642_000, most: 16_777_216 },
  { second: 30, share: '75.99', free: 1782, history: 642_000, most: 16_777_216 },
  // Exactly at the threshold the history is not yet shortened: 5939 chunks.
  { second: 90, share: '79.99', free: 1485, history: 642_000, most: 16_777_216 },
  // 0.86: 6385 chunks; 30 % of the history are gone.
  { second: 180, share: '86.00', free: 1039, history: 449_400, most: 449_400 },
  // 0.96: 7127 chunks; 80 % are gone.
  { second: 330, share: '96.00', free: 297, history: 128_400, most: 128_400 },
  { second: 900, share: '96.00', free: 297, history: 128_400, most: 128_400 },
])('storage-filling: at second $second $share % are used', async (expected) => {
  const { node, to } = await play('storage-filling')
  await to(expected.second)
  const text = await report(node)
  expect(/ (\d+\.\d\d)% {2}"/.exec(text)?.[1]).toBe(expected.share)
  expect(text).toContain(`     Free: ${expected.free} chunks with`)
  expect(text).toContain(`History: ${expected.history} versions`)
  expect(text).toContain(`no more than ${expected.most} versions.`)
})

test('storage-full: no blank between percentage and size, and no capacity for the empty list', async () => {
  const { node } = await play('storage-full')
  const text = await report(node)
  expect(text).toContain('\n           1.81 Tb        1.81 Tb100.00%  "/dev/nvme3n1p2"\n')
  expect(text).toContain('\n     Free: 0 chunks\n')
  expect(text).toContain('History: 300 versions')
})

test('format-drift: every keyword changes at the 30th second, and back at the end', async () => {
  const { node, to } = await play('format-drift')
  const read = async () => ({
    storage: await report(node),
    status: await printed(createStatusTool(node)),
  })
  await to(29)
  expect((await read()).storage).toContain('MPT database')
  await to(120)
  const { storage, status } = await read()
  expect(storage).not.toMatch(/MPT|Latest|History|Primary|%|chunks/)
  expect(storage).toContain('State store devices:')
  expect(status).not.toMatch(/^(?:consensus|services|statesync|rpc|version|uptime):/m)
  expect(status).not.toMatch(/blockNumber|in-sync|: live|running\n/)
  const log = saying(consensusLog(node, 30), 'committed block')
  expect(log.length).toBeGreaterThan(200)
  expect(log.every(({ fields }) => !/"block_num"|"num_tx"/.test(fields['MESSAGE'] ?? ''))).toBe(true)
  const ledger = node.journal.read(0).filter(({ fields, realtimeUs }) => {
    const isLedger = fields['SYSLOG_IDENTIFIER'] === 'zephyr-ledger-tail'
    return isLedger && realtimeUs > (BEGIN + 30_000) * 1000
  })
  expect(ledger.length).toBeGreaterThan(400)
  expect(ledger.every(({ fields }) => !/"seq_num"|"round"/.test(fields['MESSAGE'] ?? ''))).toBe(true)
  await to(211)
  expect((await read()).status).toContain('\nconsensus:\n  status: in-sync\n')
})
