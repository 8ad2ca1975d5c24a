import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { testUsageErrors } from '../support/usage-errors.ts'
import { run } from '../support/programs.ts'
import { temporaryFolder } from '../support/directory.ts'
import { asOrdinaryUser } from '../support/ordinary-user.ts'

const directory = await temporaryFolder()

testUsageErrors(
  [],
  [
    [['parse', 'systemd'], "error: invalid format 'systemd': expected one of systemctl, ledger-tail, consensus-log"],
    [['demo', '--port', 'x'], "error: invalid --port 'x': expected a port from 0 to 65535\n"],
    [['version'], "error: unknown command 'version'\n(Did you mean --version?)\n"],
    [['-v'], "error: unknown option '-v'\n(Did you mean --version?)\n"],
    [['run', '--config', '/no/such/file.yaml'], 'there is no such file'],
    [['config', '--set', 'rpc.intervall=1s'], 'did you mean rpc.interval?'],
    [['config', '--set', 'rpc.interval'], 'expected KEY=VALUE, like rpc.interval=1s'],
    [['demo', '--scenario', 'lagginng'], 'lagging'],
  ],
)

describe('config', () => {
  test('as JSON', async () => {
    const { out } = await cli(['config', '--json', '--listen', '127.0.0.1:1'])
    expect(JSON.parse(out)).toMatchObject({
      file: null,
      settings: {
        listen: { value: '127.0.0.1:1', origin: '--listen' },
        'rpc.interval': { value: '2s', origin: 'default' },
      },
    })
  })
  test('--config, then CHAIN_AGENT_CONFIG, then the installed file, then defaults', async () => {
    const files = ['flag', 'variable', 'installed'].map((name) => join(directory, `${name}.yaml`))
    const [flag = '', variable = '', installed = ''] = files
    for (const [index, file] of files.entries()) await writeFile(file, `listen: :${index + 1}\n`)
    const env = { CHAIN_AGENT_CONFIG: variable }
    const linesOf = async (argv: readonly string[], world: Parameters<typeof cli>[1]) => {
      const [source, , listen] = (await cli(['config', ...argv], world)).out.split('\n')
      return [source, listen?.replace(/ +# /, ' # ')]
    }
    expect(await linesOf(['--config', flag], { env, installedConfig: installed })).toEqual([
      `# configuration file: ${flag} (--config)`,
      `listen: :1 # ${flag}:1`,
    ])
    expect(await linesOf([], { env, installedConfig: installed })).toEqual([
      `# configuration file: ${variable} (CHAIN_AGENT_CONFIG)`,
      `listen: :2 # ${variable}:1`,
    ])
    const empty = { CHAIN_AGENT_CONFIG: '' }
    expect(await linesOf([], { env: empty, installedConfig: installed })).toEqual([
      `# configuration file: ${installed} (default path)`,
      `listen: :3 # ${installed}:1`,
    ])
    expect(await linesOf([], { installedConfig: join(directory, 'absent.yaml') })).toEqual([
      '# configuration file: none: defaults, environment and flags only',
      'listen: 127.0.0.1:9843 # default',
    ])
  })
  test('an installed file that cannot be read is an error, not a default', async () => {
    // A directory in its place fails for every user, root included.
    const { code, out, err } = await cli(['check'], { installedConfig: directory })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(`${directory}: the configuration file cannot be read: it is a directory`)
  })
  test('permission denied: sudo, or the group', async () => {
    const file = join(directory, 'secret.yaml')
    await writeFile(file, '', { mode: 0o000 })
    await chmod(directory, 0o755)
    const { code, err } = await asOrdinaryUser(async () => cli(['status'], { installedConfig: file }))
    expect(code).toBe(2)
    expect(err).toMatch(
      /permission denied: this user may not access it\n {2}what to do: run the command with sudo, or add/,
    )
  })
})

describe('parse', () => {
  const AUTHOR = `02${'cd'.repeat(32)}`
  const timeout = JSON.stringify({
    level: 'INFO',
    target: 'ledger_tail',
    fields: { message: 'timeout', round: '9223372036854775809', author: AUTHOR, now_ts_ms: '1772359200000' },
  })

  test('lines: one result per line; lines that cannot be parsed go to stderr with their number', async () => {
    const { code, out, err } = await cli(['parse', 'ledger-tail'], { stdin: `${timeout}\n\nhello\n{"cut\n` })
    expect(code).toBe(0)
    expect(out).toBe(
      `{"event":"timeout","timestamp":null,"level":"INFO","round":"9223372036854775809","author":"${AUTHOR}","authorAddress":null,"writtenAt":1772359200000}\n`,
    )
    expect(err).toMatchInlineSnapshot(`
      "line 3: not in this format, skipped
      line 4: Could not parse a line of the ledger stream: expected a whole JSON object
        input: {"cut
      "
    `)
  })
  test('no parsed line is exit code 1', async () => {
    const { code, out, err } = await cli(['parse', 'ledger-tail', '-'], { stdin: 'hello\n' })
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('1 line was read, and it is not in the format ledger-tail.')
  })
  test('a document from a file; unknown is null, 64 bits are digits', async () => {
    const file = join(directory, 'show.txt')
    await writeFile(file, 'Id=a.service\nActiveState=active\nNRestarts=4294967294\n')
    const { code, out } = await cli(['parse', 'systemctl', file])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject([
      { unit: 'a.service', activeState: 'active', restarts: '4294967294', memoryBytes: null },
    ])
  })
  test('an invalid document, and a missing file', async () => {
    const none = await cli(['parse', 'smartctl'], { stdin: '<html>' })
    expect({ code: none.code, out: none.out }).toEqual({ code: 1, out: '' })
    expect(none.err).toContain('Could not parse the report of smartctl: expected JSON')
    const gone = await cli(['parse', 'smartctl', join(directory, 'gone')])
    expect(gone.code).toBe(1)
    expect(gone.err).toBe(
      `Could not read ${join(directory, 'gone')}: there is no such file or directory\n  what to do: check the path\n`,
    )
  })
})

test('an output that cannot be written, as on a full disk, is an error with exit code 1', async () => {
  const { code, stderr } = await run('sh', ['-c', 'exec "$0" dist/main.js runbook >/dev/full', process.execPath])
  expect([code, stderr]).toEqual([1, 'Could not write the output: ENOSPC: no space left on device, write'])
})
