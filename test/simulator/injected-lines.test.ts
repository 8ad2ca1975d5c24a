import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import type { Entry } from '../../simulator/journal/entry.ts'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { createJournalctl } from '../../simulator/journal/journalctl.ts'
import type { Frame } from '../../simulator/tools/tools.ts'
import { readUnits } from '../../simulator/services/units.ts'
import { mayMatchPattern, patternsOf, classifyLine } from '../../src/parsers/log-patterns/classify.ts'
import { BEGIN, consensusLog, nth, play, playLines, printed, saying, secondsOf, textOf } from './play.ts'

const logOf = (node: SimulatedNode, service: string, after = 0): readonly Entry[] =>
  node.journal
    .read(0)
    .filter(({ fields }) => fields['_SYSTEMD_UNIT'] === `zephyr-${service}.service`)
    .filter((entry) => secondsOf(entry) > after)

/** The patterns that the agent detects: pattern → count. */
const patternsIn = (service: string, entries: readonly Entry[]): Record<string, number> => {
  const found: Record<string, number> = {}
  for (const text of entries.map(textOf).filter(mayMatchPattern)) {
    for (const { name } of classifyLine(patternsOf(service), text).patterns) {
      found[name] = (found[name] ?? 0) + 1
    }
  }
  return found
}

describe('what the agent detects', () => {
  test('in a healthy hour: only the clean-up', async () => {
    const { node, to } = playLines('0s log noise 0')
    const found: Record<string, number> = {}
    // Read like a follower: the journal does not keep an hour.
    for (let second = 60, next = 0; second <= 3600; second += 60) {
      await to(second)
      const entries = node.journal.read(next)
      next = (entries.at(-1)?.number ?? 0) + 1
      for (const service of ['bft', 'execution', 'cruft']) {
        const own = entries.filter(({ fields }) => fields['_SYSTEMD_UNIT'] === `zephyr-${service}.service`)
        for (const [name, times] of Object.entries(patternsIn(service, own))) {
          found[name] = (found[name] ?? 0) + times
        }
      }
    }
    expect(found).toEqual({ cleanup_completed: 1 })
  })
})

describe('assertion', () => {
  test('a backtrace, the assertion and its reason without a time, then SIGABRT', async () => {
    const { node, to } = await play('assertion')
    await to(60)
    const last = logOf(node, 'execution', 51.999)
    expect(last.map(textOf).slice(-3)).toEqual([
      '      0x5581b3df7c40: main',
      "zephyr: /usr/src/zephyr-execution/category/execution/runloop.cpp:216: void zephyr::runloop(...): Assertion 'block_cache.find(parent_id)' failed.",
      'assertion failure message: blocks diverge: the parent of the proposed block is not known',
    ])
    expect(new Set(last.map(({ fields }) => fields['_PID'])).size).toBe(1)
    expect(readUnits(node).get('zephyr-execution.service')).toMatchObject({
      ActiveState: 'failed',
      Result: 'core-dump',
      ExecMainStatus: '6',
    })
    const ended = node.journal.read(nth(last, -1).number + 1)
    expect(ended.map(textOf)).toContain('zephyr-execution.service: Main process exited, code=dumped, status=6/ABRT')
  })

  test('a service that does not run writes nothing', async () => {
    const { node, to } = playLines('10s execution stops', '20s execution logs FATAL: DB metadata was closed dirty')
    await to(30)
    expect(logOf(node, 'execution', 15)).toEqual([])
  })
})

test('a line of each program: of its logger, or text alone, with the name prefix', async () => {
  const { node, to } = playLines(
    '10s bft logs ERROR node PREFIX consensus node crashed: ()',
    '11s bft logs error: TOML parse error at line 14, column 1',
    '12s execution logs WARNING block_db.cpp:91 Slow block commit detected',
    '13s rpc logs WARN rpc event server channel lagged, events will be missing',
  )
  await to(14)
  expect(logOf(node, 'bft', 9).map(textOf)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(
        /"level":"ERROR","fields":\{"message":"zephyr consensus node crashed: \(\)"\},"target":"zephyr_node"\}$/,
      ),
      'error: TOML parse error at line 14, column 1',
    ]),
  )
  expect(patternsIn('execution', logOf(node, 'execution', 9))).toEqual({ slow_commit: 1 })
  expect(patternsIn('rpc', logOf(node, 'rpc'))).toEqual({ rpc_events_lost: 1 })
})

test('a single word is no line', () => {
  expect(() => playLines('10s bft logs wal_stopped')).toThrow('wrong argument after "bft logs": "wal_stopped"')
})

test('database-old: execution logs the reason between start and exit, and stays failed', async () => {
  const { node, to } = await play('database-old')
  await to(100)
  const found = patternsIn('execution', logOf(node, 'execution', 31))
  expect(found).toEqual({ assertion: 1, timeline_missing: 1, db_old_format: 1 })
  const unit = 'zephyr-execution.service'
  const about = node.journal
    .read(0)
    .filter((entry) => secondsOf(entry) > 31 && secondsOf(entry) < 40)
    .filter(({ fields }) => fields['UNIT'] === unit || fields['_SYSTEMD_UNIT'] === unit)
    .map(textOf)
  expect(about[0]).toMatch(/^Started /)
  expect(about.slice(-3)).toEqual([
    expect.stringMatching(/^assertion failure message: live zephyr requires a page-encoded/),
    `${unit}: Main process exited, code=exited, status=1/FAILURE`,
    `${unit}: Failed with result 'exit-code'.`,
  ])
})

test('wal-stopped: 250 lines a second for 70 seconds; the node continues', async () => {
  const { node, to } = await play('wal-stopped')
  let lines = 0
  for (let second = 10, next = 0; second <= 110; second += 10) {
    await to(second)
    const entries = node.journal.read(next)
    next = (entries.at(-1)?.number ?? 0) + 1
    lines += saying(entries, 'waltrace thread stopped').length
  }
  expect(lines).toBe(17_500)
  expect(saying(consensusLog(node, 90), 'committed block').length).toBeGreaterThan(40)
})

test('network-noise: each kind once a second, from five peers', async () => {
  const { node, to } = await play('network-noise')
  await to(90)
  const kinds = ['failed to decrypt message', 'session timeout expired', 'Timestamp validation']
  expect(kinds.map((kind) => saying(consensusLog(node), kind).length)).toEqual([61, 60, 60])
  const peers = saying(consensusLog(node), 'failed').map((entry) => /"addr":"([^"]+)"/.exec(textOf(entry))?.[1])
  expect(new Set(peers).size).toBe(5)
})

describe('the clean-up', () => {
  const said = (node: SimulatedNode) =>
    logOf(node, 'cruft').map((entry) => [Math.round(secondsOf(entry)), textOf(entry)])
  const SKIPPED = 'No new files detected. Skipping deletion'
  const COMPLETED = 'Cleanup completed successfully'

  test('cleanup-skipping: each run of the unit skips, until the scenario ends it', async () => {
    const { node, to } = await play('cleanup-skipping')
    await to(160)
    expect(said(node)).toEqual([
      [34, SKIPPED],
      [64, SKIPPED],
      [94, SKIPPED],
      [154, COMPLETED],
    ])
    const runs = logOf(node, 'cruft').map(({ fields }) => fields['_SYSTEMD_INVOCATION_ID'])
    expect(new Set(runs).size).toBe(4)
    expect(readUnits(node).get('zephyr-cruft.service')?.['InvocationID']).toBe(runs.at(-1))
  })

  // The simulation starts at ten past: the next hour is after 3000 s.
  test.each([
    [40, SKIPPED],
    [10, COMPLETED],
  ])(
    'of a node that was stalled for %i minutes: %s',
    async (minutes, text) => {
      const { node, to } = playLines('0s log prints INFO', `${50 - minutes}m consensus stops`)
      await to(3010)
      expect(said(node)).toEqual([[3002, text]])
    },
    30_000,
  )
})

describe('the journal', () => {
  const ask = ['-n', '1', '-o', 'cat', '-u', 'zephyr-bft'] as const

  test('forbids: a hint, nothing printed, and exit code 1', async () => {
    const { node, clock, to } = await play('no-journal-permission')
    await to(31)
    const frames: Frame[] = []
    const journalctl = createJournalctl(node.journal, clock)
    for await (const frame of journalctl(ask, new AbortController().signal)) frames.push(frame)
    expect(frames[0]).toHaveProperty('stderr')
    expect(JSON.stringify(frames[0])).toContain('Hint: You are currently not seeing messages')
    expect(frames.slice(1)).toEqual([{ exit: 1 }])
    await to(151)
    expect(await printed(createJournalctl(node.journal, clock), ...ask)).not.toBe('')
  })

  test('freezes: new readers wait, followers receive nothing; after it thaws all entries arrive', async () => {
    const { node, clock, to } = await play('journal-frozen')
    await to(29)
    const end = new AbortController()
    const heard: string[] = []
    const following = (async () => {
      const journalctl = createJournalctl(node.journal, clock)
      for await (const frame of journalctl(['--follow', ...ask], end.signal)) {
        if ('stdout' in frame) heard.push(...frame.stdout.trimEnd().split('\n'))
      }
    })()
    await to(31)
    const before = heard.length
    const asked = printed(createJournalctl(node.journal, clock), ...ask)
    let isAnswered = false
    void asked.then(() => {
      isAnswered = true
    })
    for (let second = 32; second < 120; second += 1) await to(second)
    expect([heard.length, isAnswered]).toEqual([before, false])
    for (let second = 120; second < 123; second += 0.2) await to(second)
    expect(await asked).not.toBe('')
    end.abort()
    await following
    const since = consensusLog(node, 35).filter((entry) => secondsOf(entry) < 120)
    expect(heard).toEqual(expect.arrayContaining(since.map(textOf)))
  })

  test('keeps: the oldest entry advances, and older ones do not return', async () => {
    const { node, to } = await play('journal-evicted')
    const oldest = (): number => secondsOf(nth(node.journal.read(0), 0))
    await to(29)
    expect(oldest()).toBeLessThan(-115)
    await to(31)
    expect(oldest()).toBeGreaterThanOrEqual(1)
    expect(oldest()).toBeLessThan(3)
    await to(120)
    expect(oldest()).toBeGreaterThanOrEqual(90)
    await to(240)
    expect(oldest()).toBeLessThan(160)
  })

  const oldestOf = async (node: SimulatedNode, clock: Clock, service: string): Promise<number> => {
    const journalctl = createJournalctl(node.journal, clock)
    const [first = ''] = (await printed(journalctl, '-o', 'json', `_SYSTEMD_UNIT=zephyr-${service}.service`)).split(
      '\n',
    )
    const [, us] = /"__REALTIME_TIMESTAMP":"(\d+)"/.exec(first) ?? []
    return Number(us) / 1000
  }
  const SERVICES = ['bft', 'execution', 'ledger-tail', 'cruft'] as const

  // The hour before 12:10, two days earlier: the node has run for 53 hours.
  const LONG_AGO = Date.UTC(2026, 1, 27, 12)

  test('reaches two days back, however few of the last minutes are kept', async () => {
    const { node, clock, to } = playLines('0s log floods 10000', '0s node syncs 1h')
    await to(40)
    for (const service of SERVICES) {
      const oldest = await oldestOf(node, clock, service)
      expect([service, Math.floor((oldest - LONG_AGO) / 2000)]).toEqual([service, 0])
    }
    // The newest few do not reach back over the days that are not kept.
    const journalctl = createJournalctl(node.journal, clock)
    expect(await printed(journalctl, '-n', '90000', '-o', 'short')).not.toContain('Feb 27')
    expect(await printed(journalctl, '--since', '-1h', '-o', 'short')).not.toContain('Feb 27')
  })

  test('keeps: entries from days before are removed, too, and do not return', async () => {
    const { node, clock, to } = await play('journal-evicted')
    await to(31)
    expect(await oldestOf(node, clock, 'bft')).toBeGreaterThan(BEGIN)
    await to(240)
    expect(await oldestOf(node, clock, 'bft')).toBeGreaterThan(BEGIN)
    expect(node.journal.oldest()).toEqual([])
  })
})
