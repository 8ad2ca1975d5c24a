import type { KERNELS } from './definition.ts'
import { type Sample, sample } from '../../core/metric.ts'
import { parseWord } from '../../parsers/kernel-files.ts'
import { newestKernel } from '../../parsers/version-number.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import { type Aspect, createAspect } from './aspect.ts'
import { whyBlocked } from './blocked-kernels.ts'

interface Parts {
  readonly procfs: FileTree
  readonly boot: FileTree
  readonly timeout: number
}

/** The kernel that runs, and the one that a reboot would bring: GRUB's default is the newest. */
export const kernelAspects = ({ procfs, boot, timeout }: Parts): readonly Aspect[] => [
  createAspect({
    name: 'kernel',
    timeout,
    read: async () => {
      const release = await procfs.read('sys/kernel/osrelease')
      return release === null ? [] : sightOf('running', parseWord('the kernel release', release))
    },
  }),
  createAspect({
    name: 'kernel after a reboot',
    timeout,
    read: async () => {
      const release = newestKernel((await boot.list('.')) ?? [])
      return release === null ? [] : sightOf('pending', release)
    },
  }),
]

const sightOf = (kernel: (typeof KERNELS)[number], release: string) => {
  const why = whyBlocked(release)
  const samples: readonly Sample[] = [
    sample('chain_host_kernel_info', 1, { kernel, release }),
    sample('chain_host_kernel_blocked', why !== null, { kernel }),
  ]
  return { samples, state: why === null ? release : `${release}, and ${why}` }
}
