import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { release } from 'node:os'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const HOME = '/home/monad/monad-bft'

describe('what the unit in deploy/ lets the agent see of its host', () => {
  let node: SandboxedNode
  const known = async (): Promise<readonly string[]> => {
    const { text } = await node.look()
    return [...new Set([...text.matchAll(/^(chain_host_\w+)/gm)].map(([, name = '']) => name))]
  }

  beforeAll(async () => {
    node = await createNode('monad')
    await node.deploy('chain-agent.service', 'chain-agent-smart.service', 'chain-agent-smart.timer')
    await node.install('chain-agent')
    await node.shell(`
      useradd --create-home monad
      mkdir -p ${HOME}/ledger ${HOME}/wal ${HOME}/config/forkpoint
      head -c 100000 /dev/urandom > ${HOME}/wal/wal.0
      touch ${HOME}/config/forkpoint/forkpoint.toml ${HOME}/config/node.toml
      touch -d '2026-03-01 12:00:00 UTC' ${HOME}/config/forkpoint/forkpoint.toml
      chown -R monad: /home/monad && chmod 700 /home/monad
      mkdir -p /opt/sys/class/nvme/nvme0 /opt/boot
      touch /opt/boot/vmlinuz-6.8.0-58-generic
      echo 'ACME Drive 960' > /opt/sys/class/nvme/nvme0/model
      echo AC18 > /opt/sys/class/nvme/nvme0/firmware_rev
      sed 's/"state":{[^}]*},//; s/"prefix":"monad",//; s#^{#{"host":{"interval":"500ms","sysfs":"/opt/sys","bootDirectory":"/opt/boot","smartDirectory":"/run/chain-agent-smart"},#' ${node.directory}/config.yaml > /etc/chain-agent/config.yaml`)
    await node.startServices('ledger-tail', 'bft')
    await node.startAgent()
    return node.down
  })

  it('kernel, load, ports and the limits of other users; nothing under /home', async () => {
    const limit = await node.present('chain_service_max_file_descriptors', { service: 'bft' })
    const pid = await node.systemctl('show', '-P', 'MainPID', node.unit('bft'))
    expect(limit).toBe(Number(await node.shell(`awk '/^Max open files/ {print $4}' /proc/${pid}/limits`)))
    const { value } = await node.look()
    expect(value('chain_host_boot_timestamp_seconds')).toBeGreaterThan(0)
    expect(value('chain_host_kernel_info', { kernel: 'running', release: release() })).toBe(1)
    expect(value('chain_host_kernel_blocked', { kernel: 'pending' })).toBe(1)
    expect(value('chain_host_port_exposed', { port: '8080' })).toBe(0)
    expect(value('chain_host_nvme_info', { device: 'nvme0' })).toBe(1)
    expect(value('chain_host_filesystem_size_bytes', { directory: '/' })).toBeGreaterThan(0)
    expect(value('chain_host_filesystem_size_bytes', { directory: '/var/log' })).toBeGreaterThan(0)
    expect(value('chain_host_filesystem_size_bytes', { directory: 'ledger' })).toBeUndefined()
    const names = await known()
    expect(names).not.toContain('chain_host_file_modified_timestamp_seconds')
    expect(names).not.toContain('chain_host_nvme_critical_warning')
    const log = await node.log()
    expect(log).toMatch(/file system of wal.*docs\/how-to\/host\.md/)
    expect(log).toMatch(/nvme0: no fresh report.*chain-agent-smart/)
  })

  it('the open files of other users, where the kernel tells them', async () => {
    const [major = 0, minor = 0] = release().split('.').map(Number)
    const { value } = await node.look()
    const count = value('chain_service_open_file_descriptors', { service: 'bft' })
    if (major > 6 || (major === 6 && minor >= 2)) expect(count).toBeGreaterThan(0)
    else expect(count).toBeUndefined()
  })

  it('the health of drives, which the other unit asks for', async () => {
    await node.shell(`
      printf '%s\\n' '#!/bin/sh' '[ "$*" = "-j -a /dev/nvme0" ] || exit 2' 'cat /opt/health; exit 8' > /usr/local/bin/smartctl
      cp ${ROOT}test/fixtures/host/smart-failing.json /opt/health
      chmod 755 /usr/local/bin/smartctl
      [ -e /dev/nvme0 ] || mknod /dev/nvme0 c 1 3`)
    await node.systemctl('start', 'chain-agent-smart.service')
    expect(await node.present('chain_host_nvme_critical_warning', { device: 'nvme0' })).toBe(5)
    expect((await node.look()).value('chain_host_nvme_used_ratio', { device: 'nvme0' })).toBe(1.31)
    const listed = await node.shell('stat -c "%a %U %G" /run/chain-agent-smart/nvme0.json')
    expect(listed.trim()).toBe('640 chain-agent chain-agent')
    await node.systemctl('start', 'chain-agent-smart.timer')
    expect(await node.systemctl('is-active', 'chain-agent-smart.timer')).toBe('active')
  })

  it('with the drop-in four directories of a closed home, and no key', async () => {
    const text = await readFile(join(ROOT, 'deploy/chain-agent-files.conf'), 'utf8')
    await node.writeUnit('chain-agent.service.d/files.conf', text)
    await node.systemctl('restart', 'chain-agent.service')
    expect(await node.present('chain_host_directory_bytes', { directory: 'wal' })).toBeGreaterThanOrEqual(100_000)
    const { value } = await node.look()
    expect(value('chain_host_filesystem_size_bytes', { directory: 'ledger' })).toBeGreaterThan(0)
    expect(value('chain_host_file_modified_timestamp_seconds', { file: 'forkpoint' })).toBe(
      Date.UTC(2026, 2, 1, 12) / 1000,
    )
    expect(value('chain_host_file_modified_timestamp_seconds', { file: 'node' })).toBeUndefined()
    const pid = await node.systemctl('show', '-P', 'MainPID', 'chain-agent.service')
    const seen = await node.shell(`find /proc/${pid}/root/home -mindepth 1 | sort`)
    expect(
      seen
        .trim()
        .split('\n')
        .filter((path) => path.includes('/config/')),
    ).toEqual(['forkpoint', 'forkpoint/forkpoint.toml'].map((path) => `/proc/${pid}/root${HOME}/config/${path}`))
  })

  it('has nothing that systemd complains of', async () => {
    const units = ['chain-agent.service', 'chain-agent-smart.service', 'chain-agent-smart.timer']
    expect(await node.verify(...units)).toEqual([])
  })
})
