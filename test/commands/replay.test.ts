import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/directory.ts'
import { fakeJournalctl } from '../support/fake-journalctl.ts'
import { RECORDED_FROM, writeRecording } from '../support/recording.ts'
import { steppedFiles } from '../support/stepped-journal.ts'
import { expectPlanted, namesOf, type Planted, replaySchema } from '../support/replayed.ts'

const directory = await temporaryFolder()
let publicKey = ''
const fileOf = (name: string): string => join(directory, `${name}.jsonl`)

beforeAll(async () => {
  const healthy = { scenario: '0s log noise 0', seconds: 780, file: fileOf('healthy') }
  await writeRecording(healthy)
  publicKey = (await writeRecording({ scenario: TWO_HOURS, seconds: 7200, file: fileOf('two-hours') })).publicKey
})

const TWO_HOURS = `
  0s    log noise 0
  0s    log prints INFO
  300s  consensus stops
  480s  consensus resumes
  1200s bft crashes SIGABRT
  1290s bft starts
  1500s execution stops
  1501s execution starts
  2400s execution logs ERROR runloop.cpp:188 block 61240118 failed with: wrong state root
  3000s network noise 5
  3060s network calms
  4000s node syncs 3m
  4900s execution slows 160ms
  5340s execution recovers
  5700s log prints DEBUG
  5800s consensus stops
  6100s consensus resumes
  6110s log prints INFO
  6500s ledger-tail stops
  6860s ledger-tail starts
`

/**
 * The expected incidents. The newest block is 10 s old ten seconds after the last one; at 2.7 blocks per second, 350
 * blocks of the window of 800 have passed after another 120 s. A rule over a window ends when the last event leaves the
 * window. Of five network errors a second those of a session are at DEBUG and not logged: 51 take 31 s, and 50 of the 100 have left their five minutes at
 * 3330; the rule keeps firing for five more minutes. Alerts on services, the deadlock, the window and a stall keep firing for three. Half of the blocks of two minutes are slow after one minute.
 */
const EXPECTED: readonly Planted[] = [
  [
    ['critical ChainBlockStalled', 310, 660],
    ['warning ChainBlocksyncWindow', 430, 660],
  ],
  [
    ['critical ChainServiceDown bft', 1200, 1470],
    ['warning ChainServiceCrashed bft core-dump', 1200, 1800],
    ['warning ChainPartialRestart', 1290, 1501],
  ],
  [['critical ChainLogTrouble execution block_failed', 2400, 3000]],
  [
    ['info ChainStatesync', 4000, 4180],
    ['info ChainLogTrouble bft snapshot_advised', 4000, 4600],
  ],
  [['warning ChainExecutionSlow', 4960, 5400]],
  [
    ['critical ChainBlockStalled', 5810, 6280],
    ['critical ChainBlockStalled.deadlock local_timeout', 5920, 6280],
    ['critical ChainBlocksyncWindow', 5930, 6280],
  ],
  [['warning ChainServiceDown ledger-tail', 6500, 7040]],
]

const replayed = async (argv: readonly string[], stdin = '') => {
  const { code, out, err } = await cli(['replay', '--json', ...argv], { stdin })
  expect(err).toBe('')
  return { code, ...replaySchema.parse(JSON.parse(out)) }
}

describe('a recording of two hours', () => {
  test('has exactly the planted incidents, at their times', async () => {
    const file = fileOf('two-hours')
    const argv = ['--file', file, '--set', `node.publicKey=${publicKey}`]
    const { code, incidents, isWhole, missingServices } = await replayed(argv)
    expectPlanted(incidents, EXPECTED)
    expect({ code, isWhole, missingServices }).toEqual({ code: 1, isWhole: true, missingServices: [] })
  })

  test('is limited by --since, --until and --services', async () => {
    const range = ['--since', '2026-03-01 00:18', '--until', '2026-03-01 00:23']
    const argv = ['--file', fileOf('two-hours'), ...range, '--services', 'bft']
    const { incidents } = await replayed(argv)
    // Without execution, neither a partial restart nor the age of blocks is known.
    expect(namesOf(incidents)).toEqual([['critical ChainServiceDown bft', 'warning ChainServiceCrashed bft core-dump']])
  })

  test('is printed as a table after the number of incidents', async () => {
    const range = ['--since', '2026-03-01 00:18', '--until', '2026-03-01 00:23']
    const { code, out } = await cli(['replay', '--file', fileOf('two-hours'), ...range])
    const [first, , second] = out.split('\n')
    expect(first).toMatch(/^1 incident in 5 min \(2026-03-01T00:18:00Z to 2026-03-01T00:2[23]:\d\dZ\): 3 alerts$/)
    expect(second).toMatch(
      /^. 2026-03-01T00:20:[01]\dZ {2}3 min, firing {2}critical {2}ChainServiceDown {2,}The service bft of this host is/,
    )
    expect(code).toBe(1)
  })
})

describe('a recording of a healthy node', () => {
  test('has no incident, from a file or a pipe', async () => {
    const { code, incidents } = await replayed(['--file', fileOf('healthy')])
    expect({ code, incidents }).toEqual({ code: 0, incidents: [] })
    const text = await readFile(fileOf('healthy'), 'utf8')
    const piped = await cli(['replay', '--file', '-', '--until', '2026-03-01 00:05'], { stdin: text })
    expect(piped.out).toMatch(/^No incident in /)
    expect(piped.code).toBe(0)
  })

  const minutes = (from: number, to: number) => (line: string) => {
    const [, micros] = /"__REALTIME_TIMESTAMP":"(\d+)"/.exec(line) ?? []
    const minute = (Number(micros) / 1000 - RECORDED_FROM) / 60_000
    return minute >= from && minute < to
  }

  test('with a gap: that time is not evaluated', async () => {
    const lines = (await readFile(fileOf('healthy'), 'utf8')).split('\n')
    const kept = [...lines.filter(minutes(0, 5)), 'no JSON', ...lines.filter(minutes(10, 12))]
    await writeFile(fileOf('gap'), kept.join('\n'))
    const { incidents, code, notEvaluated, failures } = await replayed(['--file', fileOf('gap')])
    const [alert] = incidents[0]?.alerts ?? []
    expect(incidents.flatMap(({ alerts }) => alerts)).toHaveLength(1)
    expect(alert?.alert).toBeNull()
    expect(alert?.summary).toBe('no entries for 4 min 59 s: this time is not evaluated')
    expect(notEvaluated).toContain('ChainRpcDown')
    expect({ code, failures }).toEqual({ code: 1, failures: [] })
  })

  test('with a gap during which the host was rebooted', async () => {
    const lines = (await readFile(fileOf('healthy'), 'utf8')).split('\n')
    const after = lines
      .filter(minutes(10, 12))
      .map((line) => line.replaceAll(/("_BOOT_ID"|"_SYSTEMD_INVOCATION_ID"):"[0-9a-f]{4}/g, '$1:"beef'))
    await writeFile(fileOf('boot'), [...lines.filter(minutes(0, 5)), ...after].join('\n'))
    const { incidents } = await replayed(['--file', fileOf('boot')])
    // Two events at the same time: they are one incident.
    expect(incidents.flatMap(({ alerts }) => alerts.map(({ summary }) => summary))).toEqual([
      'no entries for 4 min 59 s: this time is not evaluated',
      'the host was rebooted',
    ])
  })
})

describe('a recording during which the clock of the host was 40 minutes behind', () => {
  const lines = steppedFiles()
    .flat()
    .map(({ line }) => line)
  const BACK = 'the clock of this host went back 40 min: 2026-11-24T10:09:55Z was followed by 2026-11-24T09:30:00Z'
  const FORWARD =
    'the clock of this host went forward 40 min: 2026-11-24T09:49:55Z was followed by 2026-11-24T10:30:00Z'
  const alertsOf = async (text: string) => {
    const { incidents, lines: read } = await replayed(['--file', '-'], text)
    return {
      read,
      alerts: incidents.flatMap(({ alerts }) =>
        alerts.map(({ alert, beganAt, summary }) => [beganAt, alert ?? summary]),
      ),
    }
  }

  // Evaluations are every 15 s from 10:00:00 on: the one of the clock at 09:40:15 has the assertion of 09:40:00.001.
  test('has the critical alert at the time that the clock showed, both steps, and no gap', async () => {
    const { alerts, read } = await alertsOf(lines.join('\n'))
    expect(alerts).toEqual([
      ['2026-11-24T09:30:00Z', BACK],
      ['2026-11-24T09:40:15Z', 'ChainLogTrouble.aborted'],
      ['2026-11-24T10:30:00Z', FORWARD],
    ])
    expect(read).toBe(481)
    const { out } = await cli(['replay', '--file', '-'], { stdin: lines.join('\n') })
    expect(out).toMatch(/^3 incidents in 40 min \(2026-11-24T10:00:00Z to 2026-11-24T10:40:00Z\)/)
    // The increase of ten minutes ends ten minutes after the evaluation that found it.
    expect(out).toMatch(
      /2026-11-24T09:40:15Z {2}9 min 45 s {3}critical {2}ChainLogTrouble.aborted.* Log line: .*Assertion 'x\.second'/,
    )
  })

  test('is limited by the times that the clock showed', async () => {
    const range = ['--since', '2026-11-24 09:39', '--until', '2026-11-24 09:41']
    const { incidents, lines: read } = await replayed(['--file', '-', ...range], lines.join('\n'))
    expect(namesOf(incidents)).toEqual([['critical ChainLogTrouble.aborted execution assertion']])
    expect(read).toBe(26)
  })

  test('without boot and monotonic time is evaluated by the clock alone', async () => {
    const bare = lines.map((line) => line.replaceAll(/"(?:__MONOTONIC_TIMESTAMP|_BOOT_ID)":"[^"]*",/g, ''))
    const { alerts, read } = await alertsOf(bare.join('\n'))
    expect(alerts).toEqual([['2026-11-24T10:10:00Z', 'no entries for 20 min: this time is not evaluated']])
    expect(read).toBe(481)
  })

  test('is found in the journal of this host', async () => {
    const { exec } = fakeJournalctl(steppedFiles())
    const range = ['--since', '2026-11-24 09:39', '--until', '2026-11-24 09:41']
    const { out } = await cli(['replay', '--json', '--prefix', 'chain', ...range], { overrides: { exec } })
    const { incidents } = replaySchema.parse(JSON.parse(out))
    expect(namesOf(incidents)).toEqual([['critical ChainLogTrouble.aborted execution assertion']])
  })
})

test.each([
  [['--services', 'bft,exekution'], 2, "no service 'exekution'\n(Did you mean execution?)"],
  [['--since', '1h', '--until', '2h'], 2, '--since is not before --until'],
  [['--file', '/nowhere/night.jsonl'], 1, 'Could not read the recording /nowhere/night.jsonl'],
  [['--file', '-'], 1, 'it has no journal entry in that time range'],
] as const)('replay %j exits with status %i', async (argv, expected, summary) => {
  const { code, out, err } = await cli(['replay', ...argv])
  expect(err).toContain(summary)
  expect({ code, out }).toEqual({ code: expected, out: '' })
})
