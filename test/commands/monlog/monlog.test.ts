import { describe, expect, test } from 'vitest'
import { analyseLog } from '../../../src/commands/monlog/report.ts'
import { committed, line, suppressed, T0, timedOut } from '../../collectors/consensus-log.ts'
import { byOther, bySystemd, healthy, hostWith, ofJournal, options, type Said } from './recorded-log.ts'

describe('a minute of the journal', () => {
  test('has the numbers that the lines confirm', async () => {
    const report = await ofJournal(healthy(0, 100), { until: 90 })
    expect(report).toMatchObject({
      log: { sentence: 'blocks were processed and committed.', exitCode: 0 },
      unit: 'chain-bft.service',
      package: 'chain 0.16.1 amd64',
      window: {
        from: '2026-05-02T08:00:30Z',
        to: '2026-05-02T08:01:30Z',
        isCovered: true,
        // Four a second.
        lines: 240,
        dropped: 0,
        unreadable: 0,
      },
      statesync: false,
      blocksync: false,
      round: 1089n,
      epoch: 7n,
      block: 589n,
      committing: true,
      messages: { committed_block: 60, round_advanced: 60, round_timed_out: 0, vote_created: 60 },
      networkErrors: { count: 0 },
      findings: [],
      problem: null,
    })
  })

  test('ending at the same time gives the same report, whatever was written later', async () => {
    const first = await ofJournal(healthy(0, 90), { until: 90 })
    const again = await ofJournal(healthy(0, 300), { until: 90 })
    expect(again).toEqual(first)
    // Within the same second, too.
    expect(await ofJournal(healthy(0, 300), { until: 90.9 })).toEqual(first)
  })

  test('is filtered by journalctl, with the same report without PCRE2', async () => {
    const said = [...healthy(0, 90), { at: 89_500, text: line('handled datagram') }]
    const host = hostWith(said)
    const report = await analyseLog({ ...options({ until: 90 }), exec: host.exec })
    expect(host.calls.some((argv) => argv.some((word) => word.startsWith('--grep=^(?:[^{]|')))).toBe(true)
    const plain = hostWith(said)
    const unsupported = { exitCode: 1, stdout: '', stderr: 'Compiled without pattern matching support\n' }
    const run: typeof plain.exec.run = async (program, signal) =>
      program.args.includes('--grep=.') ? unsupported : await plain.exec.run(program, signal)
    const without = await analyseLog({ ...options({ until: 90 }), exec: { ...plain.exec, run } })
    expect(plain.calls.every((argv) => !argv.some((word) => word.startsWith('--grep')))).toBe(true)
    expect(without).toEqual(report)
  })

  test('is covered only as far as the journal reaches back', async () => {
    const young = await ofJournal(healthy(40, 90), { until: 90 })
    expect(young).toMatchObject({ committing: true, statesync: null, window: { isCovered: false } })
    expect(young.messages.committed_block).toBeNull()
    expect(young.log.exitCode).toBe(0)
    // systemd, which is older, shows that the unit has said nothing before.
    const known = await ofJournal([bySystemd(10_000, 'Started cron.', 'cron.service'), ...healthy(40, 90)], {
      until: 90,
    })
    expect(known.window.isCovered).toBe(true)
    expect(known.messages.committed_block).toBe(50)
  })

  test('without a block is critical, and unknown if the journal does not reach back', async () => {
    const silent = [
      { at: 0, text: committed(1) },
      { at: 85_000, text: timedOut(7) },
    ]
    const critical = await ofJournal(silent, { until: 90 })
    expect(critical.log).toEqual({ sentence: 'no block was committed in the last 60 seconds.', exitCode: 2 })
    expect((await ofJournal(silent.slice(1), { until: 90 })).log).toEqual({
      sentence: 'whether blocks were committed is unknown: the journal does not reach back over the last 60 seconds.',
      exitCode: 2,
    })
  })

  test('of which journald dropped a part is unknown', async () => {
    const { message, fields } = suppressed(T0, 104_233)
    const said = [
      { at: 0, text: committed(1) },
      { at: 80_000, text: timedOut(7) },
      { at: 85_000, text: message ?? '', fields: { ...fields, _UID: '0' } },
    ]
    const report = await ofJournal(said, { until: 90 })
    expect(report.log).toEqual({
      sentence: 'whether blocks were committed is unknown: journald dropped 104,233 messages.',
      exitCode: 2,
    })
    expect(report.window.dropped).toBe(104_233)
  })

  test('without entries of the service differs from one without blocks', async () => {
    const stopped = [...healthy(0, 20), bySystemd(85_000, 'chain-bft.service: Failed.')]
    const report = await ofJournal(stopped, { until: 90 })
    expect(report.log).toEqual({
      sentence: 'the journal has no line of chain-bft.service in these 60 seconds.',
      exitCode: 2,
    })
    expect(report).toMatchObject({ committing: null, findings: [], hasOwnEntries: false })
    expect(report.newest.at(-1)).toEqual({ at: '2026-05-02T08:01:25.000Z', text: 'chain-bft.service: Failed.' })
    const elsewhere = await ofJournal([byOther(80_000, 'tick')], { until: 90 })
    expect(elsewhere).toMatchObject({ hasOwnEntries: false, newest: [] })
  })

  test('lists the leaders of timed-out rounds', async () => {
    const [one, two] = [`02${'a1'.repeat(32)}`, `03${'b2'.repeat(32)}`]
    const gaveUp = (at: number, leader: string): Said => ({
      at,
      text: line('local timeout', { round: `${at}`, leader }),
    })
    const said = [
      gaveUp(5_000, one), // before the stretch
      gaveUp(40_000, two),
      ...healthy(40, 90),
      gaveUp(89_000, one),
      gaveUp(89_100, two),
      { ...gaveUp(89_100, two), at: 89_150 }, // the same round again
    ]
    const report = await ofJournal(said, { until: 90 })
    expect(report.timedOutLeaders).toEqual([
      { leader: two, rounds: 2 },
      { leader: one, rounds: 1 },
    ])
    expect(report).toMatchObject({ timedOutRounds: 3, messages: { local_timeout: 4 } })
  })
})
