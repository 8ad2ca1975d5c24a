import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const JOURNAL = ['lifecycle', 'ledger', 'consensus', 'execution', 'logs']

describe('an agent that is not root', () => {
  let node: SandboxedNode

  const startAs = async (...identity: readonly string[]): Promise<void> => {
    const places = { DIRECTORY: 'home', ENVIRONMENT_FILE: 'home/.env', BACKUP_DIRECTORY: 'backup' }
    const variables = [
      ...Object.entries(places).map(([key, path]) => `NODE_${key}=${node.directory}/${path}`),
      ...['logs', 'keys', 'host'].map((name) => `${name.toUpperCase()}_INTERVAL=500ms`),
    ].map((variable) => `Environment=CHAIN_AGENT_${variable}`)
    const lines = ['[Service]', ...variables, ...identity]
    await node.writeUnit('chain-agent.service.d/user.conf', lines.join('\n'))
    await node.systemctl('restart', 'chain-agent.service')
  }
  const areUp = async (collectors: readonly string[], wanted: 0 | 1) =>
    Promise.all(collectors.map((collector) => node.waitFor(wanted, 'chain_agent_collector_up', { collector })))
  const saying = async (words: string): Promise<readonly string[]> =>
    (await node.log()).split('\n').filter((line) => line.includes(words))
  /** So many attempts of each collector that may not read the journal have failed. */
  const triesAgain = async (attempts: number): Promise<void> => {
    await node.see(
      ({ value }) => JOURNAL.map((collector) => value('chain_agent_collector_failures_total', { collector })),
      (counts) => counts.every((count) => (count ?? 0) >= attempts),
    )
  }

  beforeAll(async () => {
    node = await createNode('chain')
    // A home and a folder of backups that only their owner can read.
    for (const folder of ['home/config', 'backup']) {
      await mkdir(join(node.directory, folder), { recursive: true })
    }
    await writeFile(join(node.directory, 'home/config/id-secp'), '{}', { mode: 0o600 })
    await writeFile(join(node.directory, 'backup/secp-backup'), 'x', { mode: 0o600 })
    for (const folder of ['home', 'backup']) await chmod(join(node.directory, folder), 0o700)
    await node.startServices('bft', 'execution', 'ledger-tail')
    return node.down
  })

  it('says once of the journal what to do, however many collectors want it, and how often', async () => {
    await startAs('User=nobody')
    await areUp(JOURNAL, 0)
    await triesAgain(4)
    const told = await saying('add the user to the group systemd-journal')
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('restart the agent or log in again')
    // The other four refer to the one that told it.
    expect(await saying('this user may not read it (same as ')).toHaveLength(JOURNAL.length - 1)
  })

  it('says once of the key files what to do, and claims nothing about them', async () => {
    await areUp(['keys'], 0)
    const told = await eventually(
      () => saying('keys: Could not'),
      (lines) => lines.length > 0,
    )
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('what to do')
    expect((await node.look()).text).not.toContain('chain_key_file_state{')
  })

  it('sees all the rest: units, their limits and open files, the kernel, the ports', async () => {
    await areUp(['services', 'host'], 1)
    const { value } = await node.look()
    expect(value('chain_service_active', { service: 'bft' })).toBe(1)
    expect(value('chain_service_max_file_descriptors', { service: 'bft' })).toBeGreaterThan(0)
    expect(value('chain_host_boot_timestamp_seconds')).toBeGreaterThan(0)
    expect(value('chain_host_port_exposed', { port: '8080' })).toBeDefined()
  })

  it('reads the journal as a member of the group systemd-journal', async () => {
    await startAs('User=nobody', 'SupplementaryGroups=systemd-journal')
    await areUp(JOURNAL, 1)
    await node.waitFor(5, 'chain_ledger_seq_num', { event: 'proposed' })
  })
})
