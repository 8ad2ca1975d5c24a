import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildPackage, installSteps, type RootShell, rootShell } from '../support/npm-install.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const KEY = `02${'ab'.repeat(32)}`
/** npm on a busy machine, and the start of a systemd. */
const SLOW = 1_800_000

describe('the install steps of docs/how-to', () => {
  let directory: string
  let packageFile: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'chain-install-'))
    packageFile = await buildPackage(directory)
  }, SLOW)
  afterAll(async () => {
    await rm(directory, { recursive: true })
  })

  describe.each(['/usr', '/usr/local'])('with Node.js below %s', (prefix) => {
    let node: SandboxedNode
    let shell: RootShell
    let output: string
    beforeAll(async () => {
      node = await createNode('monad', { ownNetwork: true })
      shell = await rootShell(node, prefix, packageFile)
      await node.startServices('ledger-tail', 'bft')
      output = await shell(installSteps().install)
      return node.down
    }, SLOW)

    it('install the agent, start it and print its metrics', async () => {
      expect(output).toMatch(/^Every collector has run once\.$/m)
      // Nothing listens at the address of the RPC.
      expect(output).toMatch(/^chain_rpc_up 0$/m)
      expect(await shell('command -v chain-agent')).toBe(`${prefix}/bin/chain-agent`)
      expect(await node.systemctl('is-active', 'chain-agent')).toBe('active')
      expect(await node.systemctl('is-enabled', 'chain-agent')).toBe('enabled')
      expect((await shell('ls -A /etc/chain-agent')).trim()).toBe('')
    })

    it('install no other package', async () => {
      expect(await shell('ls "$(npm root --global)"')).not.toContain('duckdb')
      expect(await shell('find "$(npm root --global)/chain-agent" -name node_modules')).toBe('')
    })

    it('let `chain-agent check` find the installed configuration', async () => {
      await shell(`
        sed 's/"state":{[^}]*},//; s/"prefix":"monad",//; s#^{#{"node":{"publicKey":"${KEY}"},"references":[{"name":"provider-a","url":"http://127.0.0.1:1"}],#' config.yaml > /etc/chain-agent/config.yaml`)
      await node.systemctl('restart', 'chain-agent')
      await node.startAgent()
      const { stdout } = await node.exec('chain-agent', ['check'])
      expect(stdout).toContain('/etc/chain-agent/config.yaml')
      expect(stdout).toContain('0 of 1 references')
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(`own key ${KEY}`)
    })

    it('runs as a user of its own, reads units and journal, and finds the prefix by itself', async () => {
      await node.waitFor(1, 'chain_service_active', { service: 'bft' })
      await node.waitFor(5, 'chain_ledger_seq_num', { event: 'proposed' })
      const user = await shell('ps -o user:20= -p $(systemctl show -P MainPID chain-agent.service)')
      expect(user.trim()).toBe('chain-agent')
    })

    it('saves its journal cursors in /var/lib/chain-agent', async () => {
      expect((await shell('ls /var/lib/chain-agent/')).split('\n')).toContain('ledger.json')
      expect(await node.log()).not.toContain('Cannot save')
    })

    it('reads the storage report that the privileged unit writes, without rights of its own', async () => {
      await node.deploy('chain-agent-storage.service', 'chain-agent-storage.timer')
      await node.writeUnit(
        'chain-agent-storage.service.d/tool.conf',
        '[Service]\nEnvironment=TOOL=/usr/local/bin/monad-mpt',
      )
      // As strict as the real one about its arguments; the data is readable only by root.
      await shell(`
        printf '%s\\n' '#!/bin/sh' '[ "$*" = "--storage /dev/triedb" ] || exit 1' 'cat /opt/report' > /usr/local/bin/monad-mpt
        cp ${ROOT}test/fixtures/mpt/e-single.txt /opt/report
        chmod 755 /usr/local/bin/monad-mpt && chmod 600 /opt/report
        sed -i 's#^{#{"storage":{"interval":"500ms","reportFile":"/run/chain-agent-storage/report.txt"},#' /etc/chain-agent/config.yaml`)
      await node.systemctl('restart', 'chain-agent.service')
      const up = { collector: 'storage' }
      await node.waitFor(0, 'chain_agent_collector_up', up)
      await node.systemctl('start', 'chain-agent-storage.service')
      expect(await node.present('chain_storage_latest_block', { state: 'finalized' })).toBe(8_099_998)
      await node.systemctl('start', 'chain-agent-storage.timer')
      expect(await node.systemctl('is-active', 'chain-agent-storage.timer')).toBe('active')
    })

    it('sends its report to Alertmanager with the rights of the agent, and does so each Monday', async () => {
      const units = ['chain-agent-report.service', 'chain-agent-report.timer']
      await node.deploy(...units)
      const receiver = ['URLS=[http://127.0.0.1:9093]', 'INSTANCE=node-a'].map(
        (word) => `CHAIN_AGENT_ALERTMANAGERS_${word}`,
      )
      await node.writeUnit(
        'chain-agent-report.service.d/receiver.conf',
        `[Service]\nEnvironment=${receiver.join(' ')}\n`,
      )
      // In place of Alertmanager: it accepts everything.
      const receive =
        'let b="";q.on("data",c=>b+=c).on("end",()=>{require("fs").appendFileSync("/opt/alerts",b+"\\n");r.end()})'
      await shell(`
        systemd-run --quiet --unit=receiver "$(command -v node)" -e 'require("http").createServer((q,r)=>{${receive}}).listen(9093,"127.0.0.1")'
        timeout 60 sh -c 'until curl -s 127.0.0.1:9093; do :; done'
        systemctl start chain-agent-report.service`)
      const shown = await node.systemctl('show', '--property=Result,ExecMainStatus,User', 'chain-agent-report.service')
      expect(shown.split('\n').toSorted()).toEqual(['ExecMainStatus=0', 'Result=success', 'User=chain-agent'])
      const log = await node.log('chain-agent-report.service')
      expect(log).toMatch(/^ {2}127\.0\.0\.1:9093 {2}accepted$/m)
      // Only what nothing has recorded is unknown: it may read the journal, the state and the agent.
      expect(log).not.toMatch(/not readable|cannot be read|permission|not permitted/i)
      const [sent = ''] = (await shell('cat /opt/alerts')).split('\n').filter((line) => line.startsWith('['))
      expect(JSON.parse(sent)).toMatchObject([
        { labels: { alertname: 'ChainReport', instance: 'node-a', digest: 'true' } },
      ])
      await node.systemctl('start', 'chain-agent-report.timer')
      const next = await node.systemctl('show', '-P', 'NextElapseUSecRealtime', 'chain-agent-report.timer')
      expect(next).toMatch(/^Mon .* 08:(?:0\d|1[0-5]):\d{2} UTC$/)
      expect(await node.verify(...units)).toEqual([])
    })

    it('upgrade', async () => {
      const { upgrade } = installSteps()
      const before = await node.systemctl('show', '-P', 'MainPID', 'chain-agent')
      await shell(upgrade)
      await node.startAgent()
      expect(await node.systemctl('show', '-P', 'MainPID', 'chain-agent')).not.toBe(before)
      expect(await node.systemctl('is-active', 'chain-agent')).toBe('active')
    })

    it('is not started again over a configuration that cannot be used', async () => {
      await shell(`echo 'prefx: chain' > /etc/chain-agent/config.yaml`)
      expect(await node.exec('systemctl', ['restart', 'chain-agent.service'])).toMatchObject({ code: 1 })
      const properties = '--property=ActiveState,ExecMainStatus,NRestarts'
      const shown = await node.systemctl('show', properties, 'chain-agent.service')
      expect(shown.split('\n').toSorted()).toEqual(['ActiveState=failed', 'ExecMainStatus=2', 'NRestarts=0'])
      expect(await node.log()).toContain('did you mean prefix?')
    })

    it('has nothing that systemd complains of', async () => {
      expect(await node.verify('chain-agent.service')).toEqual([])
    })

    it('uninstall', async () => {
      await shell(installSteps().uninstall)
      expect(
        await shell(
          'ls -d /etc/chain-agent /var/lib/chain-agent /etc/systemd/system/chain-agent.service "$(npm root --global)/chain-agent" || true; command -v chain-agent || true; getent passwd chain-agent || true; getent group chain-agent || true',
        ),
      ).toBe('')
    })
  })
})
