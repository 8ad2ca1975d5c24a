import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createDiskUsage } from '../../src/sources/file-tree.ts'
import { manualClock } from '../support/manual-clock.ts'
import { createTree, programs, runHost } from './run-host.ts'

const fixture = (name: string): string => readFileSync(new URL(`../fixtures/host/${name}`, import.meta.url), 'utf8')

const BEGIN = Date.UTC(2026, 2, 1, 12)
const cpu = 'sys/devices/system/cpu'
const HEAD = fixture('tcp.txt').split('\n')[0] ?? ''

const routeOf = (device: string): string =>
  'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n' +
  `${device}\t00000000\t0101000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\n`

/** Two CPU packages, two drives, one service. */
const FILES = {
  'proc/meminfo': 'MemTotal:             16 kB\nMemFree:               1 kB\nMemAvailable:          4 kB\n',
  'proc/stat': 'cpu  100 0 0 900 0 0 0 0 0 0\nbtime 1772280000\n',
  'proc/net/tcp': `${HEAD}\n  0: 0100007F:1F90 00000000:0000 0A\n  1: 0302010A:23B7 00000000:0000 0A\n`,
  'proc/sys/kernel/osrelease': '6.8.0-57-generic\n',
  'proc/700/limits': fixture('limits-1024.txt'),
  'proc/700/fd/0': '',
  'proc/700/fd/1': '',
  'proc/700/fd/7': '',
  'proc/pressure/cpu': 'some avg10=1.20 avg300=0.70 total=2500000\nfull avg10=0.00 avg300=0.00 total=0\n',
  'proc/pressure/io': 'some avg10=0.10 avg300=0.00 total=1250000\nfull avg10=0.10 avg300=0.00 total=750000\n',
  'proc/net/snmp': 'Tcp: InSegs\nTcp: 5\nUdp: InDatagrams InErrors RcvbufErrors SndbufErrors\nUdp: 900 8 7 2\n',
  'proc/net/route': [
    `${routeOf('eno2').replace('\t100\t', '\t200\t')}eno1\t00000000\t0101000A\t0003\t0\t0\t100\t00000000\t0\t0\t0`,
    'eno3\t00000000\t0102000A\t0002\t0\t0\t0\t00000000\t0\t0\t0',
    'eno4\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0\n',
  ].join('\n'),
  'sys/class/net/eno1/device/vendor': '0x8086\n',
  'sys/class/net/eno1/statistics/rx_packets': '5000\n',
  'sys/class/net/eno1/statistics/rx_missed_errors': '21\n',
  'sys/class/net/eno1/statistics/rx_errors': '4\n',
  'sys/class/net/eno2/statistics/rx_packets': '1\n',
  'proc/sys/net/core/rmem_max': '62500000\n',
  'proc/sys/net/core/wmem_max': '212992\n',
  'proc/vmstat': 'nr_free_pages 77\noom_kill 3\noom_kill_other 9\n',
  'boot/vmlinuz-6.8.0-57-generic': '',
  'boot/vmlinuz-6.8.0-101-generic': '',
  [`${cpu}/smt/active`]: '1\n',
  [`${cpu}/cpu0/cpufreq/scaling_governor`]: 'performance\n',
  [`${cpu}/cpu1/cpufreq/scaling_governor`]: 'powersave\n',
  [`${cpu}/cpu2/cpufreq/scaling_governor`]: 'performance\n',
  [`${cpu}/cpu0/thermal_throttle/package_throttle_count`]: '10\n',
  [`${cpu}/cpu1/thermal_throttle/package_throttle_count`]: '10\n',
  [`${cpu}/cpu2/thermal_throttle/package_throttle_count`]: '4\n',
  [`${cpu}/cpu0/topology/physical_package_id`]: '0\n',
  [`${cpu}/cpu1/topology/physical_package_id`]: '0\n',
  [`${cpu}/cpu2/topology/physical_package_id`]: '1\n',
  [`${cpu}/cpufreq/boost`]: '1\n',
  'sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages': '2048\n',
  'sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages': '11\n',
  'sys/class/nvme/nvme0/model': 'ACME Drive 3840                         \n',
  'sys/class/nvme/nvme0/firmware_rev': 'AC20\n',
  'sys/class/nvme/nvme0/hwmon3/temp1_input': '47850\n',
  'sys/class/nvme/nvme1/model': 'ACME Drive 960\n',
  'sys/class/nvme/nvme1/firmware_rev': 'AC18\n',
  'sys/class/nvme/nvme1/device/hwmon/hwmon4/temp1_input': '81000\n',
  'node/ledger/1.body': 'x'.repeat(5000),
  'node/wal/wal.0': '',
}

const start = async (answers: Parameters<typeof programs>[0] = {}, firewalledPorts: readonly number[] = []) => {
  const tree = await createTree(FILES)
  await tree.put('node/config/node.toml', '', BEGIN - 86_400_000)
  await tree.put('smart/nvme0.json', fixture('smart-well.json'), BEGIN - 60_000)
  await tree.put('smart/nvme1.json', fixture('smart-failing.json'), BEGIN - 301_000)
  const clock = manualClock(BEGIN)
  const { commands, exec } = programs(answers)
  const at = (name: string): string => join(tree.root, name)
  const collector = runHost({
    clock,
    exec,
    places: { procfs: at('proc'), sysfs: at('sys'), bootDirectory: at('boot'), smartDirectory: at('smart') },
    directories: { ledger: at('node/ledger'), wal: at('node/wal'), gone: at('node/gone') },
    nodeDirectory: at('node'),
    firewalledPorts,
  })
  collector.mainPids.current = new Map([['bft', 700]])
  return { ...collector, tree, clock, commands }
}

const TRACKING = { 'chronyc -c tracking': fixture('chrony-tracking.txt') }
const without = (values: Record<string, number>, ...beginnings: readonly string[]) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !beginnings.some((one) => name.startsWith(one))))

test('exports what the host provides, and nothing else', async () => {
  const { poll } = await start(TRACKING)
  const { values, states } = await poll()
  expect(without(values, 'host_filesystem', 'host_directory_bytes{ledger}')).toEqual({
    'host_kernel_info{running,6.8.0-57-generic}': 1,
    'host_kernel_blocked{running}': 1,
    'host_kernel_info{pending,6.8.0-101-generic}': 1,
    'host_kernel_blocked{pending}': 0,
    host_boot_timestamp_seconds: 1_772_280_000,
    host_smt_active: 1,
    'host_governor_cpus{performance}': 2,
    'host_governor_cpus{powersave}': 1,
    // Two CPUs report the 10 of the first package: 10 + 4.
    host_cpu_throttles_total: 14,
    host_memory_available_bytes: 4096,
    host_memory_available_ratio: 0.25,
    'host_hugepages{2Mi}': 2048,
    'host_hugepages_free{2Mi}': 11,
    'host_pressure_waiting_seconds_total{cpu}': 2.5,
    'host_pressure_waiting_seconds_total{io}': 1.25,
    'host_pressure_stalled_seconds_total{io}': 0.75,
    host_udp_received_total: 900,
    'host_udp_errors_total{receive_buffer}': 7,
    'host_udp_errors_total{send_buffer}': 2,
    'host_network_received_total{eno1}': 5000,
    'host_network_drops_total{eno1,missed}': 21,
    'host_network_drops_total{eno1,error}': 4,
    'host_socket_buffer_max_bytes{receive}': 62_500_000,
    'host_socket_buffer_max_bytes{send}': 212_992,
    host_oom_kills_total: 3,
    host_clock_synchronized: 1,
    host_clock_offset_seconds: 0.000041208,
    'host_port_exposed{8080}': 0,
    'host_port_exposed{9143}': 1,
    'host_directory_bytes{wal}': 0,
    'host_file_modified_timestamp_seconds{node}': BEGIN / 1000 - 86_400,
    'host_nvme_info{nvme0,ACME Drive 3840,AC20}': 1,
    'host_nvme_info{nvme1,ACME Drive 960,AC18}': 1,
    'host_nvme_temperature_celsius{nvme0}': 47.85,
    'host_nvme_temperature_celsius{nvme1}': 81,
    'host_nvme_critical_warning{nvme0}': 0,
    'host_nvme_media_errors_total{nvme0}': 0,
    'host_nvme_used_ratio{nvme0}': 0.03,
    'host_nvme_written_bytes_total{nvme0}': 159_851_453_952_000,
    'service_max_file_descriptors{bft}': 1024,
    'service_open_file_descriptors{bft}': 3,
  })
  // 5000 bytes take at least two blocks of 4096 where files are stored as they are.
  expect(values['host_directory_bytes{ledger}']).toBeGreaterThanOrEqual(4096)
  expect(values['host_filesystem_size_bytes{wal}']).toBeGreaterThan(
    values['host_filesystem_available_bytes{wal}'] ?? Infinity,
  )
  expect(states).toMatchObject({
    'host, kernel': '6.8.0-57-generic, and the node hangs on it',
    'host, ports': 'exposed: 9143',
    'host, clock': 'synchronized according to chrony',
    'host, frequency governor': 'performance, powersave',
  })
  expect(states['host, file system of gone']).toContain('not found')
  expect(states['host, health of drives']).toMatch(/^nvme1: no fresh report; see /)
})

test('a drive without a sensor, a clock of 1970 and a counter that was never set are unknown; the others are known', async () => {
  const { poll, tree } = await start(TRACKING)
  const before = Object.keys((await poll()).values)
  // 0 K, as drivers/nvme/host/hwmon.c of Linux converts it.
  await tree.put('sys/class/nvme/nvme0/hwmon3/temp1_input', '-273150\n')
  await tree.put('sys/class/nvme/nvme1/device/hwmon/hwmon4/temp1_input', '45000\n')
  await tree.put('proc/stat', 'cpu  200 0 0 1800 0 0 0 0 0 0\nbtime 42\n')
  await tree.put('sys/class/net/eno1/statistics/rx_errors', '18446744073709551615\n')
  const { values, states } = await poll()
  expect(before.filter((name) => !(name in values)).toSorted()).toEqual([
    'host_boot_timestamp_seconds',
    'host_network_drops_total{eno1,error}',
    'host_nvme_temperature_celsius{nvme0}',
  ])
  expect(states['host, temperature of drives']).toBe('nvme0: not available')
})

test('a check that fails does not affect the others', async () => {
  const { poll, tree, clock } = await start(TRACKING)
  const before = Object.keys((await poll()).values)
  await tree.put('proc/stat', 'invalid\n')
  await tree.put('proc/net/tcp', 'invalid\n')
  await tree.put('sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages', 'many\n')
  await tree.put('sys/class/nvme/nvme0/hwmon3/temp1_input', '')
  await tree.put('smart/nvme0.json', 'invalid', BEGIN)
  await tree.remove('boot')
  await clock.advance(60_000)
  const { values, states } = await poll()
  expect(before.filter((name) => !(name in values)).toSorted()).toEqual([
    'host_boot_timestamp_seconds',
    'host_hugepages_free{2Mi}',
    'host_hugepages{2Mi}',
    'host_kernel_blocked{pending}',
    'host_kernel_info{pending,6.8.0-101-generic}',
    'host_nvme_critical_warning{nvme0}',
    'host_nvme_media_errors_total{nvme0}',
    'host_nvme_temperature_celsius{nvme0}',
    'host_nvme_used_ratio{nvme0}',
    'host_nvme_written_bytes_total{nvme0}',
    'host_port_exposed{8080}',
    'host_port_exposed{9143}',
  ])
  expect(states).toMatchObject({ 'host, not available': 'kernel after a reboot' })
  expect(states['host, boot time']).toContain('not known: could not parse')
})

test('a host without these files has no values', async () => {
  const { root } = await createTree({})
  const { poll } = runHost({ clock: manualClock(), places: root, directories: { wal: `${root}/wal` } })
  const { values, states } = await poll()
  expect(values).toEqual({})
  expect(states['host, clock']).toContain('not known: could not run timedatectl')
})

test('a service that has exited or is hidden, or is unknown to systemd, has no limits', async () => {
  const { poll, mainPids, tree } = await start()
  await tree.remove('proc/700')
  const { values, states } = await poll()
  expect(without(values, 'host_')).toEqual({})
  for (const name of ['limits of services', 'open files of services'])
    expect(states[`host, ${name}`]).toMatch(/^the processes are not visible: .*hidepid/)
  mainPids.current = new Map()
  expect((await poll()).states['host, limits of services']).toBe('no running service is known')
})

test('sizes of directories are read once a minute', async () => {
  const { poll, tree, clock } = await start()
  const wal = async () => (await poll()).values['host_directory_bytes{wal}']
  expect(await wal()).toBe(0)
  await tree.put('node/wal/wal.1', 'y'.repeat(20_000))
  await clock.advance(45_000)
  expect(await wal()).toBe(0)
  await clock.advance(15_000)
  expect(await wal()).toBeGreaterThan(0)
})

test('without chrony the clock is read from systemd, every five minutes', async () => {
  const { poll, commands, clock } = await start({
    'chronyc -c tracking': { exitCode: 1, stdout: '506 Cannot talk to daemon\n' },
    'timedatectl show --property=NTPSynchronized': 'NTPSynchronized=yes\n',
    'timedatectl timesync-status': fixture('timesync-status.txt'),
  })
  const { values } = await poll()
  expect(values).toMatchObject({ host_clock_synchronized: 1 })
  expect(values['host_clock_offset_seconds']).toBeCloseTo(-0.002125, 9)
  await clock.advance(15_000)
  expect((await poll()).values).toHaveProperty('host_clock_offset_seconds')
  const chrony = 'chronyc -c tracking'
  const systemd = ['timedatectl show --property=NTPSynchronized', 'timedatectl timesync-status']
  const calls = () => commands.filter((line) => /^(?:chronyc|timedatectl)/.test(line))
  expect(calls()).toEqual([chrony, ...systemd])
  for (let minutes = 1; minutes <= 4; minutes += 1) {
    await clock.advance(60_000)
    await poll()
  }
  expect(calls().slice(3)).toEqual([chrony, chrony, chrony, chrony])
  await clock.advance(60_000)
  await poll()
  expect(calls().slice(7)).toEqual([chrony, ...systemd])
})

test('a leap status that is unknown is not a synchronized clock', async () => {
  const line = fixture('chrony-tracking.txt').replace('Normal', 'Invalid')
  const { poll, total } = await start({ 'chronyc -c tracking': line })
  const { values, states } = await poll()
  expect(values).not.toHaveProperty('host_clock_synchronized')
  expect(values).not.toHaveProperty('host_clock_offset_seconds')
  const expected = 'Invalid (expected Normal, Insert second, Delete second, Not synchronised)'
  expect(states['host, clock']).toBe(`unknown value, leap status of chrony ${expected}`)
  expect(total('chain_agent_lines_total{format=chrony,result=unparsed}')).toBe(1)
})

test('a report without health data, and one that is too old', async () => {
  const { poll, tree } = await start()
  await tree.put('smart/nvme0.json', fixture('smart-sata.json'), BEGIN - 60_000)
  expect((await poll()).states['host, health of drives']).toMatch(
    /^nvme0: the report contains no health data; nvme1: no fresh report; see /,
  )
})

test.each([
  // 900 h used a tenth: the other nine tenths last 8100 h.
  [10, 900, 29_160_000],
  [5, 900, 61_560_000],
  [120, 900, 0],
  [4, 900, undefined],
  // A drive that does not count its hours.
  [50, 0, undefined],
])('%i %% of the endurance used in %i hours: it lasts %s s', async (used, hours, seconds) => {
  const { poll, tree } = await start()
  const log = { percentage_used: used, power_on_hours: hours }
  const report = { smartctl: { version: [7, 4] }, nvme_smart_health_information_log: log }
  await tree.put('smart/nvme0.json', JSON.stringify(report), BEGIN)
  expect((await poll()).values['host_nvme_endurance_eta_seconds{nvme0}']).toBe(seconds)
})

test('without a default route the network card is unknown', async () => {
  const { poll, tree } = await start()
  await tree.put('proc/net/route', 'Iface\tDestination\n')
  const { values, states } = await poll()
  expect(Object.keys(values).filter((name) => name.startsWith('host_network'))).toEqual([])
  expect(states['host, not available']).toContain('network card')
})

test.each([
  ['vlan7', { 'vlan7/lower_bond0/x': '', 'bond0/bonding/mode': '' }, 'bond0'],
  ['vlan7', { 'vlan7/lower_eno1/x': '', 'eno1/device/vendor': '' }, 'eno1'],
  ['br0', { 'br0/lower_eno1/x': '', 'br0/lower_vnet0/x': '', 'eno1/device/vendor': '' }, undefined],
  // In a container.
  ['eth0', { 'eth0/mtu': '1500' }, undefined],
])('packets of the default route through %s are those of its card', async (device, files, card) => {
  const { poll, tree } = await start()
  await tree.remove('sys/class/net')
  await tree.put('proc/net/route', routeOf(device))
  for (const name of [device, 'bond0', 'eno1']) await tree.put(`sys/class/net/${name}/statistics/rx_packets`, '77\n')
  for (const [path, text] of Object.entries(files)) await tree.put(`sys/class/net/${path}`, text)
  const { values, states } = await poll()
  const received = Object.entries(values).filter(([name]) => name.startsWith('host_network'))
  expect(received).toEqual(card === undefined ? [] : [[`host_network_received_total{${card}}`, 77]])
  const unknown = `unknown: ${device} of the default route is no network card`
  expect(states['host, network card']).toBe(card === undefined ? unknown : undefined)
})

test('without an offset of the time service the offset is absent', async () => {
  const { poll } = await start({ 'timedatectl show --property=NTPSynchronized': 'NTPSynchronized=yes\n' })
  const { values, states } = await poll()
  expect(values).toMatchObject({ host_clock_synchronized: 1 })
  expect(values).not.toHaveProperty('host_clock_offset_seconds')
  expect(states['host, clock']).toBe('synchronized according to systemd, offset unknown')
})

test('a port behind a firewall that the operator has tested is not exposed', async () => {
  const { poll } = await start({}, [9143])
  const { values } = await poll()
  expect(values['host_port_exposed{9143}']).toBe(0)
})

const startDirectories = async (maxFiles?: number) => {
  const ledgerFiles = { 'node/ledger/1': 'a', 'node/ledger/2': 'b', 'node/ledger/3': 'c' }
  const { root } = await createTree({ ...ledgerFiles, 'node/config/forkpoint/forkpoint.toml': 'x' })
  const run = (ledger: string, nodeDirectory: string) => {
    const space = createDiskUsage(maxFiles)
    return runHost({ clock: manualClock(), places: root, directories: { ledger }, nodeDirectory, space })
  }
  return { node: join(root, 'node'), run }
}

test('a directory with more files than one poll reads is not available at first, and not a failure', async () => {
  const { node, run } = await startDirectories(1)
  const host = run(join(node, 'ledger'), node)
  const { values, states } = await host.poll()
  expect(values).toHaveProperty(['host_filesystem_size_bytes{ledger}'])
  expect(values).not.toHaveProperty(['host_directory_bytes{ledger}'])
  expect(states['host, not available']).toContain('directory ledger (its many files are being summed)')
  expect(Object.keys(states)).not.toContain('host, directory ledger')
})

test('the end of the collector closes the directories', async () => {
  const { node } = await startDirectories()
  let releases = 0
  const release = () => Promise.resolve((releases += 1)).then(() => undefined)
  await runHost({ clock: manualClock(), places: node, space: { ...createDiskUsage(), release } }).poll()
  expect(releases).toBe(1)
})

test.each([
  ['free space below 0', { sizeBytes: 1000n, availableBytes: 2n ** 64n - 4096n }, [1000, undefined]],
  ['more free than all', { sizeBytes: 1000n, availableBytes: 1001n }, [1000, undefined]],
  ['a file system without a size', { sizeBytes: 0n, availableBytes: 0n }, [undefined, 0]],
  ['a full file system', { sizeBytes: 1000n, availableBytes: 0n }, [1000, 0]],
])('%s', async (_, fileSystem, expected) => {
  const { node } = await startDirectories()
  const space = { ...createDiskUsage(), fileSystem: async () => Promise.resolve(fileSystem) }
  const { values } = await runHost({ clock: manualClock(), places: node, space, fileSystems: ['/'] }).poll()
  const names = ['host_filesystem_size_bytes{/}', 'host_filesystem_available_bytes{/}']
  expect(names.map((name) => values[name])).toEqual(expected)
})

test('of another file system only the space is measured', async () => {
  const { node } = await startDirectories()
  const fileSystems = [node, node, '/nonexistent']
  const { values, states } = await runHost({ clock: manualClock(), places: node, fileSystems }).poll()
  expect(values[`host_filesystem_size_bytes{${node}}`]).toBeGreaterThan(
    values[`host_filesystem_available_bytes{${node}}`] ?? Infinity,
  )
  expect(Object.keys(values).filter((name) => name.startsWith('host_directory_bytes'))).toEqual([])
  expect(states['host, file system of /nonexistent']).toContain('not found')
})

test.each([
  ['statesync_threshold = 450\n[network]\nbind_address_port = 8000\n', 450, undefined],
  ['statesync_threshold = "450"\n', undefined, /^not known: .*statesync_threshold/],
  ['node_name = "a"\n', undefined, /^not known: .*statesync_threshold/],
  ['statesync_threshold = 65536\n', undefined, /^not known: .*statesync_threshold/],
  ['statesync_threshold =\n', undefined, /^not known: .*TOML/],
])('the setting of the node in %j', async (text, threshold, problem) => {
  const { root } = await createTree({ 'config/node.toml': text })
  const { values, states } = await runHost({ clock: manualClock(), places: root, nodeDirectory: root }).poll()
  expect(values['node_statesync_threshold_blocks']).toBe(threshold)
  if (problem !== undefined) expect(states['host, statesync_threshold']).toMatch(problem)
})

test('without node.toml the setting is unknown, not the default', async () => {
  const { node, run } = await startDirectories()
  const { values } = await run(join(node, 'ledger'), node).poll()
  expect(values).not.toHaveProperty('node_statesync_threshold_blocks')
})
