import { createTree, type Tree } from './kernel.ts'
import { readMemory, type ReadMemory } from './memory.ts'
import { createSpace, type Space } from './space.ts'

/** Everything that tells of the host. */
export interface HostSources {
  readonly procfs: Tree
  readonly sysfs: Tree
  /** The images of kernels. */
  readonly boot: Tree
  /** Reports on drives, which a privileged unit writes; null where none is configured. */
  readonly health: { readonly directory: string; readonly tree: Tree } | null
  readonly space: Space
  readonly readMemory: ReadMemory
}

interface Places {
  readonly procfs: string
  readonly sysfs: string
  readonly bootDirectory: string
  readonly smartDirectory: string | null
}

export const createHostSources = (places: Places): HostSources => ({
  procfs: createTree(places.procfs),
  sysfs: createTree(places.sysfs),
  boot: createTree(places.bootDirectory),
  health:
    places.smartDirectory === null
      ? null
      : { directory: places.smartDirectory, tree: createTree(places.smartDirectory) },
  space: createSpace(),
  readMemory,
})
