import { resolvePath } from '../../core/key-paths.ts'
import { minute } from '../../core/units.ts'
import { sample } from '../../core/metric.ts'
import type { KeyFiles } from '../../sources/key-files.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import type { DiskUsage } from '../../sources/file-tree.ts'
import { type HostCheck, createHostCheck, KNOWN, NOT_AVAILABLE, type CheckResult } from './host-check.ts'

/** Replaces `{prefix}` in a path of the node. */
export type ReadPath = (template: string, signal: AbortSignal) => Promise<string>

export const createReadPath =
  (readPrefix: ReadPrefix, files: Pick<KeyFiles, 'look'>): ReadPath =>
  async (template, signal) =>
    resolvePath(template, { prefix: (await readPrefix(signal)).word, files })

interface DirectoryCheckOptions {
  readonly space: DiskUsage
  readonly readPath: ReadPath
  /** Label → path, with `{prefix}`. */
  readonly directories: Readonly<Record<string, string>>
  /** The directory of the node, with `{prefix}`. */
  readonly nodeDirectory: string
  readonly timeout: number
}

/** Files that a healthy node rewrites, and the configuration that the operator edits. */
const FILES = {
  node: 'config/node.toml',
  forkpoint: 'config/forkpoint/forkpoint.toml',
  validators: 'config/validators/validators.toml',
} as const

const MISSING: CheckResult = {
  samples: [],
  state: 'not found; correct the path or the permissions (docs/host.md)',
}

/** Happens with a bind mount, as in the drop-in of `deploy/`. */
const REMOVED: CheckResult = {
  samples: [],
  state: 'not known: it was removed, and possibly created again; restart the agent to read it (docs/host.md)',
}

/** The ledger of a running node has five times the maximum number of files: that is not a failure. */
const TOO_MANY: CheckResult = { samples: [], state: `${NOT_AVAILABLE}: too many files to sum` }

/** As in the alert ChainDiskFull. */
const FULL_BELOW = 0.05

/** Directories that grow, and files that the node depends on. */
export const directoryChecks = (options: DirectoryCheckOptions): readonly HostCheck[] => [
  ...Object.entries(options.directories).flatMap(([directory, path]) => spaceChecks(options, directory, path)),
  ...Object.entries(FILES).map(([file, path]) => fileCheck(options, file, path)),
]

const spaceChecks = (
  { space, readPath, timeout }: DirectoryCheckOptions,
  directory: string,
  path: string,
): readonly HostCheck[] => [
  createHostCheck({
    name: `file system of ${directory}`,
    timeout,
    read: async ({ signal }) => {
      const fileSystem = await space.fileSystem(await readPath(path, signal))
      if (fileSystem === null) return MISSING
      const isFull = Number(fileSystem.availableBytes) < Number(fileSystem.sizeBytes) * FULL_BELOW
      return {
        samples: [
          sample('chain_host_filesystem_size_bytes', fileSystem.sizeBytes, { directory }),
          sample('chain_host_filesystem_available_bytes', fileSystem.availableBytes, { directory }),
        ],
        state: isFull ? `less than ${FULL_BELOW * 100} % free` : KNOWN,
      }
    },
  }),
  createHostCheck({
    name: `directory ${directory}`,
    timeout,
    every: minute,
    read: async ({ signal }) => {
      const bytes = await space.bytesBelow(await readPath(path, signal), signal)
      if (bytes === null) return MISSING
      if (bytes === 'too many') return TOO_MANY
      if (bytes === 'removed') return REMOVED
      return [sample('chain_host_directory_bytes', bytes, { directory })]
    },
  }),
]

const fileCheck = (
  { space, readPath, nodeDirectory, timeout }: DirectoryCheckOptions,
  file: string,
  path: string,
): HostCheck =>
  createHostCheck({
    name: `file ${file}`,
    timeout,
    read: async ({ signal }) => {
      const at = await space.modifiedAt(await readPath(`${nodeDirectory}/${path}`, signal))
      if (at === null) return MISSING
      if (at === 'removed') return REMOVED
      return [sample('chain_host_file_modified_timestamp_seconds', at / 1000, { file })]
    },
  })
