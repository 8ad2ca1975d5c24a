import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'

let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-agent-cli-'))
})
afterAll(async () => {
  await rm(directory, { recursive: true })
})

describe('what is asked in a wrong way: exit code 2, nothing on standard output', () => {
  test.each([
    [['runn'], 'Did you mean run?'],
    [['run', '--confg', 'x'], 'Did you mean --config?'],
    [['parse', 'systemd'], 'Allowed choices are rpc, systemctl, ledger-tail'],
    [['parse'], "missing required argument 'format'"],
    [['run', '--config', '/no/such/file.yaml'], 'there is no such file'],
    [['config', '--set', 'rpc.intervall=1s'], 'did you mean rpc.interval?'],
    [['demo', '--scenario', 'lagginng'], 'lagging'],
  ])('%j', async (argv, expected) => {
    const { code, out, err } = await cli(argv)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(expected)
    expect(err).not.toMatch(/\n\s+at /) // no stack trace at an operator
  })
})

describe('help', () => {
  test.each([
    [['--help']],
    [['run', '--help']],
    [['config', '--help']],
    [['parse', '--help']],
    [['demo', '--help']],
  ])('%j is an answer, with examples where there is something to show', async (argv) => {
    const { code, out, err } = await cli(argv)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    if (argv.length > 1) expect(out).toContain('Examples:')
  })
})

describe('config', () => {
  test('from a file named in the environment; secrets are not shown', async () => {
    const file = join(directory, 'agent.yaml')
    await writeFile(file, 'rpc:\n  url: https://user:hunter2@node.example/KEY\n')
    const { code, out } = await cli(['config'], { env: { CHAIN_AGENT_CONFIG: file } })
    expect(code).toBe(0)
    expect(out).toMatch(new RegExp(`url: https://node.example/… +# ${file}:2\n`))
    expect(out).not.toMatch(/hunter2|KEY/)
  })
  test('as JSON', async () => {
    const { out } = await cli(['config', '--json', '--listen', '127.0.0.1:1'])
    expect(JSON.parse(out)).toMatchObject({
      listen: { value: '127.0.0.1:1', origin: '--listen' },
      'rpc.interval': { value: '2s', origin: 'default' },
    })
  })
  test('several mistakes are told at once, and that nothing was started', async () => {
    const file = join(directory, 'bad.yaml')
    await writeFile(file, 'prefx: x\nrpc:\n  interval: soon\n')
    const { code, err } = await cli(['run', '--config', file])
    expect(code).toBe(2)
    expect(err.replaceAll(file, 'FILE')).toMatchInlineSnapshot(`
      "The configuration cannot be used; nothing was started.
      FILE:3: rpc.interval: expected a duration between 50ms and 1d, like 2s, 500ms or 5m, got "soon"
      FILE:1: no such key: prefx; did you mean prefix?
      "
    `)
  })
})

describe('parse', () => {
  const AUTHOR = `02${'cd'.repeat(32)}`
  const timeout = JSON.stringify({
    level: 'INFO',
    target: 'ledger_tail',
    fields: { message: 'timeout', round: '9223372036854775809', author: AUTHOR, now_ts_ms: '5' },
  })

  test('lines: one result a line; what was not understood goes to standard error with its number', async () => {
    const { code, out, err } = await cli(['parse', 'ledger-tail'], {
      stdin: `${timeout}\n\nhello\n{"cut\n`,
    })
    expect(code).toBe(0)
    expect(out).toBe(
      `{"event":"timeout","round":"9223372036854775809","author":"${AUTHOR}","writtenAt":5}\n`,
    )
    expect(err).toMatchInlineSnapshot(`
      "line 3: not of this format, passed over
      line 4: Could not understand a line of the ledger stream: expected a whole JSON object
        it said: {"cut
      "
    `)
  })
  test('nothing understood is exit code 1', async () => {
    const { code, out, err } = await cli(['parse', 'ledger-tail'], { stdin: 'hello\n' })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('Nothing of ledger-tail in 1 lines.')
  })
  test('a document from a file; unknown is null, 64 bits are digits', async () => {
    const file = join(directory, 'show.txt')
    await writeFile(file, 'Id=a.service\nActiveState=active\nNRestarts=18446744073709551614\n')
    const { code, out } = await cli(['parse', 'systemctl', file])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject([
      {
        unit: 'a.service',
        activeState: 'active',
        restarts: '18446744073709551614',
        memoryBytes: null,
      },
    ])
  })
  test('a document that is none, and a file that is not there', async () => {
    const none = await cli(['parse', 'rpc'], { stdin: '<html>' })
    expect({ code: none.code, out: none.out }).toEqual({ code: 1, out: '' })
    expect(none.err).toContain('Could not understand an answer of JSON-RPC: expected JSON')
    const gone = await cli(['parse', 'rpc', join(directory, 'gone')])
    expect(gone.code).toBe(1)
    expect(gone.err).toContain('ENOENT')
  })
})
