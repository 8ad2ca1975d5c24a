import { beforeAll, expect, it } from 'vitest'
import { parseUnits } from '../../src/parsers/systemctl.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'
import type { Exposition } from '../support/scrape.ts'

const describe = await requireSandbox()

describe.each(['chain', 'monad'])('the units of a node named %s', (prefix) => {
  let node: SandboxedNode

  /** Waits for a state, then returns what else the metrics have of the unit. */
  const inState = async (service: string, state: string) => {
    const isIt = ({ value }: Exposition): boolean => value('chain_service_state', { service, state }) === 1
    const { value } = await eventually(node.look, isIt)
    return {
      active: value('chain_service_active', { service }),
      expected: value('chain_service_expected', { service }),
      exit: value('chain_service_last_exit_status', { service }),
    }
  }
  const exits = (service: string, result: string) => node.waitFor(1, 'chain_service_exits_total', { service, result })

  beforeAll(async () => {
    node = await createNode(prefix)
    await node.systemctl('enable', ...['bft', 'execution', 'rpc', 'ledger-tail'].map(node.unit))
    await node.systemctl('start', ...['bft', 'execution', 'rpc', 'ledger-tail'].map(node.unit))
    await node.startAgent()
    return node.down
  })

  it('run, as systemd says', async () => {
    for (const service of ['bft', 'execution', 'rpc', 'ledger-tail']) {
      expect(await inState(service, 'active')).toMatchObject({ active: 1, expected: 1 })
    }
  })

  it('are missing where systemd does not know them', async () => {
    expect(await inState('cruft', 'not-found')).toEqual({ active: 0, expected: 0, exit: undefined })
  })

  /** The changes of the unit in the journal of the agent, as the agent wrote them, after the first. */
  const changes = async (service: string): Promise<readonly unknown[]> => {
    const lines = (await node.log()).split('\n').filter((line) => line.includes(`"subject":"${service}"`))
    return lines.slice(1).map((line): unknown => JSON.parse(line))
  }

  it('have crashed, with the signal, and the journal of the agent has it', async () => {
    expect(await changes('execution')).toEqual([])
    await node.signal('execution', 'ABRT')
    const found = await eventually(
      () => changes('execution'),
      ({ length }) => length > 0,
    )
    expect(found).toMatchObject([{ level: 'info', from: 'active', to: 'failed (signal 6)' }])
    expect(await inState('execution', 'failed')).toEqual({ active: 0, expected: 1, exit: 6 })
    expect(await exits('execution', 'signal')).toBe(1)
  })

  it('are not active after a clean exit though they are expected to be', async () => {
    await node.signal('bft', 'USR1')
    expect(await inState('bft', 'inactive')).toEqual({ active: 0, expected: 1, exit: 0 })
    expect(await exits('bft', 'success')).toBe(1)
  })

  it('have ended with an exit code', async () => {
    await node.signal('rpc', 'USR2')
    expect(await inState('rpc', 'failed')).toEqual({ active: 0, expected: 1, exit: 3 })
    expect(await exits('rpc', 'exit-code')).toBe(1)
  })

  it('are restarted, and each start is counted once', async () => {
    const starts = ({ value }: Exposition) => value('chain_service_starts_total', { service: 'execution' })
    expect(starts(await node.look())).toBe(0)
    await node.systemctl('start', node.unit('execution'))
    expect(await node.see(starts, (count) => count !== 0)).toBe(1)
    // A restart too short for a poll to see the unit down.
    await node.systemctl('restart', node.unit('execution'))
    expect(await node.see(starts, (count) => count !== 1)).toBe(2)
    // Both sources have been read by now: the poll and the journal.
    await node.systemctl('restart', node.unit('ledger-tail'))
    await node.waitFor(1, 'chain_service_starts_total', { service: 'ledger-tail' })
    expect(starts(await node.look())).toBe(2)
  })

  it('are restarted in part, until execution is restarted too', async () => {
    await node.systemctl('start', node.unit('bft'))
    await inState('bft', 'active')
    await node.systemctl('restart', node.unit('bft'))
    await node.waitFor(1, 'chain_service_partial_restart')
    await node.systemctl('restart', node.unit('execution'))
    await node.waitFor(0, 'chain_service_partial_restart')
  })

  it('are counted though they started and crashed while the agent was away', async () => {
    await node.systemctl('stop', 'chain-agent.service')
    await node.systemctl('start', node.unit('rpc'))
    await node.signal('rpc', 'ABRT')
    await node.startAgent()
    expect(await exits('rpc', 'signal')).toBe(1)
    const { value } = await node.look()
    expect(value('chain_service_starts_total', { service: 'rpc' })).toBe(1)
    expect(value('chain_service_starts_total', { service: 'bft' })).toBe(0)
  })
})

describe('with an hour between two polls, a change is seen by its watch', () => {
  let node: SandboxedNode

  /** Waits until the metrics have the unit in this state. */
  const expectState = async (service: string, state: string): Promise<void> => {
    await node.waitFor(1, 'chain_service_state', { service, state })
  }
  /** When systemd started the main process, in seconds since the epoch. */
  const startOf = async (service: string): Promise<number> => {
    const args = ['show', '--timestamp=us+utc', '--property=ExecMainStartTimestamp', '--value', node.unit(service)]
    const [unit] = parseUnits(`ActiveState=active\nExecMainStartTimestamp=${await node.systemctl(...args)}`)
    return (unit?.startedAt ?? Number.NaN) / 1000
  }
  const seeLog = async (text: string): Promise<string> => eventually(node.log, (log) => log.includes(text))

  beforeAll(async () => {
    const often = { interval: '500ms' }
    const rpc = { url: `http://127.0.0.1:${await freePort()}`, ...often }
    const config = { rpc, services: { interval: '1h' } }
    node = await createNode('chain', { config })
    await node.systemctl('start', ...['bft', 'execution'].map(node.unit))
    await node.startAgent()
    await expectState('bft', 'active')
    return node.down
  })

  it('all units are watched', async () => {
    expect(await seeLog('"subject":"unit changes"')).toContain('"subject":"unit changes","to":"seen at once"')
  })

  it('a stop and a start', async () => {
    await node.systemctl('stop', node.unit('bft'))
    await expectState('bft', 'inactive')
    await node.systemctl('start', node.unit('bft'))
    await expectState('bft', 'active')
  })

  it('a killed process, also of the control group that was created again', async () => {
    await node.signal('bft', 'KILL')
    await expectState('bft', 'failed')
    await node.systemctl('start', node.unit('bft'))
    await expectState('bft', 'active')
    await node.signal('bft', 'KILL')
    await expectState('bft', 'failed')
  })

  it('two restarts in quick succession', async () => {
    await node.systemctl('restart', node.unit('execution'))
    await node.systemctl('restart', node.unit('execution'))
    const startedAt = await startOf('execution')
    await node.waitFor(startedAt, 'chain_service_start_timestamp_seconds', { service: 'execution' })
  })

  it('the first start of a unit', async () => {
    await node.systemctl('start', node.unit('rpc'))
    await expectState('rpc', 'active')
  })

  it('a unit that is installed, started, removed and masked', async () => {
    await expectState('cruft', 'not-found')
    await node.writeUnit(node.unit('cruft'), '[Service]\nExecStart=/bin/sleep infinity\n')
    await expectState('cruft', 'inactive')
    await node.systemctl('start', node.unit('cruft'))
    await expectState('cruft', 'active')
    await node.systemctl('stop', node.unit('cruft'))
    await node.exec('rm', [`/etc/systemd/system/${node.unit('cruft')}`])
    await node.systemctl('mask', node.unit('cruft'))
    await seeLog('"to":"masked (not enabled)"')
  })

  it('a unit that is enabled', async () => {
    await node.systemctl('enable', node.unit('ledger-tail'))
    await node.waitFor(1, 'chain_service_expected', { service: 'ledger-tail' })
  })
})
