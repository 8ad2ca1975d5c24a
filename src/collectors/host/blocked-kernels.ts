interface BlockedKernels {
  /** Ubuntu's numbers behind 6.8.0, from and to. */
  readonly from: number
  readonly to: number
  readonly why: string
}

/** Kernels on which such nodes are known to fail: the list of the node's own operating guide. */
const BLOCKED: readonly BlockedKernels[] = [
  { from: 56, to: 59, why: 'the node hangs on it' },
  { from: 136, to: 136, why: 'io_uring fails on it: "failed to create buffer ring", code 22' },
]

/** Why a node should not run on that kernel; null where nothing is known against it. */
export const whyBlocked = (release: string): string | null => {
  // Kernels of clouds count for themselves, from 1000 on.
  const [, number] = /^6\.8\.0-(\d+)(?:-|$)/.exec(release) ?? []
  if (number === undefined) return null
  return BLOCKED.find(({ from, to }) => Number(number) >= from && Number(number) <= to)?.why ?? null
}
