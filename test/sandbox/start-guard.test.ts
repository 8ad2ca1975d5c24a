import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listening } from '../support/http.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const KEY = `02${'ab'.repeat(32)}`

describe('the drop-in of the start guard', () => {
  let node: SandboxedNode
  let isSigning = false
  let closeAgent: () => Promise<void>

  const start = async () =>
    node.systemctl('start', node.unit('bft')).then(
      () => 'started',
      () => 'refused',
    )
  const stop = async () => node.systemctl('stop', node.unit('bft'))

  beforeAll(async () => {
    // The agent of the other host.
    const other = createServer((_, response) => {
      response.end(`chain_duty_identity_active{identity="${KEY}",boot="${'c'.repeat(32)}"} ${isSigning ? 1 : 0}\n`)
    })
    const { url, close } = await listening(other)
    closeAgent = close
    node = await createNode('chain', { config: { node: { publicKey: KEY }, startGuard: { agents: [url] } } })
    // There is no user of the agent, and the program is that of the build.
    const guard = node.commandLine('start-guard').join(' ')
    const dropIn = (await readFile('deploy/start-guard.conf', 'utf8')).replace(
      /setpriv .* chain-agent start-guard/,
      guard,
    )
    await node.writeUnit('chain-bft.service.d/start-guard.conf', dropIn)
    await node.writeUnit('chain-bft.service.d/limit.conf', '[Unit]\nStartLimitIntervalSec=0\n')
    // As if it were enabled: systemd keeps in memory what it has to start.
    await node.systemctl('add-wants', 'multi-user.target', node.unit('bft'))
    await node.systemctl('daemon-reload')
  })
  afterAll(async () => {
    await node.down()
    await closeAgent()
  })

  it('refuses each start while the other host signs, with a line in the journal, and allows one with the override', async () => {
    expect(await start()).toBe('started')
    await stop()
    const activeExit = () => node.systemctl('show', '-P', 'ActiveExitTimestampMonotonic', node.unit('bft'))
    const endedAt = await activeExit()
    expect(Number(endedAt)).toBeGreaterThan(0)
    isSigning = true
    expect([await start(), await start()]).toEqual(['refused', 'refused'])
    expect(await activeExit()).toBe(endedAt)
    expect(await node.shell('journalctl -u chain-bft.service -p err -o cat --no-pager')).toMatch(
      /^start guard: START REFUSED: another host signs with the key 02abab\.\.abab: agent 127\.0\.0\.1:\d+ reports/m,
    )
    await node.run('start-guard', '--override')
    expect(await start()).toBe('started')
    await stop()
    expect(await start()).toBe('refused')
    isSigning = false
    expect(await start()).toBe('started')
  })
})
