import { expect, onTestFinished, test } from 'vitest'
import { contentionChecks } from '../../src/collectors/host/contention.ts'
import { runAll } from '../../src/collectors/host/host-check.ts'
import { createFileTree } from '../../src/sources/file-tree.ts'
import { manualClock } from '../support/manual-clock.ts'
import { createTree } from './run-host.ts'

const routeOf = (device: string): string =>
  'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n' +
  `${device}\t00000000\t0101000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n`

test.each([
  ['vlan7', { 'vlan7/lower_bond0/x': '', 'bond0/bonding/mode': '' }, 'bond0'],
  ['vlan7', { 'vlan7/lower_eno1/x': '', 'eno1/device/vendor': '' }, 'eno1'],
  ['br0', { 'br0/lower_eno1/x': '', 'br0/lower_vnet0/x': '', 'eno1/device/vendor': '' }, undefined],
  // In a container.
  ['eth0', { 'eth0/mtu': '1500' }, undefined],
])('packets of the default route through %s are those of its card', async (device, files, card) => {
  const tree = await createTree({ 'proc/net/route': routeOf(device) })
  onTestFinished(tree.clear)
  for (const name of [device, 'bond0', 'eno1']) await tree.put(`sys/class/net/${name}/statistics/rx_packets`, '77\n')
  for (const [path, text] of Object.entries(files)) await tree.put(`sys/class/net/${path}`, text)
  const [procfs, sysfs] = ['proc', 'sys'].map((name) => createFileTree(`${tree.root}/${name}`))
  if (!procfs || !sysfs) throw new Error('no tree')
  const checks = contentionChecks({ procfs, sysfs, timeout: 8000 }).filter(({ name }) => name === 'network card')
  const results = await runAll(checks, { clock: manualClock(), signal: new AbortController().signal })
  const { samples, state } = results.get('network card') ?? {}
  expect(samples?.map(({ labels, value }) => [labels, value])).toEqual(
    card === undefined ? [] : [[{ device: card }, 77]],
  )
  expect(state).toBe(card === undefined ? `unknown: ${device} of the default route is no network card` : 'known')
})
