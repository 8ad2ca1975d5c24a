import { afterAll, beforeAll, expect, it } from 'vitest'
import { requireRealPart } from '../support/real-parts.ts'
import { probeSandbox } from '../support/sandbox.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireRealPart('sandbox', probeSandbox)

describe('an agent that is not root', () => {
  let node: SandboxedNode

  const startAs = async (...identity: readonly string[]): Promise<void> => {
    await node.writeUnit('chain-agent.service.d/user.conf', ['[Service]', ...identity].join('\n'))
    await node.systemctl('restart', 'chain-agent.service')
  }
  const isUp = async (collector: string, wanted: 0 | 1) =>
    node.see(
      ({ value }) => value('chain_agent_collector_up', { collector }),
      (up) => up === wanted,
    )

  beforeAll(async () => {
    node = await createNode('chain')
    await node.systemctl('start', node.unit('ledger-tail'))
    await node.ledger.goTo(5)
    await node.ledger.reached(5)
  })
  afterAll(async () => {
    await node.down()
  })

  it('sees the services, and says that it may not read the journal', async () => {
    await startAs('User=nobody')
    expect(await isUp('ledger', 0)).toBe(0)
    expect(await isUp('services', 1)).toBe(1)
    const log = ['-u', 'chain-agent.service', '-o', 'cat', '--no-pager']
    expect((await node.exec('journalctl', log)).stdout).toContain('group systemd-journal')
  })

  it('reads the journal as a member of the group systemd-journal', async () => {
    await startAs('User=nobody', 'SupplementaryGroups=systemd-journal')
    expect(await isUp('ledger', 1)).toBe(1)
    expect((await node.look()).value('chain_ledger_seq_num', { event: 'proposed' })).toBe(5)
  })
})
