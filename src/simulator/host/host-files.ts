import type { SimulatedNode } from '../node.ts'
import { pidOf, ROLES } from '../scenario/service.ts'
import { driveAt, FIRMWARE, MODEL, renderHealth } from './drive.ts'
import {
  CPUS,
  renderLimits,
  renderSockets,
  renderSockets6,
  renderStat,
  type Ticks,
} from './kernel-texts.ts'

/** Everything that kernel and drives say, by path below the directory of the host. */
export const hostFiles = (node: SimulatedNode, ticks: Ticks): ReadonlyMap<string, string> => {
  const { host, services } = node.condition()
  const throttles =
    17 +
    (host.throttledFromMs === undefined ? 0 : Math.floor((node.now() - host.throttledFromMs) / 500))
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
      drive(node),
    ].flatMap((entries: Entries) => Object.entries(entries)),
  )
}

type Entries = Readonly<Record<string, string>>

const drive = (node: SimulatedNode): Entries => {
  const found = driveAt(node.condition().host, node.now())
  if (!found) return {}
  return {
    'sys/class/nvme/nvme0/model': `${MODEL.padEnd(40)}\n`,
    'sys/class/nvme/nvme0/firmware_rev': `${FIRMWARE}\n`,
    'sys/class/nvme/nvme0/hwmon2/temp1_input': `${found.celsius * 1000 + 850}\n`,
    'smart/nvme0.json': renderHealth(found),
  }
}

/** Files that each running service has open: consensus as the scenario wants it. */
export const openFilesOf = (node: SimulatedNode): ReadonlyMap<number, number> => {
  const { host, services } = node.condition()
  return new Map(
    ROLES.map((role) => services[role])
      .filter(({ state }) => state === 'active')
      .map((service) => [pidOf(service), service.role === 'bft' ? host.openFiles : 12]),
  )
}
