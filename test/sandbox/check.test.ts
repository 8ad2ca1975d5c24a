import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const ROOT = ['env', 'PATH=/usr/bin:/bin']
const UNPRIVILEGED = ['setpriv', '--reuid=nobody', '--regid=nogroup']
/** A session that began with no group but its first, and one that begins now. */
const OLD_SESSION = [...UNPRIVILEGED, '--clear-groups', ...ROOT]
const NEW_SESSION = [...UNPRIVILEGED, '--init-groups', ...ROOT]
const SECRET = 'Hunter2Hunter2Hunter2'

describe('check, status and recover on real systemd and journald', () => {
  let node: SandboxedNode
  /** All that was ever printed. */
  let printed = ''

  const run = async (who: readonly string[], ...argv: readonly string[]) => {
    const [program = '', ...before] = who
    const ended = await node.exec(program, [...before, ...node.commandLine(...argv)])
    printed += ended.stdout + ended.stderr
    return { ...ended, first: ended.stdout.split('\n')[0] ?? '' }
  }

  beforeAll(async () => {
    node = await createNode('chain')
    await node.writeUnit(
      'chain-bft.service.d/override.conf',
      `[Service]\nExecStart=\nExecStart=/bin/sh -c "sleep infinity" \\\n  ${SECRET}\nEnvironment=KEYSTORE_PASSWORD=${SECRET}\n`,
    )
    await node.writeUnit('chain-rpc.service.d/files.conf', '[Service]\nLimitNOFILE=65536\n')
    await node.startServices('bft', 'execution', 'rpc', 'ledger-tail')
    return node.down
  })

  it('root is told of the drop-in and of the missing agent; nothing was written for it', async () => {
    const { code, stdout, stderr } = await run(ROOT, 'check')
    // Blocks may still be fresh, or not; the RPC of this node never answers.
    expect(code).toBeGreaterThan(0)
    expect(stderr).toBe('')
    expect(stdout).toContain('A drop-in overrides the command of chain-bft.')
    expect(stdout).toContain('override.conf sets ExecStart (chain-bft).')
    expect(stdout).toContain('No agent watches this node.')
    expect(stdout).not.toContain('may not read the journal')
    expect(existsSync(join(node.directory, 'state'))).toBe(false)
  })

  it('who is in no group that reads the journal is told which, and then reads it after a new login', async () => {
    const before = await run(OLD_SESSION, 'check')
    expect(before.code).toBeGreaterThan(0)
    expect(before.stdout.replaceAll(/\s+/g, ' ')).toContain('to the group systemd-journal')
    expect((await node.exec('usermod', ['-aG', 'systemd-journal', 'nobody'])).code).toBe(0)
    const after = await run(NEW_SESSION, 'check')
    expect(after.stdout).not.toContain('may not read the journal')
  })

  it('a stopped consensus service is reported first, with the recovery path and never a restart of consensus alone', async () => {
    await node.startAgent()
    await node.systemctl('stop', node.unit('bft'))
    // What the agent has read of systemd is up to one interval old.
    const check = await eventually(
      async () => run(ROOT, 'check'),
      ({ first }) => first.startsWith('CRITICAL: bft is down'),
    )
    expect(check.code).toBe(2)
    // The agent evaluates its rules every 15 s.
    const status = await eventually(
      async () => run(ROOT, 'status'),
      ({ first }) => first === check.first,
    )
    expect(status.code).toBe(0)
    const recover = await run(ROOT, 'recover')
    expect(recover.first).toBe(check.first)
    expect(recover.stdout).toMatch(/^RECOVERY: restart the services together/m)
    expect(recover.stdout).toContain('systemctl restart chain-bft chain-execution chain-rpc')
    expect(recover.code).toBe(1)
  })

  it('status has the time of the newest line of a log, as journald has it', async () => {
    await node.ledger.runTo(30)
    const isNewest = async (): Promise<boolean> => {
      const args = ['-u', node.unit('ledger-tail'), '-n', '1', '-o', 'json', '--merge']
      const { stdout } = await node.exec('journalctl', args)
      const [, micros] = /"__REALTIME_TIMESTAMP":"(\d+)"/.exec(stdout) ?? []
      const status = await run(ROOT, 'status', '--json', 'ledger-tail')
      return status.stdout.includes(new Date(Math.floor(Number(micros) / 1000)).toISOString())
    }
    await eventually(isNewest, true)
  })

  it('what a drop-in holds was never shown', () => {
    expect(printed).toContain('override.conf')
    expect(printed).not.toContain(SECRET)
  })
})
