import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const SERVICES = ['bft', 'execution', 'rpc', 'ledger-tail']

const documentSchema = z.object({ from: z.string(), sections: z.record(z.string(), z.record(z.string(), z.unknown())) })

describe('status on real systemd and journald', () => {
  let node: SandboxedNode

  /** The command as an operator runs it, on the host of the node. */
  const status = async (...words: readonly string[]): Promise<string> => {
    const { stdout, stderr, code } = await node.run('status', ...words)
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    return stdout
  }
  const sections = async (...words: readonly string[]) =>
    documentSchema.parse(JSON.parse(await status('--json', ...words)))
  const show = async (service: string, property: string): Promise<string> =>
    node.systemctl('show', '--value', `--property=${property}`, node.unit(service))

  beforeAll(async () => {
    node = await createNode('maker')
    await node.systemctl('enable', ...SERVICES.map(node.unit))
    await node.systemctl('start', ...SERVICES.map(node.unit))
    await node.startAgent()
    return node.down
  })

  it('a service alone, as systemd has it', async () => {
    const lines = await status('bft')
    expect(lines).toContain('\nmaker-bft\n')
    expect(lines).toMatch(/^ {2}state +running$/m)
    expect(lines).toMatch(/^ {2}enabled +enabled$/m)
    expect(lines).toMatch(new RegExp(`^  pid +${await show('bft', 'MainPID')}$`, 'm'))
    expect(lines).toMatch(/^ {2}last exit +none, according to systemd$/m)
  })

  it("the newest line of a service's log, as journald has it", async () => {
    const args = ['-u', node.unit('ledger-tail'), '-n', '1', '-o', 'json', '--merge']
    const newest = async (): Promise<string> => {
      const { stdout } = await node.exec('journalctl', args)
      const entry = z.object({ __REALTIME_TIMESTAMP: z.string() }).parse(JSON.parse(stdout))
      return new Date(Math.floor(Number(entry.__REALTIME_TIMESTAMP) / 1000)).toISOString()
    }
    await node.ledger.goTo(30)
    await node.ledger.reached(30)
    const told = await eventually(
      async () => ({
        journald: await newest(),
        status: (await sections('maker-ledger-tail')).sections['maker-ledger-tail'],
      }),
      ({ journald, status: ours }) => ours?.['newestLineAt'] === journald,
    )
    expect(told.status).toMatchObject({ state: 'running', newestLineAt: told.journald })
  })

  it('a service that was killed: by what, and when', async () => {
    await node.signal('bft', 'ABRT')
    await eventually(
      async () => (await sections('bft')).sections['maker-bft'],
      (bft) => bft?.['state'] === 'failed',
    )
    const lines = await status('bft')
    expect(lines).toMatch(/^ {2}last exit +killed by SIGABRT$/m)
    expect(lines).toMatch(/^ {2}result +x signal$/m)
    expect(lines).toMatch(/^ {2}pid +none$/m)
    const { from, sections: found } = await sections('services')
    expect(from).toBe('agent')
    expect(found['services']).toMatchObject({
      'maker-bft': { state: 'failed', active: false, lastExit: 'killed by SIGABRT' },
      'maker-execution': { state: 'running', active: true },
    })
  })
})
