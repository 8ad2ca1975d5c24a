import { sample, sampleIfKnown } from '../../core/metric.ts'
import { parseCount } from '../../parsers/kernel-files.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import type { ReadMemory } from '../../sources/host.ts'
import { type HostCheck, createHostCheck } from './host-check.ts'

interface MemoryCheckOptions {
  readonly sysfs: FileTree
  readonly readMemory: ReadMemory
  readonly timeout: number
}

const SIZES = [
  ['2Mi', 'hugepages-2048kB'],
  ['1Gi', 'hugepages-1048576kB'],
] as const

export const memoryChecks = ({ sysfs, readMemory, timeout }: MemoryCheckOptions): readonly HostCheck[] => [
  createHostCheck({
    name: 'memory',
    timeout,
    read: async () => {
      const { totalBytes, availableBytes } = await readMemory()
      return [
        sample('chain_host_memory_available_bytes', availableBytes),
        sample('chain_host_memory_available_ratio', availableBytes / totalBytes),
      ]
    },
  }),
  createHostCheck({
    name: 'huge pages',
    timeout,
    read: async () => {
      const read = async (directory: string, file: string): Promise<bigint | null> => {
        const text = await sysfs.read(`kernel/mm/hugepages/${directory}/${file}`)
        return text === null ? null : parseCount('the number of huge pages', text)
      }
      const counts = SIZES.map(async ([size, directory]) => [
        ...sampleIfKnown('chain_host_hugepages', await read(directory, 'nr_hugepages'), {
          size,
          state: 'total',
        }),
        ...sampleIfKnown('chain_host_hugepages', await read(directory, 'free_hugepages'), {
          size,
          state: 'free',
        }),
      ])
      return (await Promise.all(counts)).flat()
    },
  }),
]
