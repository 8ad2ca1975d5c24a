import { describe, expect, test } from 'vitest'
import { createStatusTool } from '../../simulator/status-report.ts'
import { createStorageTool } from '../../simulator/storage.ts'
import { BEGIN, chain, consensusLog, play, playLines, printed, saying } from './play.ts'

const head = chain.headAt(BEGIN).seqNum
const earliest = head - 641_999n
const idOf = (number: bigint): string => chain.block(number)?.id ?? 'none'
const NEVER_SET = '18446744073709551615'

/** The storage report at the start, in a scenario of the given lines. */
const report = async (...lines: readonly string[]): Promise<readonly string[]> => {
  const { node } = playLines(...lines)
  return (await printed(createStorageTool(node), '--storage', '/dev/triedb')).split('\n')
}

const historyOf = (lines: readonly string[]): readonly string[] =>
  lines.slice(lines.findIndex((line) => line.startsWith('     Free:')) + 1)

describe('the storage report', () => {
  const proposed = `     Latest proposed is (${head}, ${idOf(head)}).`
  const voted = `     Latest voted is (${head - 1n}, ${idOf(head - 1n)}).`
  const finalized = `     Latest finalized is ${head - 2n}, latest verified is ${head - 5n}`
  const older = [
    `MPT database has 642000 history, earliest is ${earliest} latest is ${head}.`,
    '     It has been configured to retain no more than 16777216.',
  ]
  const expiring = `${finalized}, auto expire version is ${earliest}`
  const votedRound = `     Latest voted is (${head - 1n}, ${chain.block(head - 1n)?.round}).`

  test.each([
    ['A', [...older, votedRound, expiring, '']],
    ['B', [...older, voted, expiring, '']],
    ['C', [...older, proposed, voted, expiring, '']],
    [
      'E',
      [
        'MPT database has been configured to retain no more than 16777216 versions.',
        proposed,
        voted,
        finalized,
        'Active timelines:',
        '     Primary:',
        '        State machine kind: zephyr',
        `        History: 642000 versions, earliest is ${earliest}, latest is ${head}`,
        `        Auto expire version: ${earliest}`,
        '',
      ],
    ],
  ])('has layout %s', async (layout, lines) => {
    expect(historyOf(await report(`0s mpt prints ${layout}`))).toEqual(lines)
  })

  test('shows a secondary timeline, of the newer kind and with a shorter history', async () => {
    expect((await report('0s mpt timelines dual')).slice(-9)).toEqual([
      '     Primary:',
      '        State machine kind: ethereum',
      `        History: 642000 versions, earliest is ${earliest}, latest is ${head}`,
      `        Auto expire version: ${earliest}`,
      '     Secondary:',
      '        State machine kind: zephyr',
      `        History: 328075 versions, earliest is ${head - 328_074n}, latest is ${head}`,
      `        Auto expire version: ${head - 328_074n}`,
      '',
    ])
  })

  test('has a row for each device, and their chunks together', async () => {
    const lines = await report('0s mpt devices 3')
    expect(lines.slice(2, 5).map((line) => line.slice(-16))).toEqual([
      '"/dev/nvme3n1p2"',
      '"/dev/nvme4n1p2"',
      '"/dev/nvme5n1p2"',
    ])
    // 3 x (7424 - 1599)
    expect(lines).toContain('     Free: 17475 chunks with capacity 4.27 Tb used 0.00 bytes')
  })

  test('shows every block as never set, in the older layouts and the newest', async () => {
    const zeros = '0'.repeat(64)
    expect(historyOf(await report('0s mpt sentinel 20s', '0s mpt prints C'))).toEqual([
      `MPT database has 1 history, earliest is ${NEVER_SET} latest is ${NEVER_SET}.`,
      '     It has been configured to retain no more than 16777216.',
      `     Latest proposed is (${NEVER_SET}, ${zeros}).`,
      `     Latest voted is (${NEVER_SET}, ${zeros}).`,
      `     Latest finalized is ${NEVER_SET}, latest verified is ${NEVER_SET}, auto expire version is 0`,
      '',
    ])
    const newest = historyOf(await report('0s mpt sentinel 20s'))
    expect(newest).toContain('        History: empty (no roots written yet)')
    expect(newest).toContain(`     Latest voted is (${NEVER_SET}, ${zeros}).`)
  })

  test('shows this for a period, or once', async () => {
    const { node, to } = playLines('10s mpt sentinel 20s', '60s mpt sentinel once')
    const tool = createStorageTool(node)
    const seen: boolean[] = []
    for (const second of [9, 10, 29, 30, 60, 61, 90]) {
      await to(second)
      seen.push((await printed(tool, '--storage', '/dev/triedb')).includes(NEVER_SET))
    }
    expect(seen).toEqual([false, true, true, false, true, false, false])
  })
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
  const text = await printed(createStorageTool(node), '--storage', '/dev/triedb')
  expect(/ (\d+\.\d\d)% {2}"/.exec(text)?.[1]).toBe(expected.share)
  expect(text).toContain(`     Free: ${expected.free} chunks with`)
  expect(text).toContain(`History: ${expected.history} versions`)
  expect(text).toContain(`no more than ${expected.most} versions.`)
})

test('storage-full: no blank between percentage and size, and no capacity for the empty list', async () => {
  const { node } = await play('storage-full')
  const text = await printed(createStorageTool(node), '--storage', '/dev/triedb')
  expect(text).toContain('\n           1.81 Tb        1.81 Tb100.00%  "/dev/nvme3n1p2"\n')
  expect(text).toContain('\n     Free: 0 chunks\n')
  expect(text).toContain('History: 300 versions')
})

test('the status report has two shapes', async () => {
  const older = await printed(createStatusTool(playLines('0s status prints older').node))
  const newer = await printed(createStatusTool(playLines('0s status prints newer').node))
  expect(older).toContain('\nversion: 0.16.1\n')
  expect(older).not.toContain('triedb:')
  expect(newer).toContain('\npackageVersion: 0.16.1\n')
  // 1599 of 7424 chunks less 71 MiB: 409,273 of 1,900,544 MiB.
  expect(newer).toContain(
    '\ntriedb:\n  device: nvme3n1p2\n  model: Rehearsal SSD 2TB\n  capacity: 1.81 Tb\n  used: 399.68 Gb (21.53%)\n',
  )
  expect(newer).not.toContain('\nversion:')
})

test('format-drift: every keyword changes at the 30th second, and back at the end', async () => {
  const { node, to } = await play('format-drift')
  const read = async () => ({
    storage: await printed(createStorageTool(node), '--storage', '/dev/triedb'),
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
