import { runHost } from '../collectors/run-host.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
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

const names = (values: Record<string, number>, beginning: string): readonly string[] =>
  Object.keys(values).filter((name) => name.startsWith(beginning))

test('clock-drift: ahead, unsynchronized, behind', async () => {
  const { at } = await simulate('clock-drift')
  expect(await at(29)).toMatchObject({
    host_clock_offset_seconds: 0.0002,
    host_clock_synchronized: 1,
  })
  expect(await at(31)).toMatchObject({ host_clock_offset_seconds: 0.25 })
  expect(await at(61)).toMatchObject({ host_clock_offset_seconds: 0.6 })
  const lost = await at(151)
  expect(lost).toMatchObject({ host_clock_synchronized: 0 })
  expect(lost).not.toHaveProperty('host_clock_offset_seconds')
  expect(await at(211)).toMatchObject({ host_clock_offset_seconds: -0.04 })
})

test('host-reboot: new boot time and kernel; CPU time restarts', async () => {
  const { at } = await simulate('host-reboot')
  const before = await at(20)
  expect(before['host_boot_timestamp_seconds']).toBe(BEGIN / 1000 - 312.4 * 3600)
  expect(names(before, 'host_kernel_info')).toEqual([
    'host_kernel_info{running,6.8.0-87-generic}',
    'host_kernel_info{pending,6.8.0-88-generic}',
  ])
  expect((await at(25))['host_cpu_busy_ratio']).toBeCloseTo(0.22, 1)
  const after = await at(35)
  expect(after['host_boot_timestamp_seconds']).toBe(BEGIN / 1000 + 30)
  expect(names(after, 'host_kernel_info')).toContain('host_kernel_info{running,6.8.0-88-generic}')
  expect(after).not.toHaveProperty('host_cpu_busy_ratio')
  expect(after['service_max_file_descriptors{bft}']).toBe(524_288)
  // Read once a minute.
  expect((await at(80))['host_hugepages_free{2Mi}']).toBe(1840)
})

test('disk-filling: the bytes are written, and are absent with their file system', async () => {
  const { at } = await simulate('disk-filling')
  const wal = 'host_directory_bytes{wal}'
  expect((await at(1))[wal]).toBe(2 * 2 ** 20)
  expect((await at(62))[wal]).toBeGreaterThan(30e6)
  expect((await at(125))[wal]).toBe(62 * 2 ** 20)
  const gone = await at(190)
  expect(names(gone, 'host_filesystem_size_bytes')).toEqual(['host_filesystem_size_bytes{ledger}'])
  expect(names(gone, 'host_directory_bytes')).toEqual(['host_directory_bytes{ledger}'])
  const back = await at(275)
  expect(back[wal]).toBe(2 * 2 ** 20)
  expect(back).toHaveProperty('host_filesystem_available_bytes{wal}')
})

test('nvme-failing: hot, failing, missing, healthy', async () => {
  const { at } = await simulate('nvme-failing')
  expect(await at(29)).toMatchObject({
    'host_nvme_critical_warning{nvme0}': 0,
    'host_nvme_media_errors_total{nvme0}': 0,
    'host_nvme_used_ratio{nvme0}': 0.07,
  })
  const hot = await at(31)
  expect(hot['host_nvme_critical_warning{nvme0}']).toBe(2)
  expect(hot['host_nvme_temperature_celsius{nvme0}']).toBeGreaterThan(75)
  // 1 at the 90th second, and one more every 5 seconds
  expect(await at(101)).toMatchObject({
    'host_nvme_critical_warning{nvme0}': 4,
    'host_nvme_media_errors_total{nvme0}': 3,
    'host_nvme_used_ratio{nvme0}': 0.98,
  })
  // 4380 hours for 98 %: 89.4 hours for the other two.
  expect((await at(102))['host_nvme_endurance_eta_seconds{nvme0}']).toBeCloseTo(321_795.92, 2)
  expect(names(await at(181), 'host_nvme')).toEqual([])
  expect(names(await at(241), 'host_nvme')).toHaveLength(7)
})

test('fd-limit: the limit falls, the number of open files comes close to it', async () => {
  const { at } = await simulate('fd-limit')
  const figures = async (second: number) => {
    const values = await at(second)
    return [values['service_max_file_descriptors{bft}'], values['service_open_file_descriptors{bft}']]
  }
  expect(await figures(29)).toEqual([524_288, 143])
  expect(await figures(31)).toEqual([1024, 143])
  expect(await figures(61)).toEqual([1024, 990])
  expect(await figures(181)).toEqual([524_288, 143])
})

test('bad-kernel: first pending, then running, then replaced', async () => {
  const { at } = await simulate('bad-kernel')
  const blocked = async (second: number) => {
    const values = await at(second)
    return [values['host_kernel_blocked{running}'], values['host_kernel_blocked{pending}']]
  }
  // Read once a minute.
  expect(await blocked(1)).toEqual([0, 0])
  expect(await blocked(61)).toEqual([0, 1])
  expect(await blocked(121)).toEqual([1, 1])
  expect(await blocked(201)).toEqual([1, 0])
  expect(await blocked(261)).toEqual([0, 0])
})

test('host-slow: throttled, multithreaded, saving power, busy', async () => {
  const { at } = await simulate('host-slow')
  const before = await at(29)
  expect(before).toMatchObject({
    host_smt_active: 0,
    'host_governor_cpus{performance}': 8,
    host_cpu_throttles_total: 17,
    host_memory_available_ratio: 0.75,
    'host_pressure_stalled_seconds_total{memory}': 0,
  })
  expect(await at(40)).toMatchObject({ host_cpu_throttles_total: 37 })
  const missed = 'host_network_drops_total{enp1s0,missed}'
  // Settings are read once a minute.
  expect(await at(89)).toMatchObject({ host_smt_active: 1, [missed]: 0 })
  await at(125)
  expect((await at(130))['host_cpu_busy_ratio']).toBeCloseTo(0.91, 1)
  await at(139)
  expect((await at(141))['host_memory_available_ratio']).toBeCloseTo(0.03, 6)
  expect(names(await at(149), 'host_governor')).toEqual(['host_governor_cpus{powersave}'])
  expect((await at(240))['host_pressure_stalled_seconds_total{memory}']).toBeCloseTo(20, 0)
  // 400 a second, from the 130th second to the 240th.
  expect((await at(241))[missed]).toBe(44_000)
  expect(await at(301)).toMatchObject({ host_smt_active: 0, 'host_governor_cpus{performance}': 8 })
})

test('forkpoint-stale: suddenly old, and older with every second', async () => {
  const { at } = await simulate('forkpoint-stale')
  const age = async (second: number) =>
    BEGIN / 1000 + second - ((await at(second))['host_file_modified_timestamp_seconds{forkpoint}'] ?? 0)
  expect(await age(29)).toBeLessThan(6)
  expect(await age(31)).toBeCloseTo(2401, 3)
  expect(await age(91)).toBeCloseTo(2461, 3)
  expect(await age(242)).toBeLessThan(6)
})

test('ports-exposed: each port while it is exposed', async () => {
  const { at } = await simulate('ports-exposed')
  const exposed = async (second: number) => {
    const values = await at(second)
    return names(values, 'host_port_exposed').filter((name) => values[name] === 1)
  }
  expect(await exposed(29)).toEqual([])
  expect(await exposed(31)).toEqual(['host_port_exposed{8080}'])
  expect(await exposed(61)).toEqual(['host_port_exposed{8080}', 'host_port_exposed{8889}'])
  expect(await exposed(181)).toEqual([])
})

describe('the healthy host', () => {
  test('has each host metric, all healthy', async () => {
    const { at } = await simulate('healthy')
    await at(5)
    const values = await at(10)
    const families = Object.keys(values).map((name) => `chain_${name.replace(/\{.*/, '')}`)
    expect([...new Set(families)].toSorted()).toEqual(Object.keys(chapters.host.metrics).toSorted())
    expect(values).toMatchObject({
      'host_kernel_blocked{running}': 0,
      'host_kernel_blocked{pending}': 0,
      host_clock_synchronized: 1,
      'host_port_exposed{9143}': 0,
    })
  })
})
