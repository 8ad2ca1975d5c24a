import { mem } from 'systeminformation/lib/memory.js'
import { createDiskUsage, createFileTree } from './file-tree.ts'

export type HostSources = ReturnType<typeof createHostSources>

type HostPaths = Readonly<Record<'procfs' | 'sysfs' | 'bootDirectory', string>> & {
  readonly smartDirectory: string | null
}

export const createHostSources = ({ procfs, sysfs, bootDirectory, smartDirectory: directory }: HostPaths) => ({
  procfs: createFileTree(procfs),
  /** Null if the procfs is mounted elsewhere, as in a container: its meminfo is read then. */
  readMemory: procfs === OWN_PROCFS ? readMemory : null,
  sysfs: createFileTree(sysfs),
  boot: createFileTree(bootDirectory),
  /** Drive reports written by a privileged unit; null if not configured. */
  health: directory === null ? null : { directory, tree: createFileTree(directory) },
  space,
})

/** One for the process: the size of a directory stays known after a reload of the configuration. */
const space = createDiskUsage()

const OWN_PROCFS = '/proc'

/**
 * `mem` reads /proc/meminfo and starts no process. Most other functions of the package do:
 * `currentLoad` runs `sh -c "cat /proc/stat | grep cpu"` and waits for it.
 */
const readMemory = async () => {
  const { total, available } = await mem()
  /** What programs can still get, as the kernel estimates it. */
  return { totalBytes: total, availableBytes: available }
}
