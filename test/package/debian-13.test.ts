import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { buildDebs, probeDebianHost } from '../support/deb.ts'
import { debianTree, probeDebianTree } from '../support/debian.ts'
import { ledgerTotals } from '../support/ledger.ts'
import { must } from '../support/programs.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'
import { itNeedsNoTerminal } from './unattended.ts'

const SLOW = 1_800_000

const describe = await requireRealPart('Debian 13', async () => {
  const host = await probeDebianHost()
  return 'missing' in host ? host : probeDebianTree('trixie')
})

describe('the Debian packages on Debian 13', () => {
  let debs: Awaited<ReturnType<typeof buildDebs>>
  let host: SandboxedNode
  const services = ['ledger-tail', 'bft', 'execution', 'rpc']
  const packages = [
    ['chain-agent', 'chain-agent'],
    ['chain-agent-query-service', 'chain-agent-serve-query'],
  ] as const

  beforeAll(async () => {
    debs = await buildDebs()
    host = await createNode('monad', { ownNetwork: true, root: await debianTree('trixie') })
    await must('cp', [debs.agent, debs.queryService, host.directory])
    // The unit of other suites takes the place of that of the package.
    await host.shell('rm /etc/systemd/system/chain-agent.service; systemctl daemon-reload')
    await host.startServices(...services)
    return host.down
  }, SLOW)

  itNeedsNoTerminal({ host: () => host, deb: () => debs.agent })

  it('the packages install, and systemd accepts and starts their units', async () => {
    const files = [debs.agent, debs.queryService].map((deb) => join(host.directory, basename(deb)))
    expect(await host.exec('dpkg', ['-i', ...files], { timeout: SLOW })).toMatchObject({ code: 0 })
    const settings = 'rpc: { url: http://127.0.0.1:1 }\nserveQuery: { retentionBlocks: 1000 }\n'
    await writeFile(join(host.directory, 'query-service.yaml'), settings)
    const put = [`${host.directory}/query-service.yaml`, '/etc/chain-agent/']
    expect(await host.exec('install', ['-m', '0640', '-g', 'chain-query', ...put])).toMatchObject({ code: 0 })
    await host.systemctl('start', 'chain-agent-serve-query')
    for (const [name, unit] of packages) {
      expect(await host.systemctl('is-active', unit)).toBe('active')
      const verify = await host.exec('systemd-analyze', ['verify', `/usr/lib/systemd/system/${unit}.service`])
      expect(verify, name).toEqual({ code: 0, stdout: '', stderr: '' })
    }
  })

  it('the agent reads the node', async () => {
    for (const service of services) {
      await host.waitFor(1, 'chain_service_active', { service })
    }
    await host.waitFor(5, 'chain_ledger_seq_num', { event: 'proposed' })
    // Counted from the start of the agent on: blocks 6 to 25. 4 to 23 become final.
    await host.ledger.goTo(25)
    await host.see(ledgerTotals, ({ proposed, finalized }) => proposed === 20 && finalized === 20)
    expect((await host.look()).value('chain_agent_build_info', { node_version: '24.21.0' })).toBe(1)
  })

  it('a crash of execution is counted, and `check` names it', async () => {
    await host.signal('execution', 'ABRT')
    await host.waitFor(1, 'chain_service_exits_total', { service: 'execution', result: 'signal' })
    const { stdout } = await host.exec('chain-agent', ['check'])
    expect(stdout).toContain('execution')
  })
})
