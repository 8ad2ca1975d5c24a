import { expect, test } from 'vitest'
import { describeAlert, readRange } from '../../src/agent/incident-evidence.ts'
import { SourceError } from '../../src/core/errors.ts'
import type { Exec } from '../../src/sources/exec.ts'
import { findingOf } from '../support/agent-view.ts'
import { manualClock } from '../support/manual-clock.ts'

test('no secret of an alert is in an incident, also of one that joins it later', () => {
  const text = 'https://h/KEY of /home/op/x, password=hunter2'
  const alert = describeAlert(findingOf({ description: text, labels: { device: text } }), 0)
  const redacted = 'https://h/… of ~/x, password=(redacted)'
  expect([alert.description, alert.labels]).toEqual([redacted, { device: redacted }])
})

const AT = Date.UTC(2026, 2, 1)
const entry = (message: string, more: Readonly<Record<string, string>> = {}): string =>
  `${JSON.stringify({ __CURSOR: 'c', __REALTIME_TIMESTAMP: `${AT}000`, _PID: '7', MESSAGE: message, ...more })}\n`

/** The journal of one unit, by its name: lines, or why it cannot be read. */
const readUnit = async (journal: readonly string[] | Error) => {
  const exec: Exec = {
    // Whether a line is split, and where the journal ends.
    run: () => Promise.resolve({ exitCode: 0, stdout: '', stderr: '' }),
    async *stream() {
      if (journal instanceof Error) throw journal
      for (const line of journal) yield await Promise.resolve(Buffer.from(line))
    },
    killAll: () => undefined,
  }
  const range = {
    fromAt: '2026-02-28T23:59:00.000Z',
    toAt: '2026-03-01T00:00:30.000Z',
    keep: 'oldest',
    units: null,
  } as const
  const sources = { exec, clock: manualClock(AT), signal: new AbortController().signal, units: ['chain-bft.service'] }
  const [log] = await readRange(sources, range, { journals: [] })
  return log
}

test('no secret of a journal is in an incident: of a line, its writer, or the error of reading', async () => {
  const log = await readUnit([entry('password=hunter2', { _PID: '1', SYSLOG_IDENTIFIER: 'sys token=hunter2' })])
  expect(log?.lines).toEqual(['2026-03-01T00:00:00.000Z sys token=(redacted): password=(redacted)'])
  const failed = await readUnit(
    new SourceError({ doing: 'run journalctl', happened: 'password=hunter2 of /home/op/x' }),
  )
  expect(failed).toMatchObject({ lines: [], error: 'Could not run journalctl: password=(redacted) of ~/x' })
})

test('a flood of a journal is cut at 5,000 lines, and at 512 KiB', async () => {
  const many = await readUnit(Array.from({ length: 5001 }, (_, index) => entry(`line ${index}`)))
  expect([many?.lines.length, many?.isCut]).toEqual([5000, true])
  // With time, blank and end of line each has 16 KiB.
  const long = await readUnit(Array.from({ length: 100 }, () => entry('x'.repeat(16 * 1024 - 26))))
  expect([long?.lines.length, long?.isCut]).toEqual([32, true])
})
