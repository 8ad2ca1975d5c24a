import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { buildDebs, downloadPackages, probeDebianHost } from '../support/deb.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { PATH } from '../support/sandbox.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const SLOW = 1_800_000
/** A container's policy that no package starts a service, and our unit of other suites. */
const LEFTOVERS = '/usr/sbin/policy-rc.d /etc/systemd/system/chain-agent.service'

const describe = await requireRealPart('Debian', probeDebianHost)

/** The tasks, and the variables, which are set for the test. */
const [PLAYBOOK = '', VARIABLES = ''] = [
  ...(await readFile('docs/how-to/ansible.md', 'utf8')).matchAll(/^```yaml\n([\s\S]*?)^```$/gm),
].map(([, text = '']) => text)

describe('the tasks of the how-to, with ansible-core of Debian', () => {
  let node: SandboxedNode

  const shell = async (script: string): Promise<string> =>
    node.shell(script, { env: { PATH, LC_ALL: 'C.UTF-8', HOME: '/root' }, timeout: SLOW })
  /** The last line of the output, such as `ok=4 changed=3 failed=0`. */
  const play = async (): Promise<string | undefined> =>
    (await shell(`cd ${node.directory}; ansible-playbook -i inventory chain-agent.yml`)).split('\n').at(-1)

  beforeAll(async () => {
    const { agent } = await buildDebs()
    node = await createNode('monad', { ownNetwork: true })
    const archives = join(node.directory, 'archives')
    await mkdir(archives)
    await downloadPackages(archives, ['ansible-core'])
    await copyFile(agent, join(node.directory, basename(agent)))
    await mkdir(join(node.directory, 'group_vars'))
    const variables = VARIABLES.replace(/(?<=^agent_package: ).*/m, join(node.directory, basename(agent)))
    await writeFile(join(node.directory, 'group_vars/nodes.yml'), variables)
    await writeFile(join(node.directory, 'chain-agent.yml'), PLAYBOOK)
    await writeFile(join(node.directory, 'inventory'), '[nodes]\nlocalhost ansible_connection=local\n')
    await shell(`rm -f ${LEFTOVERS}; systemctl daemon-reload; dpkg -i ${archives}/*.deb`)
    await node.systemctl('start', ...['ledger-tail', 'bft', 'execution', 'rpc'].map(node.unit))
    return node.down
  }, SLOW)

  it('install, configure and restart the agent; the second run changes nothing', { timeout: SLOW }, async () => {
    expect(await play()).toMatch(/ok=4 +changed=3 +unreachable=0 +failed=0 +skipped=0 /)
    expect(await node.systemctl('is-active', 'chain-agent')).toBe('active')
    const written = await shell('cat /etc/chain-agent/config.yaml')
    expect(written).toContain('https://rpc.provider-a.example')
    const started = await node.systemctl('show', '-P', 'MainPID', 'chain-agent')

    expect(await play()).toMatch(/ok=3 +changed=0 +unreachable=0 +failed=0 +skipped=1 /)
    expect(await shell('cat /etc/chain-agent/config.yaml')).toBe(written)
    expect(await node.systemctl('show', '-P', 'MainPID', 'chain-agent')).toBe(started)
  })
})
