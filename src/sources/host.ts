import { createDiskUsage, createFileTree, type DiskUsage, type FileTree } from './file-tree.ts'

export interface HostSources {
  readonly procfs: FileTree
  readonly sysfs: FileTree
  readonly boot: FileTree
  /** Drive reports written by a privileged unit; null if not configured. */
  readonly health: { readonly directory: string; readonly tree: FileTree } | null
  readonly space: DiskUsage
}

interface HostPaths {
  readonly procfs: string
  readonly sysfs: string
  readonly bootDirectory: string
  readonly smartDirectory: string | null
}

export const createHostSources = (places: HostPaths): HostSources => ({
  procfs: createFileTree(places.procfs),
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
