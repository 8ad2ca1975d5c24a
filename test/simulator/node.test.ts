import { expect, test } from 'vitest'
import { progressAt } from '../../simulator/consensus/statesync.ts'
import { createJournalctl } from '../../simulator/journal/journalctl.ts'
import { renderNative, renderOtel } from '../../simulator/native.ts'
import { createStatusTool } from '../../simulator/status-report.ts'
import { createStorageTool } from '../../simulator/storage.ts'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { type Frame, withFaults } from '../../simulator/tools/tools.ts'
import { BEGIN, chain, consensusLog, logOf, nth, play, playLines, printed, saying, secondsOf, textOf } from './play.ts'

// What follows the 60th second, of which the scenarios have golden metrics.
const secondsOfAll = (node: SimulatedNode, message: string): readonly number[] =>
  saying(consensusLog(node), message).map(secondsOf).map(Math.round)

test('statesync: the node joins the network at its end', async () => {
  const { node, to } = await play('statesync')
  await to(181)
  expect(node.heights.rpc(node.now())).toBe(chain.headAt(node.now()).seqNum)
  expect(await printed(createStatusTool(node))).toContain('  status: in-sync\n  mode: live\n')
  await to(200)
  expect(secondsOfAll(node, 'done db statesync')).toEqual([180])
  expect(secondsOfAll(node, 'done syncing, initializing consensus')).toEqual([180])
  const committed = saying(consensusLog(node), 'committed block').map(secondsOf)
  expect(Math.min(...committed)).toBeGreaterThan(180)
  expect(committed.length).toBeGreaterThan(50)
})

test('statesync-frozen: progress stops, resumes there, and ends later by the same time', async () => {
  const { node, to } = await play('statesync-frozen')
  const target = chain.headAt(BEGIN).seqNum
  const done = async (second: number): Promise<bigint> => {
    await to(second)
    return progressAt(chain, node.condition().statesync, node.now()).progress
  }
  const tenth = target / 10n
  expect([await done(30), await done(90), await done(149)]).toEqual([tenth, tenth, tenth])
  expect(await done(285)).toBe((target * 550n) / 1000n) // 30 and 135 of 300 seconds
  expect(node.heights.rpc(node.now())).toBe(target - 40_000n)
  await to(421)
  expect(node.heights.rpc(node.now())).toBe(chain.headAt(node.now()).seqNum)
  expect(secondsOfAll(node, 'done syncing')).toEqual([420])
})

test('start-hangs: requests without an answer, and its end; an ordinary start has both at once', async () => {
  const { node, to } = await play('start-hangs')
  await to(280)
  expect(secondsOfAll(node, 'blocksync: header request timed out, sending new request')).toHaveLength(238) // 32 to 269
  expect(secondsOfAll(node, 'done syncing, initializing consensus')).toEqual([270])
  const ordinary = playLines('10s bft crashes SIGABRT', '20s bft starts')
  await ordinary.to(30)
  for (const step of ['starting up, syncing', 'still syncing...', 'done db statesync', 'done syncing, initializing'])
    expect(secondsOfAll(ordinary.node, step)).toEqual([21])
})

test('a node that catches up fetches the missed blocks, and commits them', async () => {
  const { node, to } = playLines('10s consensus stops', '40s consensus resumes')
  await to(50)
  const stalledAt = chain.headAt(BEGIN + 10_000).seqNum
  const next = [...chain.between(BEGIN + 40_000, BEGIN + 50_000)].find(({ kind }) => kind === 'block')
  const missed = chain.headAt(next?.seenMs ?? 0).seqNum - 1n - stalledAt
  const log = consensusLog(node, 40)
  expect(textOf(nth(saying(log, 'blocksync: self request'), 0))).toContain(`num_blocks: ${missed} `)
  expect(textOf(nth(saying(log, 'committed block'), 0))).toContain(`"block_num":${stalledAt - 1n}}`)
})

test('execution that crashed executes the blocks that were not final again after its start', async () => {
  const { node, to } = playLines('30s execution crashes SIGABRT', '60s execution starts')
  await to(90)
  const heights = (after: number, until: number): readonly (string | undefined)[] =>
    logOf(node, 'execution', after)
      .filter((entry) => secondsOf(entry) <= until)
      .flatMap((entry) => /__exec_block,bl= *(\d+),/.exec(textOf(entry))?.[1] ?? [])
  expect(heights(30, 60)).toEqual([])
  const missed = [...chain.between(BEGIN + 30_000, BEGIN + 90_000)].flatMap((one) =>
    one.kind === 'block' ? [`${one.seqNum}`] : [],
  )
  expect(heights(60, 90)).toEqual([...heights(0, 30).slice(-2), ...missed])
})

/** The value of the metric, without the name prefix; undefined if there is none. */
const valueIn = (text: string, name: string): number | undefined => {
  const found = new RegExp(`^zephyr_${name}\\{[^}]*\\} (\\S+)`, 'm').exec(text)
  return found ? Number(found[1]) : undefined
}

test('a restarted process counts from 0', async () => {
  const { node, to } = playLines('10s bft crashes SIGABRT', '20s bft starts')
  await to(21)
  expect(valueIn(renderNative(node), 'total_uptime_us')).toBe(1_000_000)
  expect(valueIn(renderNative(node), 'state_consensus_events_commit_block')).toBeLessThan(5)
})

test('the OpenTelemetry collector has the last values for a minute after consensus stops', async () => {
  const { node, to } = await play('panic')
  await to(85)
  expect(valueIn(renderOtel(node), 'execution_ledger_block_num')).toBe(Number(chain.headAt(BEGIN + 30_000).seqNum))
  await to(91)
  expect(valueIn(renderOtel(node), 'execution_ledger_block_num')).toBeUndefined()
  expect(valueIn(renderOtel(node), 'rpc_active_requests')).toBe(0)
})

test('an OpenTelemetry collector that was started after consensus stopped has no values of it', async () => {
  const { node, to } = playLines('10s bft stops', '12s otelcol stops', '14s otelcol starts')
  await to(15)
  expect(valueIn(renderOtel(node), 'total_uptime_us')).toBeUndefined()
})

test.each([
  // 5642 of 7424 chunks are taken; 71 MiB of them are not in use, which makes a hundredth of a percent.
  { second: 30, share: '75.99', free: 1782, history: 642_000, most: 16_777_216 },
  // Exactly at the threshold the history is not yet shortened: 5939 chunks.
  { second: 90, share: '79.99', free: 1485, history: 642_000, most: 16_777_216 },
  // 0.86: 6385 chunks; 30 % of the history are gone.
  { second: 180, share: '86.00', free: 1039, history: 449_400, most: 449_400 },
  // 0.96: 7127 chunks; 80 % are gone.
  { second: 330, share: '96.00', free: 297, history: 128_400, most: 128_400 },
])('storage-filling: at second $second $share % are used', async (expected) => {
  const { node, to } = await play('storage-filling')
  await to(expected.second)
  const text = await printed(createStorageTool(node), '--storage', '/dev/triedb')
  expect(/ (\d+\.\d\d)% {2}"/.exec(text)?.[1]).toBe(expected.share)
  expect(text).toContain(`     Free: ${expected.free} chunks with`)
  expect(text).toContain(`History: ${expected.history} versions`)
  expect(text).toContain(`no more than ${expected.most} versions.`)
})

test('with both timelines the log of execution has the numbers of the storage report', async () => {
  const { node, to } = playLines('0s mpt timelines dual', '10s storage used 90')
  await to(60)
  const report = await printed(createStorageTool(node), '--storage', '/dev/triedb')
  const earliest = [...report.matchAll(/earliest is (\d+)/g)].map(([, block]) => block)
  const upserts = logOf(node, 'execution').flatMap((entry) => {
    const found =
      /version \d+ \(timeline (\d)\)\. Min valid version (\d+)\..* Chunks: (\d+) fast, (\d+) slow, (\d+) free/
    return found.exec(textOf(entry))?.slice(1).join(' ') ?? []
  })
  // 0.9 of 7424 chunks: 6682 used, of them 885 slow.
  const chunks = '5797 885 742'
  expect([...report.matchAll(/(?:Fast|Slow|Free): (\d+) chunks/g)].map(([, count]) => count).join(' ')).toBe(chunks)
  expect(upserts.slice(-2)).toEqual([`0 ${earliest[0]} ${chunks}`, `1 ${earliest[1]} ${chunks}`])
})

test('journalctl starts at the entry of a cursor, and at its time if the cursor is of another journal', async () => {
  const { node, clock, to } = await play('healthy')
  await to(60)
  const committed = saying(consensusLog(node), 'committed block').slice(4)
  const expected = committed.map((entry) => `${textOf(entry)}\n`).join('')
  const { cursor } = nth(committed, 0)
  for (const from of [cursor, cursor.replace(/^s=\w{32}/, `s=${'0'.repeat(32)}`)]) {
    const argv = ['-n', 'all', `--cursor=${from}`, '--grep', 'committed block', '-o', 'cat', '-u', 'zephyr-bft']
    expect(await printed(createJournalctl(node.journal, clock), ...argv)).toBe(expected)
  }
})

test('journal-frozen: a journalctl that waits is answered after it', async () => {
  const { node, clock, to } = await play('journal-frozen')
  await to(60)
  let text = ''
  const argv = ['-n', '1', '-o', 'cat', '-u', 'zephyr-bft']
  const answered = printed(createJournalctl(node.journal, clock), ...argv).then((printedText) => (text = printedText))
  await to(119)
  expect(text).toBe('')
  for (let second = 120; second < 123; second += 0.2) await to(second)
  expect(await answered).toContain('"level":')
})

test('tool-hangs: calls that hang end from the 150th second on', async () => {
  const { node, clock, to } = await play('tool-hangs')
  const call = async (name: 'mpt' | 'status', frames: Frame[]): Promise<void> => {
    const tool = withFaults({ node, clock, name }, createStatusTool(node))
    for await (const frame of tool([], new AbortController().signal)) frames.push(frame)
  }
  await to(30)
  const [status, mpt]: [Frame[], Frame[]] = [[], []]
  const hanging = Promise.all([call('status', status), call('mpt', mpt)])
  await to(149)
  expect([status.length, mpt.length]).toEqual([2, 2])
  await to(150)
  await hanging
  expect([status.at(-1), mpt.at(-1)]).toEqual([{ exit: 0 }, { signal: 'SIGABRT' }])
})
