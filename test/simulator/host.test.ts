import { runHost } from '../collectors/run-host.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { chapters } from '../../src/metrics.ts'
import { createHostTree } from '../../simulator/host/host-tree.ts'
import { pidOf } from '../../simulator/services/service.ts'
import { createChronyc } from '../../simulator/host/host.ts'
import { BEGIN, play, printed } from './play.ts'

const cleanUp: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const clear of cleanUp.splice(0)) await clear()
})

/** The collector on the files of the simulated host, with a manual clock. */
const simulate = async (scenario: string) => {
  const { node, clock, to } = await play(scenario)
  const directory = await mkdtemp(join(tmpdir(), 'chain-host-'))
  cleanUp.push(() => rm(directory, { recursive: true, force: true }))
  const nodeDirectory = join(directory, 'node')
  const tree = createHostTree(node, { clock, directory, nodeDirectory })
  const chronyc = createChronyc(node)
  const { poll, mainPids } = runHost({
    clock,
    places: tree.places,
    directories: tree.places.directories,
    nodeDirectory,
    ports: [8080, 8081, 8889, 9143],
    exec: {
      run: async ({ args }) => ({
        exitCode: 0,
        stdout: await printed(chronyc, ...args),
        stderr: '',
      }),
    },
  })
  return {
    /** The agent's metrics at a second of the scenario. */
    at: async (second: number) => {
      await to(second)
      tree.settle()
      const { bft } = node.condition().services
      mainPids.set(new Map(bft.state === 'active' ? [['bft', pidOf(bft)]] : []))
      return (await poll()).values
    },
  }
}

const ahead = (second: number): number => BEGIN / 1000 + second
const [CLOCK, WAL, FDS] = [
  'host_clock_offset_seconds',
  'host_directory_bytes{wal}',
  'service_open_file_descriptors{bft}',
]
const NVME = (name: string): string => `host_nvme_${name}{nvme0}`
const MISSED = 'host_network_drops_total{enp1s0,missed}'
const RUNNING = (release: string): string => `host_kernel_info{running,${release}}`

/** The metrics of the agent at a second of a scenario; null is absent. Settings and ports of the host are read once a minute. */
const ROWS: Readonly<Record<string, readonly (readonly [second: number, metrics: Record<string, unknown>])[]>> = {
  'clock-drift': [
    [29, { [CLOCK]: 0.0002, host_clock_synchronized: 1 }],
    [31, { [CLOCK]: 0.25 }],
    [61, { [CLOCK]: 0.6 }],
    [151, { [CLOCK]: null, host_clock_synchronized: 0 }],
    [211, { [CLOCK]: -0.04 }],
  ],
  'host-reboot': [
    [20, { host_boot_timestamp_seconds: ahead(-312.4 * 3600), [RUNNING('6.8.0-87-generic')]: 1 }],
    [25, { host_cpu_busy_ratio: expect.closeTo(0.22, 1) }],
    [35, { host_boot_timestamp_seconds: ahead(30), [RUNNING('6.8.0-88-generic')]: 1, host_cpu_busy_ratio: null }],
    [80, { 'host_hugepages_free{2Mi}': 1840 }],
  ],
  // The bytes are written, and are absent with their file system.
  'disk-filling': [
    [1, { [WAL]: 2 * 2 ** 20 }],
    [125, { [WAL]: 62 * 2 ** 20 }],
    [190, { [WAL]: null, 'host_filesystem_size_bytes{wal}': null }],
    [275, { [WAL]: 2 * 2 ** 20, 'host_filesystem_size_bytes{wal}': expect.any(Number) }],
  ],
  // A failing drive has one media error more every 5 seconds. 4380 hours for 98 %: 89.4 hours for the other two.
  'nvme-failing': [
    [29, { [NVME('critical_warning')]: 0, [NVME('media_errors_total')]: 0, [NVME('used_ratio')]: 0.07 }],
    [31, { [NVME('critical_warning')]: 2, [NVME('temperature_celsius')]: expect.closeTo(80, -1) }],
    [101, { [NVME('critical_warning')]: 4, [NVME('media_errors_total')]: 3, [NVME('used_ratio')]: 0.98 }],
    [102, { [NVME('endurance_eta_seconds')]: expect.closeTo(321_795.92, 2) }],
    [181, { [NVME('critical_warning')]: null, [NVME('used_ratio')]: null }],
    [241, { [NVME('critical_warning')]: 0 }],
  ],
  'fd-limit': [
    [29, { 'service_max_file_descriptors{bft}': 524_288, [FDS]: 143 }],
    [31, { 'service_max_file_descriptors{bft}': 1024, [FDS]: 143 }],
    [61, { [FDS]: 990 }],
    [181, { 'service_max_file_descriptors{bft}': 524_288, [FDS]: 143 }],
  ],
  'bad-kernel': [
    [1, { 'host_kernel_blocked{running}': 0, 'host_kernel_blocked{pending}': 0 }],
    [61, { 'host_kernel_blocked{running}': 0, 'host_kernel_blocked{pending}': 1 }],
    [121, { 'host_kernel_blocked{running}': 1, 'host_kernel_blocked{pending}': 1 }],
    [261, { 'host_kernel_blocked{running}': 0, 'host_kernel_blocked{pending}': 0 }],
  ],
  'host-slow': [
    [29, { host_smt_active: 0, 'host_governor_cpus{performance}': 8, host_cpu_throttles_total: 17 }],
    [40, { host_cpu_throttles_total: 37 }],
    [89, { host_smt_active: 1, [MISSED]: 0 }],
    [125, {}],
    [130, { host_cpu_busy_ratio: expect.closeTo(0.91, 1) }],
    [139, {}],
    [141, { host_memory_available_ratio: expect.closeTo(0.03, 6) }],
    [149, { 'host_governor_cpus{powersave}': 8, 'host_governor_cpus{performance}': null }],
    [240, { 'host_pressure_stalled_seconds_total{memory}': expect.closeTo(20, 0) }],
    // 400 a second, from the 130th second to the 240th.
    [241, { [MISSED]: 44_000 }],
    [301, { host_smt_active: 0, 'host_governor_cpus{performance}': 8 }],
  ],
  'forkpoint-stale': [
    [31, { 'host_file_modified_timestamp_seconds{forkpoint}': expect.closeTo(ahead(31 - 2401), 3) }],
    [91, { 'host_file_modified_timestamp_seconds{forkpoint}': expect.closeTo(ahead(91 - 2461), 3) }],
    [242, { 'host_file_modified_timestamp_seconds{forkpoint}': expect.closeTo(ahead(240), -1) }],
  ],
  'ports-exposed': [
    [31, { 'host_port_exposed{8080}': 1, 'host_port_exposed{8889}': 0 }],
    [91, { 'host_port_exposed{8080}': 1, 'host_port_exposed{8889}': 1 }],
    [181, { 'host_port_exposed{8080}': 0, 'host_port_exposed{8889}': 0 }],
  ],
}

test.each(Object.entries(ROWS))('%s', async (scenario, rows) => {
  const { at } = await simulate(scenario)
  for (const [second, expected] of rows) {
    const values = await at(second)
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, values[name] ?? null]))
    expect(found, `second ${second}`).toEqual(expected)
  }
})

test('the healthy host has each host metric', async () => {
  const { at } = await simulate('healthy')
  await at(5)
  const families = Object.keys(await at(10)).map((name) => `chain_${name.replace(/\{.*/, '')}`)
  expect([...new Set(families)].toSorted()).toEqual(Object.keys(chapters.host.metrics).toSorted())
})
