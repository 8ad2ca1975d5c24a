import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Program } from '../../src/sources/exec.ts'
import { cli } from '../support/cli.ts'
import { execPrinting } from '../support/exec-printing.ts'
import { fakeJournalctl } from '../support/fake-journalctl.ts'
import { openHost, sharedHost } from '../support/host.ts'
import { steppedFiles } from '../support/stepped-journal.ts'
import { testUsageErrors } from '../support/usage-errors.ts'
import { T0 } from '../collectors/consensus-log.ts'
import { hostWith, type Said } from './monlog/recorded-log.ts'

const LATE = 1_772_366_400_123_000
const HASH = `0x${'a1'.repeat(32)}`
const SAID = [
  '{"timestamp":"x","level":"WARN","fields":{"message":"late vote","round":"7","by":"a b"},"target":"chain_state"}',
  `2026-03-01 12:00:00.123456789 [811] runloop.cpp:311 LOG_INFO\tcommitted with block_id ${HASH} in 3µs`,
  `thread 'main' panicked at src/lib.rs:1:2: token=hunter2 ${'ab'.repeat(32)}`,
  'two\nlines \u001B[31mred\u0007',
  '{"level":"INFO","fields":{"message":"sent","password":"hunter2"},"target":"x"}',
  `${'so long '.repeat(600)}end`,
]

/** A journal that has these lines of whatever unit it is asked for. */
const journal = (lines: readonly string[], heard: Program[] = []) => {
  const entries = lines.map((message, at) =>
    JSON.stringify({
      __CURSOR: `c${at}`,
      __REALTIME_TIMESTAMP: `${LATE + at * 1000}`,
      _PID: at === 3 ? '1' : '77',
      SYSLOG_IDENTIFIER: at === 3 ? 'systemd' : 'program',
      PRIORITY: at === 2 ? '3' : '6',
      MESSAGE: message,
    }),
  )
  const exec = execPrinting((program) => {
    heard.push(program)
    const told = program.args.includes('--reverse') ? entries.toReversed() : entries
    return told.map((entry) => `${entry}\n`).join('')
  })
  return { exec }
}
const read = async (argv: readonly string[], env: Record<string, string> = {}) =>
  cli(['logs', '--prefix', 'zephyr', 'bft', ...argv], { env, overrides: journal(SAID) })

describe('lines', () => {
  test('are formatted for reading, with secrets redacted', async () => {
    const { code, out, err } = await read([])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n').slice(0, 5)).toEqual([
      '2026-03-01T12:00:00.123Z WARN  late vote round=7 by="a b" (chain_state)',
      `2026-03-01T12:00:00.124Z INFO  committed with block_id ${HASH} in 3us (runloop.cpp:311)`,
      "2026-03-01T12:00:00.125Z ERROR thread 'main' panicked at src/lib.rs:1:2: token=(redacted) (hex digits)",
      '2026-03-01T12:00:00.126Z       systemd: two | lines red?',
      '2026-03-01T12:00:00.127Z INFO  sent password=(redacted) (x)',
    ])
    expect(out).toMatch(/ so? ?l?o?n?g? ? \.\.\. \(\d+ more characters: -o raw shows them\)\n$/)
  })

  test('are a document each with -o json', async () => {
    const { out } = await read(['-o', 'json'])
    const documents = out.trimEnd().split('\n')
    expect(documents).toHaveLength(SAID.length)
    const row = z.looseObject({ fields: z.looseObject({}) })
    expect(row.parse(JSON.parse(documents[0] ?? ''))).toEqual({
      time: '2026-03-01T12:00:00.123Z',
      service: 'bft',
      level: 'WARN',
      by: null,
      message: 'late vote',
      fields: { round: '7', by: 'a b' },
      from: 'chain_state',
      raw: SAID[0],
    })
    expect(out).not.toMatch(/hunter2|(?:ab){8}/)
  })

  test('fit 60 columns, and have colour where it is wanted', async () => {
    const narrow = await read([], { COLUMNS: '60', LANG: 'C', NO_COLOR: '1' })
    for (const text of narrow.out.split('\n')) {
      expect(text.length <= 60 || !text.trim().includes(' ')).toBe(true)
    }
    expect((await read([], { FORCE_COLOR: '1', LANG: 'C.UTF-8' })).out).toContain(
      '\u001B[33m2026-03-01T12:00:00.123Z WARN  late vote',
    )
    expect((await read([], { LANG: 'C.UTF-8' })).out).toContain('3µs')
  })
})

describe('what is asked of the journal', () => {
  const asked = async (argv: readonly string[]): Promise<string> => {
    const heard: Program[] = []
    const overrides = journal(SAID, heard)
    await cli(['logs', '--prefix', 'zephyr', ...argv], { overrides })
    // The first run after the one that shows whether the journal can be read; later ones check the order.
    const [, look] = heard.filter(({ args }) => args.includes('--all') && !args.includes('_LINE_BREAK=line-max'))
    return (look?.args ?? []).filter((word) => !word.startsWith('--output-fields')).join(' ')
  }
  test.each([
    [['bft'], '--merge --reverse -n 74 --all -o json -u zephyr-bft.service'],
    [['execution', '-n', '7'], '--merge --reverse -n 31 --all -o json -u zephyr-execution.service'],
    [
      ['zephyr-rpc.service', '--since', '@1772366400', '--until', '@1772366401'],
      '--merge --since=@1772366398.000000 --until=@1772366401.000000 --all -o json -u zephyr-rpc.service',
    ],
    [['zephyr-cruft', '-g', 'x|y'], '--merge --reverse -n 50 --all -o json -u zephyr-cruft.service --grep=x|y'],
    [['otelcol.service'], '--merge --reverse -n 74 --all -o json -u otelcol.service'],
    [['agent'], '--merge --reverse -n 74 --all -o json -u chain-agent.service'],
  ])('%j', async (argv, expected) => {
    expect(await asked(argv)).toBe(expected)
  })
})

const USAGE_ERRORS = [
  [['blt'], 'Did you mean bft?'],
  [['zephyr-exection'], 'Did you mean zephyr-execution?'],
  [['sshd'], 'Services: bft, execution, rpc, ledger-tail, otelcol, cruft, agent'],
  [['bft', '-n', '20001'], 'from 1 to 20000; use --since for more lines'],
  [['bft', '-o', 'xml'], 'expected one of short, raw, json'],
  [['bft', '-f', '--until', 'now'], 'cannot be used with option'],
  [[], "missing required argument 'service'"],
] as const
testUsageErrors(['logs', '--prefix', 'zephyr'], USAGE_ERRORS, { overrides: journal(SAID) })

describe('a node', async () => {
  const host = await sharedHost({ scenario: 'healthy', second: 60, agent: false })

  test('has its newest lines shown, oldest first, also where a pattern chooses them', async () => {
    for (const argv of [
      ['bft', '-n', '40'],
      ['bft', '-n', '9', '--grep', 'committed block'],
    ]) {
      const { code, out } = await host.run(['logs', ...argv])
      const lines = out.trimEnd().split('\n')
      expect({ code, count: lines.length }).toEqual({ code: 0, count: Number(argv[2]) })
      const times = lines.map((text) => text.slice(0, 24))
      expect(times).toEqual(times.toSorted())
      if (argv.length > 3) expect(lines.every((text) => text.includes('committed block'))).toBe(true)
    }
  })

  test('no lines of a service: a message on stderr and exit code 0', async () => {
    const { code, out, err } = await host.run(['logs', 'agent'])
    expect({ code, out, err }).toEqual({
      code: 0,
      out: '',
      err: 'The journal has no matching lines of chain-agent.service.\n',
    })
    const range = ['--since', 'yesterday', '--until', '2026-01-01 12:00']
    const midnight = `${new Date(host.now() - 86_400_000).toISOString().slice(0, 10)}T00:00:00.000Z`
    expect(await host.run(['logs', 'agent', ...range])).toMatchObject({
      code: 0,
      err: `The journal has no matching lines of chain-agent.service since ${midnight} until 2026-01-01T12:00:00.000Z.\n`,
    })
  })

  test('whose journal may not be read says so', async () => {
    const closed = await openHost({ scenario: 'no-journal-permission', second: 60, agent: false })
    const { code, err } = await closed.run(['logs', 'bft'])
    expect(code).toBe(1)
    expect(err).toContain('this user may not read it')
  })
})

describe('after the clock of the host went back', () => {
  const readStepped = async (...argv: readonly string[]) =>
    cli(['logs', '--prefix', 'chain', 'execution', ...argv], {
      overrides: { exec: fakeJournalctl(steppedFiles()).exec },
    })
  const NOTE =
    'Note: the clock of this host went back 40 min: 2026-11-24T10:09:55Z was followed by 2026-11-24T09:30:00Z. ' +
    'Lines are in the order in which they were written.\n'

  test('the lines of a range are printed, and the step', async () => {
    const { code, out, err } = await readStepped('--since', '2026-11-24 09:39', '--until', '2026-11-24 09:41')
    expect(out.trimEnd().split('\n')).toHaveLength(26)
    expect(out).toContain(
      "2026-11-24T09:40:00.001Z       runloop_monad.cpp:216: void f(): Assertion 'x.second' failed.",
    )
    expect({ code, err }).toEqual({ code: 0, err: NOTE })
  })

  test('-f begins with the lines of the range, also those with a later time than the newest', async () => {
    const [first = [], second = []] = steppedFiles()
    // Now the clock shows 09:35.
    const files = [first, second.slice(0, 61)]
    const argv = ['logs', '--prefix', 'chain', 'execution', '-f', '--since', '2026-11-24 09:00']
    const { out } = await cli(argv, {
      overrides: { exec: fakeJournalctl(files).exec },
      until: (text) => text.includes('2026-11-24T09:35:00'),
    })
    expect(out.trimEnd().split('\n')).toHaveLength(181)
  })
})

const UNIT = 'chain-bft.service'
const own = { _PID: '40', _SYSTEMD_UNIT: UNIT, _STREAM_ID: 's1' }
const cut = { ...own, _LINE_BREAK: 'line-max' }

const readHost = async (said: readonly Said[], argv: readonly string[]) =>
  cli(['logs', '--prefix', 'chain', 'bft', ...argv], {
    env: { LANG: 'C.UTF-8' },
    overrides: { exec: hostWith(said).exec },
  })

describe('a line that is JSON', () => {
  const HOSTILE = [
    String.raw`{"level":"INF\u001b[31mO","fields":{"message":"\u001b]0;x\u0007hi \u009b31m\u202eevil",`,
    String.raw`"k\u001b[5m":"\rv","pass\u200bword":"hunter2","m":"pass\u001b[0mword=hunter2"},`,
    String.raw`"target":"x\u001b[8m\u009c"}`,
  ].join('')
  const by = { ...own, _PID: '1', SYSLOG_IDENTIFIER: '\u001B]0;x\u0007sys\u202E' }
  test.each(['short', 'raw', 'json'])('hides nothing in its escapes: -o %s', async (form) => {
    const said = [{ at: -9000, text: HOSTILE, fields: by }]
    const { code, out } = await readHost(said, ['-o', form])
    expect(code).toBe(0)
    expect(out).toContain('evil')
    expect(out).not.toMatch(/(?!\n)\p{Cc}|[\u202a-\u202e\u200b]|hunter2/u)
    if (form !== 'json') return
    for (const text of JSON.stringify(JSON.parse(out), undefined, 1).split('\n')) {
      expect(text).not.toMatch(/(?<!\\)\\(?:u00|r)/)
    }
  })
})

describe('a line that journald has cut', () => {
  const said: readonly Said[] = [
    { at: -9000, text: 'before it', fields: own },
    { at: -8000, text: '{"fields":{"keystore_password":"', fields: cut },
    { at: -7999, text: 'hunter2 is what came after"}}', fields: own },
    { at: -7000, text: 'and this came later', fields: own },
  ]
  const WHOLE = `{"fields":{"keystore_password":"(redacted)"}}`
  const since = (ms: number) => `@${((T0 + ms) / 1000).toFixed(3)}`
  const lines = async (argv: readonly string[]) =>
    (await readHost(said, ['-o', 'raw', ...argv])).out.trimEnd().split('\n')

  test('is whole where a pattern is found in a part of it', async () => {
    expect(await lines(['--grep', 'came'])).toEqual([WHOLE, 'and this came later'])
    const asked = ['--grep', 'came', '--since', since(-9500), '--until', since(-10)]
    expect(await lines(asked)).toEqual([WHOLE, 'and this came later'])
    expect(await lines(['--grep', 'keystore'])).toEqual([WHOLE])
  })

  test('is whole where the newest begin in the middle of it', async () => {
    expect(await lines(['-n', '2'])).toEqual([WHOLE, 'and this came later'])
    const long = Array.from({ length: 24 }, (_, at) => ({ at: at - 6000, text: 'x'.repeat(9), fields: own }))
    const { out } = await readHost([...said.slice(0, 3), ...long], ['-n', '24', '-o', 'raw'])
    expect(out).not.toContain('hunter2')
    const first = await readHost([...said.slice(1, 3), ...long.slice(0, 23)], ['-n', '1', '-o', 'raw'])
    expect(first.out).toBe('xxxxxxxxx\n')
  })

  test('belongs to the moment at which it began', async () => {
    expect(await lines(['--since', since(-7999), '--until', since(-10)])).toEqual(['and this came later'])
  })

  test('is whole among the newest of monlog, too', async () => {
    const monlog = ['monlog', '--prefix', 'chain', '-r', '--json', '--until', since(-10)]
    const more = Array.from({ length: 9 }, (_, at) => ({ at: at - 6000, text: 'next', fields: own }))
    const overrides = { exec: hostWith([...said.slice(0, 3), ...more]).exec }
    const { out } = await cli(monlog, { overrides })
    expect(out).toContain('keystore_password')
    expect(out).not.toContain('hunter2')
  })
})
