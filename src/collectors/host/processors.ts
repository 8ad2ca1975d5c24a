import { sample, sampleIfKnown } from '../../core/metric.ts'
import {
  parseCount,
  parseSwitch,
  parseWord,
  type KernelStat,
  parseKernelStat,
} from '../../parsers/kernel-files.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import { type Aspect, createAspect, NOT_TOLD } from './aspect.ts'

interface Parts {
  readonly procfs: FileTree
  readonly sysfs: FileTree
  readonly timeout: number
}

/** `/proc/stat` has a line for each processor and a number for each interrupt. */
const STAT_BYTES = 512 * 1024
const CPUS = 'devices/system/cpu'

export const processorAspects = ({ procfs, sysfs, timeout }: Parts): readonly Aspect[] => {
  let before: KernelStat | undefined
  return [
    createAspect({
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
    createAspect({
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
    createAspect({
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
          samples: [...cpus].map(([governor, count]) =>
            sample('chain_host_governor_cpus', count, { governor }),
          ),
          state: cpus.size === 0 ? NOT_TOLD : [...cpus.keys()].toSorted().join(', '),
        }
      },
    }),
    createAspect({
      name: 'throttling',
      timeout,
      read: async () => {
        const counts = await ofEachCpu(sysfs, 'thermal_throttle/package_throttle_count')
        // Each processor tells the count of its package: the greatest of each is its own.
        const packages = new Map<string, bigint>()
        for (const { cpu, text } of counts) {
          const count = parseCount('the throttles of a processor', text)
          const id = (await sysfs.read(`${CPUS}/${cpu}/topology/physical_package_id`)) ?? ''
          if (count >= (packages.get(id) ?? 0n)) packages.set(id, count)
        }
        const total = [...packages.values()].reduce((sum, count) => sum + count, 0n)
        return packages.size === 0 ? [] : [sample('chain_host_cpu_throttles_total', total)]
      },
    }),
  ]
}

/** What each processor says of itself in a file; those that have none, or are off, are left out. */
const ofEachCpu = async (sysfs: FileTree, file: string) => {
  const names = (await sysfs.list(CPUS)) ?? []
  const found: { readonly cpu: string; readonly text: string }[] = []
  for (const cpu of names.filter((name) => /^cpu\d+$/.test(name))) {
    const text = await sysfs.read(`${CPUS}/${cpu}/${file}`, 256)
    if (text !== null) found.push({ cpu, text })
  }
  return found
}

/** The kernel takes idle time back now and then; such a stretch tells nothing. */
const busyRatio = (before: KernelStat, now: KernelStat): number | null => {
  const total = now.total - before.total
  const busy = now.busy - before.busy
  return total <= 0n || busy < 0n || busy > total ? null : Number(busy) / Number(total)
}
