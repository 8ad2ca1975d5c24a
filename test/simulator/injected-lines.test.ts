import { describe, expect, test } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import type { Entry } from '../../simulator/journal/entry.ts'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { createJournalctl } from '../../simulator/journal/journalctl.ts'
import { readUnits } from '../../simulator/services/units.ts'
import { mayMatchPattern, patternsOf, classifyLine } from '../../src/parsers/log-patterns/classify.ts'
import { BEGIN, logOf, nth, play, playLines, printed, secondsOf, textOf } from './play.ts'

/** The patterns that the agent detects: pattern → count. */
const patternsIn = (service: string, entries: readonly Entry[], found: Record<string, number> = {}) => {
  for (const text of entries.map(textOf).filter(mayMatchPattern)) {
    for (const { name } of classifyLine(patternsOf(service), text).patterns) found[name] = (found[name] ?? 0) + 1
  }
  return found
}

test('in a healthy hour the agent detects only the clean-up', async () => {
  const { node, to } = playLines('0s log noise 0')
  const found: Record<string, number> = {}
  // Read like a follower: the journal does not keep an hour.
  for (let second = 60; second <= 3600; second += 60) {
    await to(second)
    for (const service of ['bft', 'execution', 'cruft']) patternsIn(service, logOf(node, service, second - 60), found)
  }
  expect(found).toEqual({ cleanup_completed: 1 })
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

test('after a flood without readers the journal holds no more than it keeps', async () => {
  const { node, to } = playLines('0s log floods 10000')
  await to(120)
  const entries = node.journal.read(0)
  expect(entries).toHaveLength(20_000)
  // Few of 1,200,000 lines are written: at most five intervals of 30 s started.
  expect(nth(entries, -1).number).toBeLessThan(5 * 60_000 + 10_000)
  expect(entries.some((entry) => textOf(entry).includes('proposed_block'))).toBe(true)
})

const oldestOf = async (node: SimulatedNode, clock: Clock, service: string): Promise<number> => {
  const journalctl = createJournalctl(node.journal, clock)
  const text = await printed(journalctl, '-o', 'json', `_SYSTEMD_UNIT=zephyr-${service}.service`)
  return Number(/"__REALTIME_TIMESTAMP":"(\d+)"/.exec(text)?.[1]) / 1000
}
// The hour before 12:10, two days earlier: the node has run for 53 hours.
const LONG_AGO = Date.UTC(2026, 1, 27, 12)

test('the journal reaches two days back, however few of the last minutes are kept', async () => {
  const { node, clock, to } = playLines('0s log floods 10000', '0s node syncs 1h')
  await to(40)
  for (const service of ['bft', 'execution', 'ledger-tail', 'cruft']) {
    const oldest = await oldestOf(node, clock, service)
    expect([service, Math.floor((oldest - LONG_AGO) / 2000)]).toEqual([service, 0])
  }
  // The newest few do not reach back over the days that are not kept.
  const journalctl = createJournalctl(node.journal, clock)
  expect(await printed(journalctl, '-n', '90000', '-o', 'short')).not.toContain('Feb 27')
  expect(await printed(journalctl, '--since', '-1h', '-o', 'short')).not.toContain('Feb 27')
})

test('journal-evicted: entries that the journal no longer keeps do not return', async () => {
  const { node, clock, to } = await play('journal-evicted')
  await to(31)
  expect(await oldestOf(node, clock, 'bft')).toBeGreaterThan(BEGIN)
  await to(240)
  expect(await oldestOf(node, clock, 'bft')).toBeGreaterThan(BEGIN)
  expect(node.journal.oldest()).toEqual([])
})
