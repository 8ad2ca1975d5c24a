import { describe, expect, test } from 'vitest'
import { analyseLog } from '../../../src/commands/monlog/action.ts'
import { closed, committed, line, suppressed, T0, timedOut } from '../../collectors/consensus-log.ts'
import {
  asJournal,
  byOther,
  bySystemd,
  healthy,
  hostWith,
  ofJournal,
  ofText,
  options,
  type Said,
} from './recorded-log.ts'

describe('a minute of the journal', () => {
  test('has the numbers that the lines confirm', async () => {
    const report = await ofJournal(healthy(0, 100), { until: 90 })
    expect(report).toMatchObject({
      log: { sentence: 'blocks were processed and committed.', exitCode: 0 },
      unit: 'chain-bft.service',
      package: 'ii chain 0.16.1 amd64 Chain stack',
      window: {
        from: '2026-05-02T08:00:30Z',
        to: '2026-05-02T08:01:30Z',
        minutes: 1,
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
      networkErrors: { count: 0, within: 'one minute' },
      findings: [],
      problem: null,
    })
  })

  // The last block is committed in second 59; the window, which looks back a minute, still has some.
  test('of a node that stopped has the age of its newest block', async () => {
    expect(await ofJournal(healthy(0, 60), { until: 80 })).toMatchObject({ committing: true, committedBefore: 21 })
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

  test('with only meaningless DEBUG lines still counts as a DEBUG log', async () => {
    const info = [{ at: 0, text: 'x' }, ...healthy(20, 90).filter(({ text }) => text.includes('INFO'))]
    const quiet = await ofJournal(info, { until: 90 })
    expect(quiet.findings.map(({ name }) => name)).toEqual(['info_only_log'])
    expect(quiet.messages.round_advanced).toBeNull()
    const noise = { at: 50_000, text: line('handled datagram') }
    const said = [...info, noise].toSorted((a, b) => a.at - b.at)
    for (const report of [await ofJournal(said, { until: 90 }), await ofText(asJournal(said))]) {
      expect(report.findings).toEqual([])
      expect(report.messages.round_advanced).toBe(0)
      expect(report.blocksync).toBe(false)
    }
  })

  test('with DEBUG lines implies nothing about the previous minute', async () => {
    const info = healthy(0, 150).filter(({ text }) => text.includes('INFO'))
    const said = [...info, { at: 149_500, text: line('handled datagram') }]
    const report = await ofJournal(said, { until: 150, since: { ago: 120_000 } })
    expect(report.findings).toMatchObject([
      { name: 'info_only_log', minutes: 1, isPresent: false, lastAt: '2026-05-02T08:01:30Z' },
    ])
  })

  test('lists the leaders of timed-out rounds, and the group', async () => {
    const [one, two] = [`02${'a1'.repeat(32)}`, `03${'b2'.repeat(32)}`]
    const gaveUp = (at: number, leader: string): Said => ({
      at,
      text: line('local timeout', { round: `${at}`, leader }),
    })
    const group = line(`RaptorCastSecondary Client confirmed group for rounds [1000, 1200) from validator ${one}`)
    const said = [
      gaveUp(5_000, one), // before the stretch
      gaveUp(40_000, two),
      ...healthy(40, 90),
      gaveUp(89_000, one),
      gaveUp(89_100, two),
      { ...gaveUp(89_100, two), at: 89_150 }, // the same round again
      { at: 89_200, text: group },
    ]
    const report = await ofJournal(said, { until: 90 })
    expect(report.timedOutLeaders).toEqual([
      { leader: two, rounds: 2 },
      { leader: one, rounds: 1 },
    ])
    expect(report).toMatchObject({ timedOutRounds: 3, messages: { local_timeout: 4 } })
    expect(report.group).toEqual({ fromRound: 1000n, toRound: 1200n, validator: one })
  })
})

describe('timed-out rounds that this node led', () => {
  const [own, other] = [`02${'a1'.repeat(32)}`, `03${'b2'.repeat(32)}`]
  const gaveUp = (leader: string, ...seconds: readonly number[]): readonly Said[] =>
    seconds.map((at) => ({ at: at * 1000, text: line('local timeout', { round: `${at}`, leader }) }))
  const findingsOf = async (more: readonly Said[], ownKey: string | null) => {
    const said = [...healthy(0, 90), ...more].toSorted((a, b) => a.at - b.at)
    const { config, ...rest } = options({ until: 90 })
    const node = { ...config.node, publicKey: ownKey }
    const report = await analyseLog({ ...rest, config: { ...config, node }, exec: hostWith(said).exec })
    return report.findings.filter(({ name }) => name === 'own_timeouts').map(({ text }) => text)
  }

  test('are a finding from three on, if they are the majority', async () => {
    const said = [...gaveUp(own, 40, 50, 60), ...gaveUp(other, 70, 80)]
    expect(await findingsOf(said, own)).toEqual([
      '3 of the 5 rounds that timed out here were led by this node; rounds of other leaders close as usual.',
    ])
  })
  test.each([
    ['there are two', [...gaveUp(own, 50, 60)], own],
    ['half are of others', [...gaveUp(own, 40, 50, 60), ...gaveUp(other, 70, 75, 80)], own],
    ['the key is not configured', gaveUp(own, 40, 50, 60), null],
    [
      // 7 rounds of 67, 4 of them led by others: 6.3 % of 64.
      'the network gives up many',
      [
        ...gaveUp(own, 40, 50, 60),
        ...[41, 45, 51, 52, 55, 58, 61].map((at) => ({ at: at * 1000 + 1, text: closed(5000 + at, 'Tc') })),
      ],
      own,
    ],
  ] as const)('are none where %s', async (_, said, ownKey) => {
    expect(await findingsOf(said, ownKey)).toEqual([])
  })
})

describe('several minutes', () => {
  const crash = [
    ...healthy(0, 150),
    { at: 150_000, text: "thread 'main' panicked at a/lib.rs:1:2:" },
    { at: 150_001, text: 'no such validator' },
    ...healthy(151, 330),
  ]

  test('are analysed separately, and the conclusion is that of the newest', async () => {
    const report = await ofJournal(crash, { until: 310, since: { ago: 5 * 60_000 } })
    expect(report.log).toEqual({
      sentence:
        'blocks were processed and committed; before 2026-05-02T08:03:10Z: the node has crashed: no such validator.',
      exitCode: 1,
    })
    expect(report.findings).toMatchObject([
      { name: 'panic', minutes: 1, isPresent: false, lastAt: '2026-05-02T08:03:10Z' },
    ])
    expect(report.messages.committed_block).toBe(299)
  })

  test('present findings come before past findings that were worse', async () => {
    const stopped = Array.from({ length: 3000 }, (_, index) => ({
      at: 300_000 + index,
      text: line('waltrace thread stopped', { level: 'ERROR', target: 'a_wal' }),
    }))
    const said = [...crash, ...stopped].toSorted((a, b) => a.at - b.at)
    const report = await ofJournal(said, { until: 310, since: { ago: 5 * 60_000 } })
    expect(report.findings.map(({ name }) => name)).toEqual(['wal_stopped', 'panic'])
    expect(report.log.sentence).toBe(
      'the trace of events has stopped, which the node does not need, and each event logs a line.',
    )
  })

  test('a range is rounded up to whole minutes', async () => {
    const report = await ofJournal(crash, { until: 310, since: { at: T0 + 200_000 } })
    expect(report.window).toMatchObject({ from: '2026-05-02T08:03:10Z', minutes: 2 })
  })
})
