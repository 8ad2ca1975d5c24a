import type { SimulatedNode } from '../subject.ts'
import { dropsAt, type Host } from './host.ts'
import { numberAt } from '../scenario/directives.ts'

/** The files of the drive of the database, by path below the directory of the host. */
export const driveFiles = (node: SimulatedNode): Readonly<Record<string, string>> => {
  const found = driveAt(node.condition().host, node.now())
  if (!found) return {}
  return {
    'sys/class/nvme/nvme0/model': `${MODEL.padEnd(40)}\n`,
    'sys/class/nvme/nvme0/firmware_rev': `${FIRMWARE}\n`,
    'sys/class/nvme/nvme0/hwmon2/temp1_input': `${found.celsius * 1000 + 850}\n`,
    'smart/nvme0.json': renderHealth(found, writtenUnitsAt(node)),
  }
}

type Drive = NonNullable<ReturnType<typeof driveAt>>

/** A failing drive has one more media error in this interval. */
const MEDIA_ERROR_MS = 5000

/** Undefined if the drive is not on the bus. */
const driveAt = ({ drive }: Host, nowMs: number) => {
  const variation = Math.floor(nowMs / 10_000) % 3
  const healthy = { celsius: 44 + variation, criticalWarning: 0, mediaErrors: 0, usedPercent: 7 }
  switch (drive.is) {
    case 'healthy':
      return healthy
    case 'hot':
      return { ...healthy, celsius: 79 + variation, criticalWarning: 2 }
    case 'failing': {
      const mediaErrors = 1 + Math.floor((nowMs - drive.fromMs) / MEDIA_ERROR_MS)
      return { ...healthy, criticalWarning: 4, mediaErrors, usedPercent: 98 }
    }
    case 'gone':
      return undefined
  }
}

/** Half a year: at 7 % used its endurance lasts 6.6 years more. */
const POWERED_HOURS = 4380
const WRITTEN_UNITS = 312_000_000
/** 20 MB/s. */
const UNITS_PER_SECOND = 40

const writtenUnitsAt = ({ now, timeline }: SimulatedNode): number =>
  WRITTEN_UNITS + Math.floor((now() - timeline.beginMs) / 1000) * UNITS_PER_SECOND

const MODEL = 'SIMULATED NVME 3840G'
const FIRMWARE = 'SIM1A2Q3'

/** The output of `smartctl -j -a /dev/nvme0`. */
const renderHealth = (drive: Drive, writtenUnits: number): string =>
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
        data_units_written: writtenUnits,
        power_on_hours: POWERED_HOURS,
      },
    },
    null,
    2,
  )}\n`

const CARD = 'enp1s0'
const PACKETS_PER_SECOND = 8500
/** Frames of protocols that the kernel does not know, such as LLDP of the switch: one in half a minute. */
const UNWANTED_PER_SECOND = 1 / 30

/** The default route, and the counters of its interface. */
export const networkCardFiles = (uptimeSeconds: number, { cardDrops }: Host, nowMs: number) => {
  const counters = {
    rx_packets: Math.round(uptimeSeconds * PACKETS_PER_SECOND),
    rx_missed_errors: dropsAt(cardDrops, nowMs),
    rx_errors: 0,
    rx_dropped: Math.round(uptimeSeconds * UNWANTED_PER_SECOND),
  }
  return {
    'proc/net/route': [
      'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
      `${CARD}\t00000000\t010200C0\t0003\t0\t0\t100\t00000000\t0\t0\t0`,
      `${CARD}\t000200C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0`,
      '',
    ].join('\n'),
    [`sys/class/net/${CARD}/device/vendor`]: '0x8086\n',
    ...Object.fromEntries(
      Object.entries(counters).map(([file, count]) => [`sys/class/net/${CARD}/statistics/${file}`, `${count}\n`]),
    ),
  }
}

/** Ports of a node: RPC, WebSocket and two metrics endpoints. */
const OWN_PORTS = [8080, 8081, 8889, 9143]
const SSH = 22
const LOOPBACK = '0100007F'
const ANY = '00000000'

/** `/proc/net/tcp`: the listening sockets, then one connection. */
export const renderSockets = ({ exposedPorts }: Host): string => {
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
export const renderSockets6 = (): string =>
  [
    '  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    `   0: 0000000000000000FFFF00000100007F:10DD ${'0'.repeat(32)}:0000 0A 00000000:00000000 00:00000000 00000000     0        0 20100 1 0000000000000000 100 0 0 10 0`,
    '',
  ].join('\n')

const MEBIBYTE = 1024 * 1024
const SIZE_BYTES = 100 * 1024 * MEBIBYTE
/** System and packages. */
const USED_RATIO = 0.48
/** 30,000 files take 16 % of it: what a node keeps for 600 minutes. */
const LEDGER_FILE_BYTES = 560 * 1024

/** The file system of a directory: ledger and write-ahead log share one, other paths are on that of the system. Null if the directory does not exist. */
export const fileSystemAt =
  (node: SimulatedNode, directories: { readonly ledger: string; readonly wal: string }) =>
  (path: string): { readonly sizeBytes: bigint; readonly availableBytes: bigint } | null => {
    const { hasWal, ledgerFiles, walMegabytes } = node.condition().host
    if (path === directories.wal && !hasWal) return null
    const ofNode = Object.values(directories).includes(path)
      ? Math.round(numberAt(ledgerFiles, node.now())) * LEDGER_FILE_BYTES +
        numberAt(walMegabytes, node.now()) * MEBIBYTE
      : 0
    const used = SIZE_BYTES * USED_RATIO + ofNode
    return { sizeBytes: BigInt(SIZE_BYTES), availableBytes: BigInt(Math.round(SIZE_BYTES - used)) }
  }
