import { describe, expect, test } from 'vitest'
import { createStorageTool } from '../../simulator/storage.ts'
import type { Entry } from '../../simulator/journal/entry.ts'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { BEGIN, chain, nth, play, playLines, printed, secondsOf, textOf } from './play.ts'

const blocks = (fromSecond: number, toSecond: number) =>
  [...chain.between(BEGIN + fromSecond * 1000, BEGIN + toSecond * 1000)].flatMap((happening) =>
    happening.kind === 'block' ? [happening] : [],
  )

/** The messages of execution after a second of the scenario, oldest first, without timestamp and location. */
const executionLog = (node: SimulatedNode, afterSecond = 0): readonly Entry[] =>
  node.journal
    .read(0)
    .filter(({ fields }) => fields['_SYSTEMD_UNIT'] === 'zephyr-execution.service')
    .filter((entry) => secondsOf(entry) > afterSecond)

const messages = (entries: readonly Entry[], beginning: string): readonly string[] =>
  entries.map((entry) => textOf(entry).split('\t')[1] ?? '').filter((text) => text.startsWith(beginning))

const fieldsOf = (message: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    message
      .split(',')
      .slice(1)
      .map((part): [string, string] => {
        const [key = '', value = ''] = part.split('=')
        return [key, value.trim()]
      }),
  )

const executedBlocks = (entries: readonly Entry[]) => messages(entries, '__exec_block,').map(fieldsOf)
const micro = (text = ''): number => Number(/^(\d+)µs$/.exec(text)?.[1])

describe('the execution log of a healthy node', () => {
  test('has every block once, and two blocks later its finalization', async () => {
    const { node, to } = await play('healthy')
    await to(60)
    const log = executionLog(node)
    const heights = blocks(0, 60).map(({ seqNum }) => String(seqNum))
    expect(executedBlocks(log).map(({ bl }) => bl)).toEqual(heights)
    const upserts = messages(log, 'Finish upserting version')
    expect(upserts.map((text) => /version (\d+) \(timeline 0\)/.exec(text)?.[1])).toEqual(heights)
    expect(messages(log, 'Run to block=').map((text) => /=\s*(\d+)/.exec(text)?.[1])).toEqual(heights)
    expect(messages(log, 'Processing finalization').map((text) => /block (\d+)/.exec(text)?.[1])).toEqual(
      heights.map((height) => String(BigInt(height) - 2n)),
    )
  })

  test('has the fields and values of each block', async () => {
    const { node, to } = await play('healthy')
    await to(60)
    const log = executionLog(node)
    const all = blocks(0, 60)
    for (const [at, fields] of executedBlocks(log).entries()) {
      const block = all[at]
      expect(fields).toMatchObject({
        id: `0x${block?.id}`,
        tx: String(block?.transactions),
        gas: String((block?.transactions ?? 0) * 84_325),
      })
      const { sr, txe, cmt, tot, ts } = fields
      // The clock of the host when execution of the block started: within a second after the block.
      expect(Number(ts) - (block?.timeMs ?? 0)).toBeGreaterThan(0)
      expect(Number(ts) - (block?.timeMs ?? 0)).toBeLessThan(1000)
      expect(micro(tot)).toBe(micro(sr) + micro(txe) + micro(cmt) + 56)
      expect(micro(tot)).toBeLessThan(2200)
      expect(fields).not.toHaveProperty('ac')
    }
    const [first] = log
    expect(first?.fields).toMatchObject({ SYSLOG_IDENTIFIER: 'zephyr', PRIORITY: '6' })
    const seen = new Date(all[0]?.seenMs ?? 0).toISOString().slice(0, 23).replace('T', ' ')
    expect(textOf(nth(log, 0))).toMatch(new RegExp(`^${seen}000000 \\[\\d+\\] \\S+:\\d+ LOG_INFO\\t`))
  })
})

test('database use matches the storage report', async () => {
  const { node, to } = playLines('0s mpt timelines dual', '10s storage used 90')
  await to(60)
  const report = await printed(createStorageTool(node), '--storage', '/dev/triedb')
  const [, percent = ''] = /(\d+\.\d\d)% /.exec(report) ?? []
  const chunks = [...report.matchAll(/(?:Fast|Slow|Free): (\d+) chunks/g)].map(([, count]) => count)
  const earliest = [...report.matchAll(/earliest is (\d+)/g)].map(([, block]) => block)
  const last = messages(executionLog(node), 'Finish upserting version').slice(-2)
  expect(last.map((text) => /\(timeline (\d)\)/.exec(text)?.[1])).toEqual(['0', '1'])
  expect(last.map((text) => /Min valid version (\d+)\./.exec(text)?.[1])).toEqual(earliest)
  for (const text of last) {
    const told = /Disk usage: (0\.\d{4})\. Chunks: (\d+) fast, (\d+) slow, (\d+) free/.exec(text)
    expect(Number(told?.[1]) * 100).toBeCloseTo(Number(percent), 1)
    expect(told?.slice(2)).toEqual(chunks)
  }
  // 0.9 of 7424 chunks: 6682 used, of them 885 slow.
  expect(chunks).toEqual(['5797', '885', '742'])
})

test('slow-execution: blocks take 54 to 66 ms from the 30th second to the 240th', async () => {
  const { node, to } = await play('slow-execution')
  await to(270)
  const taken = (from: number, until: number) => {
    const log = executionLog(node, from).filter((entry) => secondsOf(entry) <= until)
    return executedBlocks(log)
  }
  const slow = taken(30, 240)
  expect(slow).toHaveLength(blocks(30, 240).length)
  for (const { tot, rt, tx } of slow) {
    expect(micro(tot)).toBeGreaterThanOrEqual(54_000)
    expect(micro(tot)).toBeLessThan(66_000)
    expect(Number(rt)).toBe(Math.floor(Number(tx) * 0.4))
  }
  for (const { tot } of [...taken(0, 29.9), ...taken(240.1, 270)]) {
    expect(micro(tot)).toBeLessThan(2200)
  }
})

test('reexecution: two blocks a height from the 30th second to the 150th', async () => {
  const { node, to } = await play('reexecution')
  await to(180)
  const all = executedBlocks(executionLog(node))
  const ids = (from: number, until: number): number => {
    const log = executionLog(node, from).filter((entry) => secondsOf(entry) <= until)
    return new Set(executedBlocks(log).map(({ id }) => id)).size
  }
  expect(ids(30, 150)).toBe(2 * blocks(30, 150).length)
  expect(all).toHaveLength(blocks(0, 180).length + blocks(30, 150).length)
  // The one that stays is the last of its height.
  const last = new Map(all.map(({ bl, id }) => [bl, id]))
  expect(blocks(0, 180).every(({ seqNum, id }) => last.get(String(seqNum)) === `0x${id}`)).toBe(true)
})

describe('a service that does not run', () => {
  test('writes nothing; blocks that were not final are executed again after its start', async () => {
    const { node, to } = playLines('30s execution crashes SIGABRT', '60s execution starts')
    await to(90)
    const before = executedBlocks(executionLog(node).filter((entry) => secondsOf(entry) <= 30))
    const after = executedBlocks(executionLog(node, 30))
    expect(secondsOf(nth(executionLog(node, 30), 0))).toBeGreaterThan(60)
    const withoutStart = ({ ts: _start, ...fields }: Readonly<Record<string, string>>) => fields
    expect(after.slice(0, 2).map(withoutStart)).toEqual(before.slice(-2).map(withoutStart))
    expect(after.slice(2).map(({ bl }) => bl)).toEqual(blocks(30, 90).map(({ seqNum }) => `${seqNum}`))
  })

  test('nothing is executed while consensus is stalled, nor during statesync', async () => {
    const stalled = await play('stalled')
    await stalled.to(90)
    expect(executionLog(stalled.node, 30.2)).toEqual([])
    const statesync = await play('statesync')
    await statesync.to(170)
    expect(executionLog(statesync.node, -200)).toEqual([])
    await statesync.to(190)
    expect(executedBlocks(executionLog(statesync.node, -200)).length).toBeGreaterThan(20)
  })
})
