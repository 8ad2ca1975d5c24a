import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import { sharedHost } from '../support/host.ts'
import { completeProgram } from '../support/words.ts'

interface Report {
  readonly argv: readonly string[]
  /** Says the same a second later, but for its figures. */
  readonly isSteady?: true
  /** Has something to colour even where all is well. */
  readonly isColored?: true
  /** Lines of other programs, which are not wrapped, so that grep finds them. */
  readonly isVerbatim?: true
}

const NAMES = `names.file=${resolve('networks/names.example.yaml')}`

/** The reports for people with their arguments; a command with --json that is in neither list runs without arguments. */
const REPORTS: readonly Report[] = [
  { argv: ['check'], isColored: true },
  { argv: ['status'], isColored: true },
  { argv: ['status', 'all'], isColored: true },
  { argv: ['status', 'storage'], isColored: true },
  { argv: ['status', 'bft'], isColored: true },
  { argv: ['monlog'], isColored: true },
  { argv: ['monlog', '-r', '-n', '--set', NAMES], isColored: true },
  { argv: ['recover'], isColored: true },
  { argv: ['restart-window'], isColored: true },
  { argv: ['standby', 'check'], isColored: true },
  { argv: ['duties', '--since', '1m'] },
  { argv: ['report', '--since', '1m'] },
  { argv: ['runbook', 'ChainBlockStalled'], isSteady: true, isVerbatim: true },
  { argv: ['ledger', '-n', '5'], isColored: true },
  { argv: ['logs', 'bft', '-n', '5'], isVerbatim: true },
  { argv: ['events', '-n', '5'] },
  { argv: ['replay', '--since', '1m'] },
  { argv: ['maintenance', 'show'], isSteady: true },
  { argv: ['keys', 'verify', '--files-only'], isSteady: true, isColored: true },
  { argv: ['simulate', '--list'], isSteady: true, isVerbatim: true },
]

/** Commands with --json that print no report, run until they are stopped, or read a Prometheus. */
const NO_REPORTS = ['config', 'query', 'serve-query', 'rules']

const listed = new Set([...REPORTS.map(({ argv }) => argv[0] ?? ''), ...NO_REPORTS])
const others = (await completeProgram()).commands
  .filter((command) => !listed.has(command.name()) && command.options.some(({ long }) => long === '--json'))
  .map((command): Report => ({ argv: [command.name()] }))

const env: Record<string, string> = {}
const host = await sharedHost({ scenario: 'service-crash', second: 40, env })

const runWith = async (argv: readonly string[], given: Readonly<Record<string, string>>) => {
  for (const name of Object.keys(env)) delete env[name]
  Object.assign(env, given)
  const { out, err } = await host.run(argv)
  expect(err).toBe('')
  expect(out).toMatch(/\n$/)
  return out
}

const UTF8 = { LANG: 'C.UTF-8' }
// oxlint-disable-next-line no-control-regex -- what moves a terminal about
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/
/** A word so long that a line of 60 with its indent and label cannot hold it. */
const UNBREAKABLE = 34

/** A command line that is to be copied is not broken either. */
const TO_COPY = /^ *(?:sudo|chain-agent|journalctl|systemctl) /

/** The lines of `monlog -r` are complete. */
const OF_THE_LOG = /^\d\d:\d\d:\d\d\.\d{3} /

const tooLong = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter(
      (line) =>
        line.length > 60 &&
        !TO_COPY.test(line) &&
        !OF_THE_LOG.test(line) &&
        !line.split(' ').some((word) => word.length > UNBREAKABLE),
    )

const withoutFigures = (text: string): string => text.replaceAll(/\d+/g, '0')

describe.each([...REPORTS, ...others])('$argv', ({ argv, isSteady, isColored, isVerbatim }) => {
  it('has no codes in a pipe, nor with NO_COLOR or --no-color', async () => {
    expect(await runWith(argv, UTF8)).not.toMatch(CONTROL)
    expect(await runWith(argv, { ...UTF8, NO_COLOR: '1' })).not.toMatch(CONTROL)
    expect(await runWith([...argv, '--no-color'], { ...UTF8, FORCE_COLOR: '1' })).not.toMatch(CONTROL)
  })

  it('fits 60 columns, in ASCII where the locale is not UTF-8', async () => {
    const text = await runWith(argv, { LANG: 'C.UTF-8', LC_ALL: 'C', COLUMNS: '60' })
    // oxlint-disable-next-line no-control-regex -- everything beyond ASCII
    expect(text.match(/[^\u0000-\u007f]+/g)).toBeNull()
    if (!isVerbatim) expect(tooLong(text)).toEqual([])
  })

  it('is the same text in colour', async () => {
    const colored = await runWith(argv, { ...UTF8, FORCE_COLOR: '1' })
    const text = stripVTControlCharacters(colored)
    if (isColored) expect(colored).not.toBe(text)
    expect(text).not.toMatch(CONTROL)
    if (isSteady) expect(withoutFigures(text)).toBe(withoutFigures(await runWith(argv, UTF8)))
  })
})
