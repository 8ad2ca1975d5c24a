import { describe, expect, test } from 'vitest'
import type { RoundOutcome } from '../../simulator/chain.ts'
import { createJournalctl } from '../../simulator/journal/journalctl.ts'
import { BEGIN, chain, consensusLog, nth, play, playLines, printed, saying, secondsOf, textOf } from './play.ts'

const MINUTE = [...chain.between(BEGIN, BEGIN + 60_000)]
const isBlock = ({ kind }: RoundOutcome): boolean => kind === 'block'
const blocks = MINUTE.filter(isBlock)
const timeouts = MINUTE.filter((happening) => !isBlock(happening))

describe('the consensus log of a healthy node', () => {
  test('has every block, with the field types of the node', async () => {
    const { node, to } = await play('healthy')
    await to(60)
    const log = consensusLog(node)
    const head = chain.headAt(BEGIN + 60_000)
    const final = chain.block(head.seqNum - 2n)
    const committed = saying(log, 'committed block')
    expect(committed).toHaveLength(blocks.length)
    expect(JSON.parse(textOf(nth(committed, -1)))).toEqual({
      timestamp: new Date(head.seenMs).toISOString().replace('Z', '000Z'),
      level: 'INFO',
      fields: {
        message: 'committed block',
        num_tx: final?.transactions,
        block_num: Number(final?.seqNum),
      },
      target: 'zephyr_ledger',
    })
    expect(saying(log, 'proposal message')).toHaveLength(blocks.length)
    expect(saying(log, 'vote successful')).toHaveLength(blocks.length)
    const [entry] = log
    expect(entry?.fields).toMatchObject({ SYSLOG_IDENTIFIER: 'zephyr-node', PRIORITY: '6' })
  })

  test('advances by one certificate a round, of a quorum or of timeouts', async () => {
    const { node, to } = await play('healthy')
    await to(60)
    const rounds = saying(consensusLog(node), 'advancing round').map((entry) =>
      /"(Qc|Tc)\(.*?epoch: (\d+), round: (\d+)/.exec(textOf(entry))?.slice(1),
    )
    const first = MINUTE[0]?.round ?? 0n
    // A block's certificate comes with the block after it, that of a timeout at once.
    const expected = rounds.map((_, index) => first - 1n + BigInt(index))
    expect(rounds.map((found) => BigInt(found?.[2] ?? 0))).toEqual(expected)
    expect(rounds.filter((found) => found?.[0] === 'Tc')).toHaveLength(timeouts.length)
    // 60 s are some four strides, each with one timeout.
    expect([4, 5]).toContain(timeouts.length)
  })

  test('has a local timeout and remote timeouts for a round that times out', async () => {
    const { node, to } = await play('healthy')
    await to(60)
    const log = consensusLog(node)
    const local = saying(log, 'local timeout')
    expect(local.map((entry) => /"round":"(\d+)"/.exec(textOf(entry))?.[1])).toEqual(
      timeouts.map(({ round }) => String(round)),
    )
    expect(saying(log, 'remote timeout message')).toHaveLength(3 * timeouts.length)
  })

  test('has three noise lines per block, or the configured number', async () => {
    const count = async (...lines: readonly string[]): Promise<number> => {
      const { node, to } = playLines(...lines)
      await to(60)
      return consensusLog(node).length
    }
    const quiet = await count('0s log noise 0')
    expect(await count()).toBe(quiet + 3 * blocks.length)
    expect(await count('0s log noise 10')).toBe(quiet + 10 * blocks.length)
  })
})

test('info-only-log: only commits and QCs, no line of DEBUG', async () => {
  const { node, to } = await play('info-only-log')
  await to(60)
  const log = consensusLog(node)
  const own = MINUTE.filter((happening) => isBlock(happening)).filter(
    ({ round }) => chain.round(round + 1n)?.leader === node.own,
  )
  expect(log.filter((entry) => textOf(entry).includes('"level":"DEBUG"'))).toEqual([])
  expect(saying(log, 'committed block')).toHaveLength(blocks.length)
  expect(saying(log, 'Created new QC')).toHaveLength(own.length)
  expect(log).toHaveLength(blocks.length + own.length)
})

test('stalled: local timeouts of one round, and no commits', async () => {
  const { node, to } = await play('stalled')
  await to(90)
  const log = consensusLog(node, 30)
  const { round } = chain.headAt(BEGIN + 30_000)
  const stuck = saying(log, 'local timeout').map((entry) => /"round":"(\d+)"/.exec(textOf(entry))?.[1])
  expect(new Set(stuck)).toEqual(new Set([String(round + 1n)]))
  // Every third of 2.73 rounds a second: 0.91 a second, in a minute 54 or 55.
  expect([54, 55]).toContain(stuck.length)
  expect(saying(log, 'committed block')).toEqual([])
})

test('a node that catches up fetches the missed blocks', async () => {
  const { node, to } = playLines('10s consensus stops', '40s consensus resumes')
  await to(50)
  const asks = saying(consensusLog(node, 40), 'blocksync: self request')
  const stood = chain.headAt(BEGIN + 10_000).seqNum
  const next = [...chain.between(BEGIN + 40_000, BEGIN + 50_000)].find(isBlock)
  const missed = chain.headAt(next?.seenMs ?? 0).seqNum - 1n - stood
  expect(textOf(nth(asks, 0))).toContain(`num_blocks: ${missed} `)
  // It commits the missed blocks, two behind their heights, and continues.
  const first = saying(consensusLog(node, 40), 'committed block')
  expect(textOf(nth(first, 0))).toContain(`"block_num":${stood - 1n}}`)
})

test('panic: three lines that are not JSON, the entries of systemd about the signal, then nothing', async () => {
  const { node, to } = await play('panic')
  await to(90)
  const last = consensusLog(node, 29.999)
  expect(last.map(secondsOf).map(Math.round)).toEqual([30, 30, 30])
  expect(textOf(nth(last, 0))).toBe("thread 'main' panicked at consensus-state/src/lib.rs:412:17:")
  expect(textOf(nth(last, 1))).toMatch(/^high qc too far ahead of block tree root/)
  const systemd = node.journal.read(0).filter(({ fields }) => fields['UNIT'] === 'zephyr-bft.service')
  expect(systemd.map(textOf)).toEqual([
    'zephyr-bft.service: Main process exited, code=dumped, status=6/ABRT',
    "zephyr-bft.service: Failed with result 'core-dump'.",
  ])
  expect(systemd[0]?.number).toBeGreaterThan(last[2]?.number ?? Infinity)
})

describe('journalctl --grep on it', () => {
  const start = async () => {
    const { node, clock, to } = await play('healthy')
    await to(60)
    return { node, journalctl: createJournalctl(node.journal, clock) }
  }
  const UNIT = ['-o', 'cat', '-u', 'zephyr-bft'] as const

  test('prints only matches, the newest first with --lines', async () => {
    const { node, journalctl } = await start()
    const texts = saying(consensusLog(node, -200), 'committed block').map(textOf)
    const grep = ['--grep', 'committed block|no such thing', ...UNIT] as const
    expect((await printed(journalctl, ...grep)).trimEnd().split('\n')).toEqual(texts)
    expect((await printed(journalctl, '-n', '3', ...grep)).trimEnd().split('\n')).toEqual(texts.slice(-3).toReversed())
  })

  test('is case-sensitive if the pattern has capitals', async () => {
    const { journalctl } = await start()
    const count = async (...argv: readonly string[]): Promise<number> =>
      (await printed(journalctl, ...argv, ...UNIT)).split('\n').length - 1
    const all = await count('--grep', 'created new qc')
    expect(all).toBeGreaterThan(0)
    expect(await count('--grep', 'Created new QC')).toBe(all)
    expect(await count('--grep', 'CREATED new')).toBe(0)
  })

  test('resumes from a cursor and follows', async () => {
    const { node, clock, to } = await play('healthy')
    await to(60)
    const commits = saying(consensusLog(node), 'committed block')
    const argv = ['--follow', '-n', 'all', `--cursor=${commits[4]?.cursor}`, '--grep', 'committed block']
    const end = new AbortController()
    let stdout = ''
    for await (const frame of createJournalctl(node.journal, clock)([...argv, ...UNIT], end.signal)) {
      if ('stdout' in frame) stdout += frame.stdout
      const lines = stdout.split('\n').length - 1
      if (lines >= commits.length - 4) break
    }
    expect(stdout.trimEnd().split('\n')).toEqual(commits.slice(4).map(textOf))
  })
})
