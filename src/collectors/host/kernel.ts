import type { KERNELS } from './definition.ts'
import { type Sample, sample } from '../../core/metric.ts'
import { parseWord } from '../../parsers/kernel-files.ts'
import { newestKernel } from '../../parsers/version.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import { type HostCheck, createHostCheck } from './host-check.ts'

interface KernelCheckOptions {
  readonly procfs: FileTree
  readonly boot: FileTree
  readonly timeout: number
}

/** The running kernel, and the one that the next boot starts: GRUB's default is the newest. */
export const kernelChecks = ({ procfs, boot, timeout }: KernelCheckOptions): readonly HostCheck[] => [
  createHostCheck({
    name: 'kernel',
    timeout,
    read: async () => {
      const release = await procfs.read('sys/kernel/osrelease')
      return release === null ? [] : resultOf('running', parseWord('the kernel release', release))
    },
  }),
  createHostCheck({
    name: 'kernel after a reboot',
    timeout,
    read: async () => {
      const release = newestKernel((await boot.list('.')) ?? [])
      return release === null ? [] : resultOf('pending', release)
    },
  }),
]

const resultOf = (kernel: (typeof KERNELS)[number], release: string) => {
  const reason = blockedReason(release)
  const samples: readonly Sample[] = [
    sample('chain_host_kernel_info', 1, { kernel, release }),
    sample('chain_host_kernel_blocked', reason !== null, { kernel }),
  ]
  return { samples, state: reason === null ? release : `${release}, and ${reason}` }
}

interface BlockedKernels {
  /** Ubuntu's numbers after 6.8.0, both inclusive. */
  readonly from: number
  readonly to: number
  readonly why: string
}

/** Kernels on which these nodes are known to fail, from the operating guide of the node. */
const BLOCKED: readonly BlockedKernels[] = [
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
