import { Readable } from 'node:stream'
import { loadConfig } from '../../../src/config/load.ts'
import { createJournalctl } from '../../../simulator/journal/journalctl.ts'
import { createInProcessExec } from '../../../simulator/commands/demo/fleet/in-process.ts'
import type { Tool } from '../../../simulator/tools/tools.ts'
import { analyseLog } from '../../../src/commands/monlog/report.ts'
import { closed, committed, newQc, T0, UNIT, vote } from '../../collectors/consensus-log.ts'
import { manualClock } from '../../support/manual-clock.ts'

/** A line of a unit, at so many milliseconds after T0. */
export interface Said {
  readonly at: number
  readonly text: string
  readonly fields?: Readonly<Record<string, string>>
}

/** systemd says something of a unit. */
export const bySystemd = (at: number, text: string, unit = UNIT): Said => ({
  at,
  text,
  fields: { _PID: '1', _SYSTEMD_UNIT: 'init.scope', UNIT: unit },
})

/** What another program says. */
export const byOther = (at: number, text: string): Said => ({
  at,
  text,
  fields: { _PID: '77', _SYSTEMD_UNIT: 'cron.service' },
})

/** A node that commits a block each second, from one second to before another. */
export const healthy = (fromSecond: number, toSecond: number): readonly Said[] =>
  Array.from({ length: toSecond - fromSecond }, (_, index) => fromSecond + index).flatMap((at) =>
    [committed(500 + at), closed(1000 + at), newQc(1000 + at), vote(1000 + at)].map((text) => ({
      at: at * 1000,
      text,
    })),
  )

const fieldsOf = ({ text, fields = { _PID: '40', _SYSTEMD_UNIT: UNIT } }: Said) => ({ MESSAGE: text, ...fields })

/** A host whose journal has these entries and no others. */
export const hostWith = (said: readonly Said[], more: Readonly<Record<string, Tool>> = {}) => {
  const entries = said.map((one, index) => ({
    number: index + 1,
    cursor: `s=${index}`,
    realtimeUs: (T0 + one.at) * 1000,
    monotonicUs: index,
    fields: fieldsOf(one),
  }))
  const journal = {
    bootId: 'b'.repeat(32),
    access: () => 'open' as const,
    read: (from: number) => entries.filter(({ number }) => number >= from),
    oldest: () => [],
    seek: () => undefined,
  }
  const calls: string[][] = []
  const journalctl = createJournalctl(journal, manualClock(T0))
  const tools: Readonly<Record<string, Tool>> = {
    journalctl: (argv, signal) => {
      calls.push([...argv])
      return journalctl(argv, signal)
    },
    systemctl: () => [{ stdout: `Id=${UNIT}\nActiveState=active\nLogNamespace=\n` }, { exit: 0 }],
    'dpkg-query': () => [{ stdout: 'ii  chain 0.16.1 amd64 1772366400\n' }, { exit: 0 }],
    ...more,
  }
  return { exec: createInProcessExec(tools), calls }
}

/** As `journalctl --all -o json` writes them. */
export const asJournal = (said: readonly Said[]): string =>
  said
    .map((one, index) =>
      JSON.stringify({ __CURSOR: `s=${index}`, __REALTIME_TIMESTAMP: `${(T0 + one.at) * 1000}`, ...fieldsOf(one) }),
    )
    .join('\n')

/** As the service itself wrote them: its own lines, with the time in them. */
export const asLines = (said: readonly Said[]): string =>
  said
    .filter(({ fields }) => fields === undefined)
    .map(({ at, text }) => text.replace(/"timestamp":"[^"]*"/, `"timestamp":"${new Date(T0 + at).toISOString()}"`))
    .join('\n')

const { config } = loadConfig({ env: {}, flags: [{ path: 'prefix', value: 'chain', typed: '-' }] })

interface Ask {
  /** Seconds after T0. */
  readonly until?: number
}

const SECOND = 1000
/** The minute before a moment, or before T0. */
export const options = ({ until }: Ask) => ({
  config,
  clock: manualClock(T0),
  path: '/nowhere',
  signal: new AbortController().signal,
  until: until === undefined ? undefined : T0 + until * SECOND,
  onLines: () => undefined,
})

export const ofJournal = async (said: readonly Said[], ask: Ask) =>
  await analyseLog({ ...options(ask), exec: hostWith(said).exec })
export const ofText = async (text: string, ask: Ask = {}) =>
  await analyseLog({
    ...options(ask),
    recording: () => ({ name: 'a file', bytes: Readable.from([Buffer.from(text)]) }),
  })
