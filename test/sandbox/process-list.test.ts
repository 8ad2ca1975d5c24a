import { beforeAll, expect, it } from 'vitest'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const CANARY = 'Hunter2Hunter2Hunter2'
/** A group that no process of the sandbox has. */
const GROUP = '4242'

describe('the process list of a host whose consensus has its password as an argument', () => {
  let node: SandboxedNode
  let printed = ''

  const run = async (group: string, ...argv: readonly string[]) => {
    const user = ['--reuid=nobody', `--regid=${group}`, '--clear-groups', 'env', 'PATH=/usr/bin:/bin']
    const { stdout, stderr } = await node.exec('setpriv', [...user, ...node.commandLine(...argv)])
    printed += stdout + stderr
    return stdout
  }
  const remount = async (options: string): Promise<void> => {
    expect((await node.exec('mount', ['-o', `remount,${options}`, '/proc'])).code).toBe(0)
  }
  /** Whether that user can read the arguments of consensus, without the agent. */
  const canRead = async (group: string): Promise<boolean> => {
    const pid = await node.systemctl('show', '--property=MainPID', '--value', node.unit('bft'))
    const user = ['--reuid=nobody', `--regid=${group}`, '--clear-groups']
    return (await node.exec('setpriv', [...user, 'cat', `/proc/${pid}/cmdline`])).stdout.includes(CANARY)
  }

  beforeAll(async () => {
    node = await createNode('chain')
    const command = `/bin/sh -c "while :; do sleep 3600; done" sh --keystore-password "\${KEYSTORE_PASSWORD}"`
    await node.writeUnit(
      'chain-bft.service.d/password.conf',
      `[Service]\nExecStart=\nExecStart=${command}\nEnvironment=KEYSTORE_PASSWORD=${CANARY}\n`,
    )
    await node.systemctl('start', node.unit('bft'))
    return node.down
  })

  it('is open by default: check reports it, and status arguments shows the variable alone', async () => {
    expect(await canRead(GROUP)).toBe(true)
    expect(await run('nogroup', 'check')).toContain('can read the keystore password in the process list')
    expect(await run('nogroup', 'status', 'arguments')).toMatch(/--keystore-password +\$\{KEYSTORE_PASSWORD\}$/m)
  })

  it('with hidepid the password is hidden from users, and commands that they run have no limits of the services', async () => {
    await remount('hidepid=2')
    expect(await canRead(GROUP)).toBe(false)
    expect(await run(GROUP, 'check')).not.toContain('in the process list')
    const service = await run(GROUP, 'status', 'bft')
    expect(service).toMatch(/pid +\d+/)
    expect(service).toMatch(/open files.* +unknown/)
  })

  it('with a group that is exempt, its processes see all, and others do not', async () => {
    await remount(`hidepid=2,gid=${GROUP}`)
    expect(await canRead('nogroup')).toBe(false)
    expect(await canRead(GROUP)).toBe(true)
    expect(await run(GROUP, 'status', 'bft')).toMatch(/open files.* +\d/)
  })

  it('nothing that was printed has the password', () => {
    expect(printed).not.toContain(CANARY)
  })
})
