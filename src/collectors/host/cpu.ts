import { sample, sampleIfKnown } from '../../core/metric.ts'
import { type KernelStat, parseCount, parseKernelStat, parseSwitch, parseWord } from '../../parsers/kernel-files.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import { type HostCheck, createHostCheck, NOT_AVAILABLE } from './host-check.ts'

interface CpuCheckOptions {
  readonly procfs: FileTree
  readonly sysfs: FileTree
  readonly timeout: number
}

/** Bytes to read: `/proc/stat` has a line per CPU and a number per interrupt. */
const STAT_BYTES = 512 * 1024
const CPUS = 'devices/system/cpu'

export const cpuChecks = ({ procfs, sysfs, timeout }: CpuCheckOptions): readonly HostCheck[] => {
  let before: KernelStat | undefined
  return [
    createHostCheck({
      name: 'load',
      timeout,
      read: async () => {
        const text = await procfs.read('stat', STAT_BYTES)
        if (text === null) return []
        const now = parseKernelStat(text)
        const busy = before === undefined ? null : busyRatio(before, now)
        before = now
        return [
          sample('chain_host_boot_timestamp_seconds', now.bootedAt),
          ...sampleIfKnown('chain_host_cpu_busy_ratio', busy),
        ]
      },
    }),
    createHostCheck({
      name: 'multithreading',
      timeout,
      read: async () => {
        const text = await sysfs.read(`${CPUS}/smt/active`)
        if (text === null) return []
        const isActive = parseSwitch('whether multithreading is on', text)
        const state = isActive ? 'on' : 'off'
        return { samples: [sample('chain_host_smt_active', isActive)], state }
      },
    }),
    createHostCheck({
      name: 'frequency governor',
      timeout,
      read: async () => {
        const governors = await ofEachCpu(sysfs, 'cpufreq/scaling_governor')
        const cpus = new Map<string, number>()
        for (const { text } of governors) {
          const governor = parseWord('a governor', text)
          cpus.set(governor, (cpus.get(governor) ?? 0) + 1)
        }
        return {
          samples: [...cpus].map(([governor, count]) => sample('chain_host_governor_cpus', count, { governor })),
          state: cpus.size === 0 ? NOT_AVAILABLE : [...cpus.keys()].toSorted().join(', '),
        }
      },
    }),
    createHostCheck({
      name: 'throttling',
      timeout,
      read: async () => {
        const counts = await ofEachCpu(sysfs, 'thermal_throttle/package_throttle_count')
        // Each CPU reports the count of its package: use the highest count of each package.
        const packages = new Map<string, bigint>()
        for (const { cpu, text } of counts) {
          const count = parseCount('the throttle count of a CPU', text)
          const id = (await sysfs.read(`${CPUS}/${cpu}/topology/physical_package_id`)) ?? ''
          if (count >= (packages.get(id) ?? 0n)) packages.set(id, count)
        }
        const total = [...packages.values()].reduce((sum, count) => sum + count, 0n)
        return packages.size === 0 ? [] : [sample('chain_host_cpu_throttles_total', total)]
      },
    }),
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

/** Null for an interval in which the kernel decreased the idle time, which happens occasionally. */
const busyRatio = (before: KernelStat, now: KernelStat): number | null => {
  const total = now.total - before.total
  const busy = now.busy - before.busy
  return total <= 0n || busy < 0n || busy > total ? null : Number(busy) / Number(total)
}
