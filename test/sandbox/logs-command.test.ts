import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const SECRET = 'ab12'.repeat(16)
/** journald splits lines at 48 KiB, and takes away blanks where it does. */
const LONG = `begin ${'so-long-'.repeat(12_000)} end`

describe('the logs command, under a real journald', () => {
  let node: SandboxedNode
  const say = async (...lines: readonly string[]): Promise<void> =>
    appendFile(join(node.directory, 'bft.log'), lines.map((line) => `${line}\n`).join(''))
  const logs = async (...argv: readonly string[]) => node.run('logs', ...argv)
  const shown = async (text: string): Promise<void> => {
    await eventually(
      async () => (await logs('bft', '-o', 'raw')).stdout,
      (out) => out.includes(text),
    )
  }

  beforeAll(async () => {
    node = await createNode('zephyr')
    await writeFile(join(node.directory, 'bft.log'), '')
    const start = `ExecStart=/usr/bin/tail -n +1 -s 0.1 -F ${node.directory}/bft.log`
    await node.writeUnit(node.unit('bft'), `[Service]\n${start}\n`)
    await node.systemctl('start', node.unit('bft'))
    await say(
      '{"timestamp":"x","level":"WARN","fields":{"message":"late vote","round":"7"},"target":"zephyr_state"}',
      `KEYSTORE_PASSWORD=${'hunter'}2 and ${SECRET}`,
      LONG,
      'last of all',
    )
    await shown('last of all')
    return node.down
  })

  it('show what systemd and the service have said, long lines whole, secrets redacted', async () => {
    const { code, stdout, stderr } = await logs('zephyr-bft', '-o', 'raw')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Started')
    expect(stdout).toContain('KEYSTORE_PASSWORD=(redacted)\n')
    expect(stdout.length).toBeGreaterThan(LONG.length)
    expect(stdout.endsWith(`\n${LONG}\nlast of all`)).toBe(true)
    expect(stdout).not.toMatch(/hunter2|ab12ab12/)
    expect((await logs('bft')).stdout).toMatch(/Z WARN {2}late vote round=7 \(zephyr_state\)\n/)
  })

  it('report a pattern that journalctl rejects', async () => {
    const { code, stderr } = await logs('bft', '-g', '(')
    expect(code).toBe(1)
    expect(stderr).toContain('Could not')
  })

  it('of the ledger: a range without blocks has advice', async () => {
    const { code, stderr } = await node.run('ledger', '--until', '2020-01-01')
    expect(code).toBe(1)
    expect(stderr).toContain('check that the service ledger-tail is running')
  })

  it('follow until they are interrupted', async () => {
    await say('after that')
    await shown('after that')
    const [out, pid] = [join(node.directory, 'followed'), join(node.directory, 'pid')]
    const words = node.commandLine('logs', 'bft', '-f', '-n', '2', '-o', 'raw').join(' ')
    const following = node.exec('sh', ['-c', `echo $$ > ${pid}; exec ${words} > ${out}`])
    const followed = async (): Promise<string> => readFile(out, 'utf8').catch(() => '')
    await eventually(followed, (text) => text === 'last of all\nafter that\n')
    await say('one', 'two')
    await eventually(followed, (text) => text.endsWith('two\n'))
    expect(await followed()).toBe('last of all\nafter that\none\ntwo\n')
    await node.exec('kill', ['-INT', (await readFile(pid, 'utf8')).trim()])
    expect(await following).toEqual({ code: 0, stdout: '', stderr: '' })
    expect((await node.exec('pgrep', ['-f', 'journalctl.*zephyr-bft'])).stdout).toBe('')
  })
})
