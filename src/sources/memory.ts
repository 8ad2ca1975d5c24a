import { mem } from 'systeminformation'

interface Memory {
  readonly totalBytes: number
  /** What programs can still have, as the kernel reckons it. */
  readonly availableBytes: number
}

export type ReadMemory = () => Promise<Memory>

/**
 * `mem` reads /proc/meminfo and starts nothing. Nothing else of the package may be used so lightly:
 * `currentLoad` runs `sh -c "cat /proc/stat | grep cpu"` and waits for it, as do most others.
 */
export const readMemory: ReadMemory = async () => {
  const { total, available } = await mem()
  return { totalBytes: total, availableBytes: available }
}
