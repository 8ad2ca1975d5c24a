import type { KERNELS } from './definition.ts'
import { LIMITS } from '../../core/limits.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { createUnknownValues } from '../../core/unknown-values.ts'
import {
  parseCount,
  parseBootTime,
  parseListeners,
  parseMemory,
  parseOpenFilesLimit,
  parseSwitch,
  parseWord,
} from '../../parsers/kernel-files.ts'
import { newestKernel } from '../../parsers/version.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import {
  type CheckResult,
  createCheckRunner,
  type HostCheck,
  type HostUses,
  NOT_AVAILABLE,
  readCount,
  samplesOfEach,
} from './host-check.ts'
import type { Context } from '../../core/clock.ts'
import { pastTime, withinBounds } from '../../core/bounds.ts'
import { SourceError } from '../../core/errors.ts'
import { fromSeconds, inSeconds, minute } from '../../core/units.ts'
import { type ClockState, parseNtpSynchronized, parseTimesyncOffset, parseTracking } from '../../parsers/time-sync.ts'
import type { Exec } from '../../sources/exec.ts'
import type { MainPids } from '../shared/node-state.ts'

/** The running kernel, and the one that the next boot starts: GRUB's default is the newest. */
export const kernelChecks = ({ host: { procfs, boot } }: HostUses): readonly HostCheck[] => [
  {
    name: 'kernel',
    read: async () => {
      const release = await procfs.read('sys/kernel/osrelease')
      return release === null ? [] : kernelResult('running', parseWord('the kernel release', release))
    },
  },
  {
    name: 'kernel after a reboot',
    every: minute,
    read: async () => {
      const release = newestKernel((await boot.list('.')) ?? [])
      return release === null ? [] : kernelResult('pending', release)
    },
  },
]

const kernelResult = (kernel: (typeof KERNELS)[number], release: string) => {
  const reason = blockedReason(release)
  const samples: readonly Sample[] = [
    sample('chain_host_kernel_info', 1, { kernel, release }),
    sample('chain_host_kernel_blocked', reason !== null, { kernel }),
  ]
  return { samples, state: reason === null ? release : `${release}, and ${reason}` }
}

/** Kernels on which these nodes are known to fail, from the operating guide: Ubuntu's numbers after 6.8.0, inclusive. */
const BLOCKED = [
  { from: 56, to: 59, why: 'the node hangs on it' },
  { from: 136, to: 136, why: 'io_uring fails on it: "failed to create buffer ring", code 22' },
]

/** Why a node must not run on this kernel; null if the kernel is not blocked. */
export const blockedReason = (release: string): string | null => {
  // Cloud kernels are numbered separately, from 1000.
  const [, number] = /^6\.8\.0-(\d+)(?:-|$)/.exec(release) ?? []
  if (number === undefined) return null
  return BLOCKED.find(({ from, to }) => Number(number) >= from && Number(number) <= to)?.why ?? null
}

/** Bytes to read: `/proc/stat` has a line per CPU and a number per interrupt. */
const STAT_BYTES = 512 * 1024
const CPUS = 'devices/system/cpu'

export const cpuChecks = ({ host: { procfs, sysfs } }: HostUses): readonly HostCheck[] => {
  /** The package of each CPU, which stays the same. */
  const packageOf = new Map<string, string>()
  const readPackage = async (cpu: string): Promise<string> => {
    const id = packageOf.get(cpu) ?? (await sysfs.read(`${CPUS}/${cpu}/topology/physical_package_id`)) ?? ''
    packageOf.set(cpu, id)
    return id
  }
  return [
    {
      name: 'boot time',
      read: async ({ clock }) => {
        const text = await procfs.read('stat', STAT_BYTES)
        if (text === null) return []
        const bootedAt = pastTime(fromSeconds(parseBootTime(text)), clock.now())
        return sampleIfKnown('chain_host_boot_timestamp_seconds', inSeconds(bootedAt))
      },
    },
    {
      name: 'multithreading',
      every: minute,
      read: async () => {
        const text = await sysfs.read(`${CPUS}/smt/active`)
        if (text === null) return []
        const isActive = parseSwitch('whether multithreading is on', text)
        return { samples: [sample('chain_host_smt_active', isActive)], state: isActive ? 'on' : 'off' }
      },
    },
    {
      name: 'frequency governor',
      every: minute,
      read: async () => {
        const cpus = new Map<string, number>()
        for (const { text } of await ofEachCpu(sysfs, 'cpufreq/scaling_governor')) {
          const governor = parseWord('a governor', text)
          cpus.set(governor, (cpus.get(governor) ?? 0) + 1)
        }
        return {
          samples: [...cpus].map(([governor, count]) => sample('chain_host_governor_cpus', count, { governor })),
          state: cpus.size === 0 ? NOT_AVAILABLE : [...cpus.keys()].toSorted().join(', '),
        }
      },
    },
    {
      name: 'throttling',
      read: async () => {
        // Each CPU reports the count of its package: use the highest count of each package.
        const packages = new Map<string, bigint>()
        for (const { cpu, text } of await ofEachCpu(sysfs, 'thermal_throttle/package_throttle_count')) {
          const count = parseCount('the throttle count of a CPU', text)
          const id = await readPackage(cpu)
          if (count !== null && count >= (packages.get(id) ?? 0n)) packages.set(id, count)
        }
        const total = [...packages.values()].reduce((sum, count) => sum + count, 0n)
        return packages.size === 0 ? [] : sampleIfKnown('chain_host_cpu_throttles_total', withinBounds('u64', total))
      },
    },
  ]
}

/** The content of a file for each CPU; CPUs without the file, or offline, are omitted. */
const ofEachCpu = async (sysfs: FileTree, file: string) => {
  const names = (await sysfs.list(CPUS)) ?? []
  const found: { readonly cpu: string; readonly text: string }[] = []
  for (const cpu of names.filter((name) => /^cpu\d+$/.test(name))) {
    const text = await sysfs.read(`${CPUS}/${cpu}/${file}`, 256)
    if (text !== null) found.push({ cpu, text })
  }
  return found
}

const SIZES = [
  ['2Mi', 'hugepages-2048kB'],
  ['1Gi', 'hugepages-1048576kB'],
] as const

export const memoryChecks = ({ host: { procfs, sysfs, readMemory } }: HostUses): readonly HostCheck[] => [
  {
    name: 'memory',
    read: async () => {
      const text = readMemory ? null : await procfs.read('meminfo')
      const memory = readMemory ? await readMemory() : text && parseMemory(text)
      if (!memory) return []
      const totalBytes = withinBounds('sizeBytes', memory.totalBytes)
      const availableBytes = withinBounds('bytes', memory.availableBytes)
      const ratio = totalBytes === null || availableBytes === null ? null : availableBytes / totalBytes
      return [
        ...sampleIfKnown('chain_host_memory_available_bytes', availableBytes),
        ...sampleIfKnown('chain_host_memory_available_ratio', withinBounds('ratio', ratio)),
      ]
    },
  },
  {
    name: 'huge pages',
    every: minute,
    read: () =>
      samplesOfEach(SIZES, async ([size, directory]) => {
        const count = (file: string): Promise<bigint | null> =>
          readCount(sysfs, `kernel/mm/hugepages/${directory}/${file}`, 'the number of huge pages')
        return [
          ...sampleIfKnown('chain_host_hugepages', await count('nr_hugepages'), { size }),
          ...sampleIfKnown('chain_host_hugepages_free', await count('free_hugepages'), { size }),
        ]
      }),
  },
]

/**
 * The clock, from chrony; without chrony, for which it looks every minute, from systemd every five minutes: each read
 * starts two programs and a service. By default systemd measures its server after 32 s to 34 min.
 */
export const clockCheck = ({ exec, recorder }: HostUses, timeout: number): HostCheck => {
  const unknownValues = createUnknownValues(recorder, 'chrony')
  const systemd = createCheckRunner(
    {
      name: 'clock',
      every: 5 * minute,
      read: async ({ signal }) => clockResult(await readSystemd(exec, signal), 'systemd'),
    },
    timeout,
  )
  /** Until then chrony is not asked again; by `clock.elapsed()`. */
  let hasNoneUntil = Number.NEGATIVE_INFINITY
  return {
    name: 'clock',
    read: async (context) => {
      const now = context.clock.elapsed()
      if (now < hasNoneUntil) return systemd.run(context)
      const tracked = await readChrony(exec, context)
      if (tracked === null) {
        hasNoneUntil = now + minute
        return systemd.run(context)
      }
      const { synchronized, unknownValues: found = [] } = tracked
      unknownValues.add(found)
      if (synchronized !== null) return clockResult(tracked, 'chrony')
      return Object.entries(unknownValues.states()).flat().join(' ')
    },
  }
}

const clockResult = ({ synchronized, aheadSeconds, isSourceLost }: ClockState, source: string): CheckResult => ({
  samples: [
    ...sampleIfKnown('chain_host_clock_synchronized', synchronized),
    ...sampleIfKnown('chain_host_clock_offset_seconds', aheadSeconds),
  ],
  state:
    isSourceLost === true
      ? `not synchronized: ${source} has had no response from its servers for hours`
      : `${synchronized === true ? 'synchronized' : 'not synchronized'} according to ${source}${
          synchronized === true && aheadSeconds === null ? ', offset unknown' : ''
        }`,
})

/** Null if chrony is not installed or not running. */
const readChrony = async (exec: Exec, { clock, signal }: Context): Promise<ClockState | null> => {
  const output = await exec
    .run({ command: 'chronyc', args: ['-c', 'tracking'], answers: [0, 1] }, signal)
    .catch(nullOnSourceError)
  return output === null || output.exitCode !== 0 ? null : parseTracking(output.stdout, clock.now())
}

const readSystemd = async (exec: Exec, signal: AbortSignal): Promise<ClockState> => {
  const args = ['show', '--property=NTPSynchronized']
  const synchronized = parseNtpSynchronized((await exec.run({ command: 'timedatectl', args }, signal)).stdout)
  // The offset is available only if systemd-timesyncd is the active time service.
  const status = await exec.run({ command: 'timedatectl', args: ['timesync-status'] }, signal).catch(nullOnSourceError)
  return { synchronized, aheadSeconds: status === null || !synchronized ? null : parseTimesyncOffset(status.stdout) }
}

const nullOnSourceError = (error: unknown): null => {
  if (error instanceof SourceError && !error.timeout) return null
  throw error
}

/** Limit and number of open files of the main processes of the node. */
export const processChecks = ({ host: { procfs }, mainPids }: HostUses): readonly HostCheck[] => [
  {
    name: 'limits of services',
    read: async () => {
      const found = await samplesOfEach([...mainPids.current], async ([service, pid]) => {
        const text = await procfs.read(`${pid}/limits`)
        const limit = text === null || text === '' ? null : parseOpenFilesLimit(text)
        return sampleIfKnown('chain_service_max_file_descriptors', limit, { service })
      })
      return found.length === 0 ? whyNone(mainPids) : found
    },
  },
  {
    name: 'open files of services',
    read: async () => {
      let isHidden = false
      const samples = await samplesOfEach([...mainPids.current], async ([service, pid]) => {
        const count = await procfs.count(`${pid}/fd`).catch((error: unknown) => {
          if (!(error instanceof SourceError)) throw error
          isHidden = true
          return null
        })
        return sampleIfKnown('chain_service_open_file_descriptors', count, { service })
      })
      if (isHidden) return { samples, state: HIDDEN }
      return samples.length === 0 ? whyNone(mainPids) : samples
    },
  },
]

/** Hidden processes of other users and those that have ended are both ENOENT. */
const whyNone = (mainPids: MainPids): string =>
  mainPids.current.size === 0
    ? 'no running service is known'
    : 'the processes are not visible: hidden by hidepid or ProtectProc (docs/how-to/host.md#hide-the-process-list)'

const HIDDEN = 'not counted for other users before Linux 6.2 (docs/how-to/host.md)'

/** Bytes to read: 1700 listening sockets; connections follow after them. */
const TABLE_BYTES = LIMITS.socketTable.bytes

/** Ports on which a process listens on an interface other than loopback, without those that the operator protects. */
export const portsCheck = ({ host: { procfs }, ports, firewalledPorts }: HostUses): HostCheck => ({
  name: 'ports',
  // The kernel walks the table of all connections, some hundred thousand places, for each list: 4 ms and more.
  every: minute,
  read: async () => {
    const tables = [
      await procfs.read('net/tcp', TABLE_BYTES),
      await procfs.read('net/tcp6', TABLE_BYTES), // absent if IPv6 is disabled
    ].filter((table) => table !== null)
    if (tables.length === 0) return []
    const open = new Set(
      tables
        .flatMap(parseListeners)
        .filter(({ isLoopback, port }) => !isLoopback && !firewalledPorts.includes(port))
        .map(({ port }) => port),
    )
    const exposed = ports.filter((port) => open.has(port))
    return {
      samples: ports.map((port) => sample('chain_host_port_exposed', open.has(port), { port: String(port) })),
      state: exposed.length === 0 ? 'none exposed' : `exposed: ${exposed.join(', ')}`,
    }
  },
})
