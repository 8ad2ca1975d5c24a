import { beforeAll, expect, it } from 'vitest'
import { namesOf, replaySchema } from '../support/replayed.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()

describe('looking back, under a real systemd and journald', () => {
  let node: SandboxedNode
  const exits = async (many: number): Promise<void> => {
    await node.waitFor(many, 'chain_service_exits_total', { service: 'bft', result: 'signal' })
  }

  beforeAll(async () => {
    node = await createNode('zephyr', { millisecondsPerBlock: 400 })
    for (const service of ['bft', 'execution', 'ledger-tail']) await node.systemctl('start', node.unit(service))
    await node.startAgent()
    await exits(0)
    await node.signal('bft', 'KILL')
    await exits(1)
    return node.down
  })

  it('replay finds in the journal what happened, and nothing before it began', async () => {
    const { code, stdout, stderr } = await node.run('replay', '--since', '1h', '--json')
    expect(stderr).toBe('')
    const { incidents } = replaySchema.parse(JSON.parse(stdout))
    expect(namesOf(incidents)).toEqual([['warning ChainServiceCrashed bft signal']])
    expect(incidents[0]?.alerts[0]?.summary).toContain('ended 1 times within 10 minutes with the result signal')
    expect(code).toBe(1)
  })

  it('of a stretch before it there is nothing to judge', async () => {
    const { code, stdout, stderr } = await node.run('replay', '--since', '3h', '--until', '2h')
    expect(stderr).toContain('there is no entry of the zephyr units in that time range')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  })

  it('events tell what the agent saw, and a kill of the agent neither loses nor repeats any', async () => {
    const before = await node.run('events', '--collector', 'services', '--all')
    expect(before.stdout).toMatch(/bft: active\n[^]*bft: active -> failed \(signal 9\)/)
    await node.systemctl('kill', '--kill-whom=main', '--signal=KILL', 'chain-agent.service')
    const file = await node.run('events', '--collector', 'services', '--all')
    expect(file.stdout).toContain(': no agent is running\n')
    const changes = (text: string): readonly string[] => text.split('\n').slice(1)
    expect(changes(file.stdout)).toEqual(changes(before.stdout))
    await node.startAgent()
    const after = await node.run('events', '--collector', 'services', '--all')
    expect(changes(after.stdout)).toEqual(changes(before.stdout))
  })
})
