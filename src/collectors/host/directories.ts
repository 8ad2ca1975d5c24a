import { resolvePath } from '../../core/key-places.ts'
import { minute } from '../../core/units.ts'
import { sample } from '../../core/metric.ts'
import type { KeyFiles } from '../../sources/key-files.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import type { Space } from '../../sources/space.ts'
import { type Aspect, createAspect, KNOWN, NOT_TOLD, type Sight } from './aspect.ts'

/** Replaces `{prefix}` in a path of the node. */
export type ReadPath = (template: string, signal: AbortSignal) => Promise<string>

export const createReadPath =
  (readPrefix: ReadPrefix, files: Pick<KeyFiles, 'look'>): ReadPath =>
  async (template, signal) =>
    resolvePath(template, { prefix: (await readPrefix(signal)).word, files })

interface Parts {
  readonly space: Space
  readonly readPath: ReadPath
  /** Label → path, with `{prefix}`. */
  readonly directories: Readonly<Record<string, string>>
  /** The node's own directory, with `{prefix}`. */
  readonly nodeDirectory: string
  readonly timeout: number
}

/** What the node keeps writing anew while it is well, and what somebody edits. */
const FILES = {
  node: 'config/node.toml',
  forkpoint: 'config/forkpoint/forkpoint.toml',
  validators: 'config/validators/validators.toml',
} as const

const MISSING: Sight = {
  samples: [],
  state: 'not found; correct the path, or the rights (docs/host.md)',
}

/** Seen behind a bind mount, as the drop-in of `deploy/` makes them. */
const REMOVED: Sight = {
  samples: [],
  state:
    'not known: it was removed, and maybe made anew; restart the agent to see it (docs/host.md)',
}

/** The ledger of a node at work has five times as many as are looked at: that is no trouble. */
const TOO_MANY: Sight = { samples: [], state: `${NOT_TOLD}: too many files to sum` }

/** As in the alert ChainDiskFull. */
const FULL_BELOW = 0.05

/** The places on disk that the node fills, and the files that it lives by. */
export const directoryAspects = (parts: Parts): readonly Aspect[] => [
  ...Object.entries(parts.directories).flatMap(([directory, path]) =>
    spaceAspects(parts, directory, path),
  ),
  ...Object.entries(FILES).map(([file, path]) => fileAspect(parts, file, path)),
]

const spaceAspects = (
  { space, readPath, timeout }: Parts,
  directory: string,
  path: string,
): readonly Aspect[] => [
  createAspect({
    name: `file system of ${directory}`,
    timeout,
    read: async ({ signal }) => {
      const found = await space.fileSystem(await readPath(path, signal))
      if (found === null) return MISSING
      const isFull = Number(found.availableBytes) < Number(found.sizeBytes) * FULL_BELOW
      return {
        samples: [
          sample('chain_host_filesystem_size_bytes', found.sizeBytes, { directory }),
          sample('chain_host_filesystem_available_bytes', found.availableBytes, { directory }),
        ],
        state: isFull ? `less than ${FULL_BELOW * 100} % free` : KNOWN,
      }
    },
  }),
  createAspect({
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

const fileAspect = (
  { space, readPath, nodeDirectory, timeout }: Parts,
  file: string,
  path: string,
): Aspect =>
  createAspect({
    name: `file ${file}`,
    timeout,
    read: async ({ signal }) => {
      const at = await space.modifiedAt(await readPath(`${nodeDirectory}/${path}`, signal))
      if (at === null) return MISSING
      if (at === 'removed') return REMOVED
      return [sample('chain_host_file_modified_timestamp_seconds', at / 1000, { file })]
    },
  })
