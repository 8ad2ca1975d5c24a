import type { SimulatedNode } from '../node.ts'
import { pidOf, ROLES } from '../services/service.ts'
import type { Host } from './host.ts'

/** The files of kernel and drives, by path below the directory of the host. */
export const hostFiles = (node: SimulatedNode, ticks: Ticks): ReadonlyMap<string, string> => {
  const { host, services } = node.condition()
  const throttles =
    17 + (host.throttledFromMs === undefined ? 0 : Math.floor((node.now() - host.throttledFromMs) / 500))
  const cpu = (at: number): Entries => ({
    [`sys/devices/system/cpu/cpu${at}/cpufreq/scaling_governor`]: `${host.governor}\n`,
    [`sys/devices/system/cpu/cpu${at}/thermal_throttle/package_throttle_count`]: `${throttles}\n`,
    [`sys/devices/system/cpu/cpu${at}/topology/physical_package_id`]: '0\n',
  })
  const pages = (size: string, total: number, free: number): Entries => ({
    [`sys/kernel/mm/hugepages/hugepages-${size}/nr_hugepages`]: `${total}\n`,
    [`sys/kernel/mm/hugepages/hugepages-${size}/free_hugepages`]: `${free}\n`,
  })
  const running = ROLES.map((role) => services[role]).filter(({ state }) => state === 'active')
  return new Map(
    [
      {
        'proc/stat': renderStat(ticks, host),
        'proc/net/tcp': renderSockets(host),
        'proc/net/tcp6': renderSockets6(),
        'proc/sys/kernel/osrelease': `${host.kernel}\n`,
        'sys/devices/system/cpu/smt/active': `${host.multithreading ? 1 : 0}\n`,
        [`boot/vmlinuz-${host.kernel}`]: '',
        [`boot/vmlinuz-${host.pendingKernel}`]: '',
      },
      ...Array.from({ length: CPUS }, (_, at) => cpu(at)),
      pages('2048kB', 2048, host.hugePagesFree),
      pages('1048576kB', 4, 0),
      ...running.map((service) => ({ [`proc/${pidOf(service)}/limits`]: renderLimits(host) })),
      driveFiles(node),
    ].flatMap((entries: Entries) => Object.entries(entries)),
  )
}

type Entries = Readonly<Record<string, string>>

const driveFiles = (node: SimulatedNode): Entries => {
  const found = driveAt(node.condition().host, node.now())
  if (!found) return {}
  return {
    'sys/class/nvme/nvme0/model': `${MODEL.padEnd(40)}\n`,
    'sys/class/nvme/nvme0/firmware_rev': `${FIRMWARE}\n`,
    'sys/class/nvme/nvme0/hwmon2/temp1_input': `${found.celsius * 1000 + 850}\n`,
    'smart/nvme0.json': renderHealth(found),
  }
}

/** The number of open files of each running service, by PID; that of consensus is set by the scenario. */
export const openFilesOf = (node: SimulatedNode): ReadonlyMap<number, number> => {
  const { host, services } = node.condition()
  return new Map(
    ROLES.map((role) => services[role])
      .filter(({ state }) => state === 'active')
      .map((service) => [pidOf(service), service.role === 'bft' ? host.openFiles : 12]),
  )
}

/** Hundredths of a second, the unit of CPU time in the kernel. */
export interface Ticks {
  readonly busy: number
  readonly idle: number
}

export const CPUS = 8

/** `/proc/stat`, without interrupts. */
const renderStat = ({ busy, idle }: Ticks, { bootedMs }: Host): string => {
  const line = (name: string, parts: number): string => {
    const [user, system] = [Math.round((busy * 0.8) / parts), Math.round((busy * 0.2) / parts)]
    return `${name} ${user} 0 ${system} ${Math.round(idle / parts)} 0 0 0 0 0 0`
  }
  return [
    `cpu ${line('', 1)}`,
    ...Array.from({ length: CPUS }, (_, cpu) => line(`cpu${cpu}`, CPUS)),
    `btime ${Math.floor(bootedMs / 1000)}`,
    'processes 48211',
    '',
  ].join('\n')
}

/** `/proc/PID/limits`: three of its sixteen lines. */
const renderLimits = ({ maxOpenFiles }: Host): string => {
  const row = (name: string, values: readonly string[]): string =>
    `${name.padEnd(26)}${values.map((value) => value.padEnd(21)).join('')}\n`
  const hard = String(Math.max(maxOpenFiles, 524_288))
  return [
    row('Limit', ['Soft Limit', 'Hard Limit', 'Units']),
    row('Max cpu time', ['unlimited', 'unlimited', 'seconds']),
    row('Max open files', [String(maxOpenFiles), hard, 'files']),
    row('Max locked memory', ['unlimited', 'unlimited', 'bytes']),
  ].join('')
}

/** Ports of a node: RPC, WebSocket and two metrics endpoints. */
const OWN_PORTS = [8080, 8081, 8889, 9143]
const SSH = 22
const LOOPBACK = '0100007F'
const ANY = '00000000'

/** `/proc/net/tcp`: the listening sockets, then one connection. */
const renderSockets = ({ exposedPorts }: Host): string => {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')
  const listening = [
    ...OWN_PORTS.filter((port) => !exposedPorts.includes(port)).map((port) => `${LOOPBACK}:${hex(port)}`),
    ...[SSH, ...exposedPorts].map((port) => `${ANY}:${hex(port)}`),
  ].map((local) => ({ local, remote: `${ANY}:0000`, state: '0A' }))
  const connection = { local: `${LOOPBACK}:${hex(8080)}`, remote: `${LOOPBACK}:D2F4`, state: '01' }
  const rows = [...listening, connection].map(
    ({ local, remote, state }, at) =>
      `${String(at).padStart(4)}: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 ${20_000 + at} 1 0000000000000000 100 0 0 10 0\n`,
  )
  return `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n${rows.join('')}`
}

/** `/proc/net/tcp6`: the OpenTelemetry collector, on an IPv4-mapped loopback address. */
const renderSockets6 = (): string =>
  [
    '  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    `   0: 0000000000000000FFFF00000100007F:10DD ${'0'.repeat(32)}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 20100 1 0000000000000000 100 0 0 10 0`,
    '',
  ].join('\n')

interface Drive {
  readonly celsius: number
  readonly criticalWarning: number
  readonly mediaErrors: number
  readonly usedPercent: number
}

/** A failing drive has one more media error in this interval. */
const MEDIA_ERROR_MS = 5000

/** Undefined if the drive is not on the bus. */
const driveAt = ({ drive }: Host, nowMs: number): Drive | undefined => {
  const variation = Math.floor(nowMs / 10_000) % 3
  const healthy = { celsius: 44 + variation, criticalWarning: 0, mediaErrors: 0, usedPercent: 7 }
  switch (drive.is) {
    case 'well': {
      return healthy
    }
    case 'hot': {
      return { ...healthy, celsius: 79 + variation, criticalWarning: 2 }
    }
    case 'failing': {
      const mediaErrors = 1 + Math.floor((nowMs - drive.fromMs) / MEDIA_ERROR_MS)
      return { ...healthy, criticalWarning: 4, mediaErrors, usedPercent: 98 }
    }
    case 'gone': {
      return undefined
    }
  }
}

const MODEL = 'SIMULATED NVME 3840G'
const FIRMWARE = 'SIM1A2Q3'

/** The output of `smartctl -j -a /dev/nvme0`. */
const renderHealth = (drive: Drive): string =>
  `${JSON.stringify(
    {
      json_format_version: [1, 0],
      smartctl: { version: [7, 4], exit_status: drive.criticalWarning === 0 ? 0 : 8 },
      device: { name: '/dev/nvme0', type: 'nvme', protocol: 'NVMe' },
      model_name: MODEL,
      firmware_version: FIRMWARE,
      smart_status: { passed: drive.criticalWarning === 0 },
      nvme_smart_health_information_log: {
        critical_warning: drive.criticalWarning,
        temperature: drive.celsius,
        available_spare: 100,
        percentage_used: drive.usedPercent,
        media_errors: drive.mediaErrors,
      },
    },
    null,
    2,
  )}\n`
