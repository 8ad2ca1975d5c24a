import { minute } from '../../../core/units.ts'
import { sample } from '../../../metrics.ts'
import type { Space } from '../../../sources/space.ts'
import { type Aspect, createAspect, NOT_TOLD, type Sight } from './aspect.ts'
import type { Names } from '../names.ts'

interface Parts {
  readonly space: Space
  readonly names: Names
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

/** The places on disk that the node fills, and the files that it lives by. */
export const directoryAspects = (parts: Parts): readonly Aspect[] => [
  ...Object.entries(parts.directories).flatMap(([directory, path]) =>
    spaceAspects(parts, directory, path),
  ),
  ...Object.entries(FILES).map(([file, path]) => fileAspect(parts, file, path)),
]

const spaceAspects = (
  { space, names, timeout }: Parts,
  directory: string,
  path: string,
): readonly Aspect[] => [
  createAspect({
    name: `file system of ${directory}`,
    timeout,
    read: async ({ signal }) => {
      const found = await space.fileSystem(await names.one(path, signal))
      if (found === null) return MISSING
      return [
        sample('chain_host_filesystem_size_bytes', found.sizeBytes, { directory }),
        sample('chain_host_filesystem_available_bytes', found.availableBytes, { directory }),
      ]
    },
  }),
  createAspect({
    name: `directory ${directory}`,
    timeout,
    every: minute,
    read: async ({ signal }) => {
      const bytes = await space.bytesBelow(await names.one(path, signal), signal)
      if (bytes === null) return MISSING
      if (bytes === 'too many') return TOO_MANY
      if (bytes === 'removed') return REMOVED
      return [sample('chain_host_directory_bytes', bytes, { directory })]
    },
  }),
]

const fileAspect = (
  { space, names, nodeDirectory, timeout }: Parts,
  file: string,
  path: string,
): Aspect =>
  createAspect({
    name: `file ${file}`,
    timeout,
    read: async ({ signal }) => {
      const at = await space.modifiedAt(`${await names.one(nodeDirectory, signal)}/${path}`)
      if (at === null) return MISSING
      if (at === 'removed') return REMOVED
      return [sample('chain_host_file_modified_timestamp_seconds', at / 1000, { file })]
    },
  })
