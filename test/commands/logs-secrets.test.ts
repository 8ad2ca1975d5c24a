import { describe, expect, test } from 'vitest'
import { T0 } from '../collectors/consensus-log.ts'
import { cli } from '../support/cli.ts'
import { hostWith, type LogEntry } from './monlog/recorded-log.ts'

const UNIT = 'chain-bft.service'
const own = { _PID: '40', _SYSTEMD_UNIT: UNIT, _STREAM_ID: 's1' }
const cut = { ...own, _LINE_BREAK: 'line-max' }

const read = async (entries: readonly LogEntry[], argv: readonly string[]) =>
  cli(['logs', '--prefix', 'chain', 'bft', ...argv], {
    env: { LANG: 'C.UTF-8' },
    overrides: { exec: hostWith(entries).exec },
  })

describe('a line that is JSON', () => {
  const HOSTILE = [
    String.raw`{"level":"INF\u001b[31mO","fields":{"message":"\u001b]0;x\u0007hi \u009b31m\u202eevil",`,
    String.raw`"k\u001b[5m":"\rv","pass\u200bword":"hunter2","m":"pass\u001b[0mword=hunter2"},`,
    String.raw`"target":"x\u001b[8m\u009c"}`,
  ].join('')
  const by = { ...own, _PID: '1', SYSLOG_IDENTIFIER: '\u001B]0;x\u0007sys\u202E' }
  test.each(['short', 'raw', 'json'])('hides nothing in its escapes: -o %s', async (form) => {
    const entries = [{ at: -9000, text: HOSTILE, fields: by }]
    const { code, out } = await read(entries, ['-o', form])
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
  const entries: readonly LogEntry[] = [
    { at: -9000, text: 'before it', fields: own },
    { at: -8000, text: '{"fields":{"keystore_password":"', fields: cut },
    { at: -7999, text: 'hunter2 is what came after"}}', fields: own },
    { at: -7000, text: 'and this came later', fields: own },
  ]
  const WHOLE = `{"fields":{"keystore_password":"(redacted)"}}`
  const since = (ms: number) => `@${((T0 + ms) / 1000).toFixed(3)}`
  const lines = async (argv: readonly string[]) =>
    (await read(entries, ['-o', 'raw', ...argv])).out.trimEnd().split('\n')

  test('is whole where a pattern is found in a part of it', async () => {
    expect(await lines(['--grep', 'came'])).toEqual([WHOLE, 'and this came later'])
    const asked = ['--grep', 'came', '--since', since(-9500), '--until', since(-10)]
    expect(await lines(asked)).toEqual([WHOLE, 'and this came later'])
    expect(await lines(['--grep', 'keystore'])).toEqual([WHOLE])
  })

  test('is whole where the newest begin in the middle of it', async () => {
    expect(await lines(['-n', '2'])).toEqual([WHOLE, 'and this came later'])
    const long = Array.from({ length: 24 }, (_, at) => ({
      at: at - 6000,
      text: 'x'.repeat(9),
      fields: own,
    }))
    const { out } = await read([...entries.slice(0, 3), ...long], ['-n', '24', '-o', 'raw'])
    expect(out).not.toContain('hunter2')
    const first = await read([...entries.slice(1, 3), ...long.slice(0, 23)], ['-n', '1', '-o', 'raw'])
    expect(first.out).toBe('xxxxxxxxx\n')
  })

  test('belongs to the moment at which it began', async () => {
    expect(await lines(['--since', since(-7999), '--until', since(-10)])).toEqual(['and this came later'])
  })

  test('is whole among the newest of monlog, too', async () => {
    const monlog = ['monlog', '--prefix', 'chain', '-r', '--json', '--until', since(-10)]
    const more = Array.from({ length: 9 }, (_, at) => ({
      at: at - 6000,
      text: 'next',
      fields: own,
    }))
    const overrides = { exec: hostWith([...entries.slice(0, 3), ...more]).exec }
    const { out } = await cli(monlog, { overrides })
    expect(out).toContain('keystore_password')
    expect(out).not.toContain('hunter2')
  })
})
