import { describe, expect, test } from 'vitest'
import { analyseLog } from '../../../src/commands/monlog/report.ts'
import { openRecording } from '../../../src/sources/journal-range.ts'
import { cli } from '../../support/cli.ts'
import { closed, line, UNIT } from '../../collectors/consensus-log.ts'
import { asJournal, asLines, byOther, healthy, ofJournal, ofText, options } from './recorded-log.ts'

describe('a file', () => {
  const said = [...healthy(0, 90), { at: 89_900, text: closed(1090, 'Tc') }]
  const texts = [
    [
      'the journal',
      asJournal([...said.slice(0, 8), byOther(80_000, "thread 'main' panicked at a.rs:1:2:"), ...said.slice(8)]),
    ],
    ['the lines of the service', asLines(said)],
    [
      'these lines as journalctl prints them',
      asLines(said).replaceAll(/^/gm, 'May  2 08:00:00 host-b chain-node[7]: '),
    ],
  ] as const

  test.each(texts)('%s: the same report as from the journal', async (_, text) => {
    const journal = await ofJournal(said, { until: 90 })
    const file = await ofText(text)
    expect(file).toEqual({
      ...journal,
      source: 'file',
      unit: null,
      package: null,
      newest: file.newest,
    })
    expect(file.newest.at(-1)?.at).toBe(journal.newest.at(-1)?.at)
    expect(file.messages.round_timed_out).toBe(1)
  })

  test('is limited by --until', async () => {
    const [, [, text]] = texts
    expect(await ofText(text, { until: 50 })).toMatchObject({
      block: 549n,
      messages: { committed_block: null },
      window: { from: '2026-05-02T07:59:50Z', to: '2026-05-02T08:00:50Z', isCovered: false },
    })
  })

  test('counts only the rounds that timed out within the minute', async () => {
    const gaveUp = (at: number) => ({ at, text: line('local timeout', { round: '9', leader: '02a1..b2c3' }) })
    const report = await ofText(asLines([gaveUp(0), gaveUp(5_000), ...said.slice(24)]))
    expect(report.timedOutLeaders).toEqual([])
    const late = await ofText(asLines([gaveUp(0), ...said, gaveUp(89_950)]))
    expect(late.timedOutLeaders).toEqual([{ leader: '02a1..b2c3', rounds: 1 }])
  })

  test('without lines of consensus is reported, and unreadable lines are counted', async () => {
    expect((await ofText('')).log).toEqual({ sentence: 'the file has no line of the consensus service.', exitCode: 2 })
    const garbled = `what is this\n${asJournal(said)}\n{"__REALTIME_TIMESTAMP": broken\n`
    const report = await ofText(garbled)
    expect(report.log.exitCode).toBe(0)
    expect(report.window.unreadable).toBe(2)
  })

  test('of lines that are not understood is printed with their number', async () => {
    const { out } = await cli(['monlog', '--file', '-'], { stdin: 'May  2 08:00:01 host-b chain-node[7]: x\nfoo\n' })
    expect(out).toContain('2 lines were read, and none was understood.')
    expect(out).not.toContain('The journal has no line')
    expect((await cli(['monlog', '--file', '-'])).out).toContain('The file has no line of the service.')
  })

  test('that does not exist is reported with what to do', async () => {
    const { signal } = options({})
    const report = await analyseLog({ ...options({}), recording: () => openRecording('/nowhere/at/all', signal) })
    expect(report.log.sentence).toMatch(
      /^could not read the recording \/nowhere\/at\/all: there is no such file or directory\.$/,
    )
    expect(report.log.exitCode).toBe(2)
    expect(report.problem).toContain('what to do: name a file of `journalctl')
  })
})

test('a unit with another name is found in a file by its pattern', async () => {
  const text = asJournal(healthy(0, 70)).replaceAll(UNIT, 'zephyr-bft.service')
  expect((await ofText(text)).log.exitCode).toBe(0)
})
