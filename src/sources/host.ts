import { mem } from 'systeminformation/lib/memory.js'
import { createDiskUsage, createFileTree, type DiskUsage, type FileTree } from './file-tree.ts'

export interface HostSources {
  readonly procfs: FileTree
  readonly sysfs: FileTree
  readonly boot: FileTree
  /** Drive reports written by a privileged unit; null if not configured. */
  readonly health: { readonly directory: string; readonly tree: FileTree } | null
  readonly space: DiskUsage
  /** Null if the procfs is mounted elsewhere, as in a container: its meminfo is read then. */
  readonly readMemory: (() => Promise<Memory>) | null
}

interface Memory {
  readonly totalBytes: number
  /** What programs can still get, as the kernel estimates it. */
  readonly availableBytes: number
}

interface HostPaths {
  readonly procfs: string
  readonly sysfs: string
  readonly bootDirectory: string
  readonly smartDirectory: string | null
}

export const createHostSources = (places: HostPaths): HostSources => ({
  procfs: createFileTree(places.procfs),
  readMemory: places.procfs === OWN_PROCFS ? readMemory : null,
  sysfs: createFileTree(places.sysfs),
  boot: createFileTree(places.bootDirectory),
  health:
    places.smartDirectory === null
      ? null
      : { directory: places.smartDirectory, tree: createFileTree(places.smartDirectory) },
  space,
})

/** One for the process: the size of a directory stays known after a reload of the configuration. */
const space = createDiskUsage()

const OWN_PROCFS = '/proc'

/**
 * `mem` reads /proc/meminfo and starts no process. Most other functions of the package do:
 * `currentLoad` runs `sh -c "cat /proc/stat | grep cpu"` and waits for it.
 */
const readMemory = async (): Promise<Memory> => {
  const { total, available } = await mem()
  return { totalBytes: total, availableBytes: available }
}
