import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { requireRealPart } from '../support/real-parts.ts'
import { probeSandbox } from '../support/sandbox.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireRealPart('sandbox', probeSandbox)

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

describe('the unit in deploy/', () => {
  let node: SandboxedNode
  const shell = async (script: string): Promise<string> => {
    const { code, stdout, stderr } = await node.exec('sh', ['-euc', script])
    if (code !== 0) throw new Error(`${script}\n${stderr}`)
    return stdout
  }

  /** As the README installs it, but for the package itself, which is put in place by a bind. */
  beforeAll(async () => {
    node = await createNode('monad')
    const unit = await readFile(
      new URL('../../deploy/chain-agent.service', import.meta.url),
      'utf8',
    )
    await node.writeUnit('chain-agent.service', unit)
    await shell(`
      useradd --system --no-create-home --shell /usr/sbin/nologin chain-agent
      mkdir -p /opt/chain-agent /etc/chain-agent
      mount --bind ${ROOT} /opt/chain-agent
      printf '#!/bin/sh\\nexec /opt/node /opt/chain-agent/dist/main.js "$@"\\n' > /usr/local/bin/chain-agent
      chmod 755 /usr/local/bin/chain-agent
      cp ${process.execPath} /opt/node
      cp ${node.directory}/config.yaml /etc/chain-agent/config.yaml
      sed -i 's/"state":{[^}]*},//; s/"prefix":"monad",//' /etc/chain-agent/config.yaml`)
    await node.systemctl('start', node.unit('ledger-tail'), node.unit('bft'))
    await node.ledger.goTo(5)
    await node.ledger.reached(5)
    await node.startAgent()
  })
  afterAll(async () => {
    await node.down()
  })

  it('runs as a user of its own, reads units and journal, and finds the prefix by itself', async () => {
    const { value } = await node.look()
    expect(value('chain_service_active', { service: 'bft' })).toBe(1)
    expect(value('chain_ledger_seq_num', { event: 'proposed' })).toBe(5)
    const user = await shell('ps -o user:20= -p $(systemctl show -P MainPID chain-agent.service)')
    expect(user.trim()).toBe('chain-agent')
  })

  it('keeps its place in /var/lib/chain-agent', async () => {
    expect((await shell('ls /var/lib/chain-agent/')).split('\n')).toContain('ledger.json')
    expect(await shell('journalctl -u chain-agent.service -o cat --no-pager')).not.toContain(
      'cannot be kept',
    )
  })

  it('reads the storage report that the privileged unit writes, without rights of its own', async () => {
    for (const name of ['chain-agent-storage.service', 'chain-agent-storage.timer']) {
      await node.writeUnit(name, await readFile(join(ROOT, 'deploy', name), 'utf8'))
    }
    await node.writeUnit(
      'chain-agent-storage.service.d/tool.conf',
      '[Service]\nEnvironment=TOOL=/usr/local/bin/monad-mpt',
    )
    // As strict as the real one about its arguments, and readable by root alone.
    await shell(`
      printf '%s\\n' '#!/bin/sh' '[ "$*" = "--storage /dev/triedb" ] || exit 1' 'cat /opt/report' > /usr/local/bin/monad-mpt
      cp ${ROOT}test/fixtures/mpt/e-single.txt /opt/report
      chmod 700 /usr/local/bin/monad-mpt && chmod 600 /opt/report
      sed -i 's#^{#{"storage":{"interval":"500ms","reportFile":"/run/chain-agent-storage/report.txt"},#' /etc/chain-agent/config.yaml`)
    await node.systemctl('restart', 'chain-agent.service')
    const up = { collector: 'storage' }
    await node.see(
      ({ value }) => value('chain_agent_collector_up', up),
      (seen) => seen === 0,
    )
    await node.systemctl('start', 'chain-agent-storage.service')
    const finalized = await node.see(
      ({ value }) => value('chain_storage_latest_block', { state: 'finalized' }),
      (seen) => seen !== undefined,
    )
    expect(finalized).toBe(8_099_998)
    await node.systemctl('start', 'chain-agent-storage.timer')
    expect(await node.systemctl('is-active', 'chain-agent-storage.timer')).toBe('active')
  })

  it('is not started again over a configuration that cannot be used', async () => {
    await shell(`echo 'prefx: chain' > /etc/chain-agent/config.yaml`)
    await node.systemctl('restart', 'chain-agent.service')
    await shell(
      'while [ "$(systemctl show -P ActiveState chain-agent.service)" = active ]; do sleep 0.1; done',
    )
    const shown = await node.systemctl(
      'show',
      '--property=ActiveState,ExecMainStatus,NRestarts',
      'chain-agent.service',
    )
    expect(shown.split('\n').toSorted()).toEqual([
      'ActiveState=failed',
      'ExecMainStatus=2',
      'NRestarts=0',
    ])
    expect(await shell('journalctl -u chain-agent.service -o cat --no-pager')).toContain(
      'did you mean prefix?',
    )
  })

  it('has nothing that systemd complains of', async () => {
    const { code, stderr } = await node.exec('systemd-analyze', ['verify', 'chain-agent.service'])
    expect({
      code,
      stderr: stderr.split('\n').filter((line) => line.includes('chain-agent')),
    }).toEqual({ code: 0, stderr: [] })
  })
})
