/** The two keys of a node: secp signs its messages, BLS its votes. */
export const KEY_TYPES = ['secp', 'bls'] as const
export type KeyType = (typeof KEY_TYPES)[number]

/** Paths of the node's secrets; `{prefix}` is the name prefix. */
export interface KeyFolders {
  readonly directory: string
  readonly environmentFile: string
  readonly backupDirectory: string
}

/** The prefix in the paths that the node's interface fixes, whatever the prefix of its units and tools. */
const FIXED_PREFIX = 'monad'

interface PathLookup {
  /** The name prefix of the node's units and tools. */
  readonly prefix: string
  readonly files: {
    /** As in `KeyFiles`: facts, or the problem. */
    look(path: string): Promise<unknown>
  }
}

/**
 * A path of the node: with the name prefix of its units. If that path does not exist and the one with the fixed prefix
 * does, the latter.
 */
export const resolvePath = async (template: string, lookup: PathLookup): Promise<string> =>
  fill(template, (await findPrefix(template, lookup)) ?? lookup.prefix)

/** The folders that exist. What does not exist yet goes where the node's directory is. */
export const resolveFolders = async (
  { directory, environmentFile, backupDirectory }: KeyFolders,
  lookup: PathLookup,
): Promise<KeyFolders> => {
  const templates = [directory, environmentFile, backupDirectory] as const
  // All at once: on a file system that hangs, each of them may wait.
  const [node, environment, backup] = await Promise.all(templates.map(async (template) => findPrefix(template, lookup)))
  const otherwise = node ?? lookup.prefix
  return {
    directory: fill(directory, otherwise),
    environmentFile: fill(environmentFile, environment ?? otherwise),
    backupDirectory: fill(backupDirectory, backup ?? otherwise),
  }
}

const fill = (template: string, prefix: string): string => template.replaceAll('{prefix}', prefix)

/** The prefix with which the path exists; null if neither does, or if that is hidden. */
const findPrefix = async (template: string, { prefix, files }: PathLookup): Promise<string | null> => {
  const [usual, fixed] = [fill(template, prefix), fill(template, FIXED_PREFIX)]
  if (usual === fixed) return prefix
  const found = await files.look(usual)
  // A file system that fails or hangs does not make the path absent.
  if (found !== 'none' && found !== 'barred') return prefix
  return typeof (await files.look(fixed)) === 'object' ? FIXED_PREFIX : null
}

export const keystoreOf = ({ directory }: KeyFolders, type: KeyType): string => `${directory}/config/id-${type}`

export const backupOf = (
  { backupDirectory }: Pick<KeyFolders, 'backupDirectory'>,
  type: KeyType | 'password',
): string => `${backupDirectory}/${BACKUPS[type]}`

const BACKUPS = { secp: 'secp-backup', bls: 'bls-backup', password: 'keystore-password-backup' } as const

const OTHERS = 0o077
const ROOT = 0

/** Whether users other than the owner may read or write. */
export const isOpenToOthers = (mode: number): boolean => (mode & OTHERS) !== 0

/**
 * Why users other than root and the node can read or replace a key file; null if they cannot. Without the node's user
 * only the mode is checked.
 */
export const exposureOf = (
  { mode, uid }: { readonly mode: number; readonly uid: number },
  nodeUser: number | null,
): string | null => {
  if (isOpenToOthers(mode)) return `mode 0${(mode & 0o777).toString(8).padStart(3, '0')}`
  const isForeign = nodeUser !== null && uid !== ROOT && uid !== nodeUser
  return isForeign ? 'its owner is neither root nor the user of the node' : null
}

/**
 * The path to which a file is moved before it is replaced: `secp-backup.20260301121000.bak`, in UTC. `at` is in
 * milliseconds since the epoch.
 */
export const replacedCopyPath = (path: string, at: number): string =>
  `${path}.${new Date(at).toISOString().replaceAll(/\D/g, '').slice(0, 14)}.bak`

/** Whether `other` is such a copy of `path`. */
export const isReplacedCopyOf =
  (path: string) =>
  (other: string): boolean =>
    other.startsWith(`${path}.`) && /^\.\d{14}\.bak$/.test(other.slice(path.length))
