/** The two keys of a node: secp signs its messages, BLS its votes. */
export const KEY_TYPES = ['secp', 'bls'] as const
export type KeyType = (typeof KEY_TYPES)[number]

/** Paths of the node's secrets; `{prefix}` is the name prefix. */
export interface KeyFolders {
  readonly directory: string
  /** By default `config` in the node's directory. */
  readonly keystoreDirectory?: string
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
 * Where each layout has what the first one has below these paths; the first that fits is used. The second one is that of
 * packages with the keys in `/var/lib` and the configuration in `/etc`, the third that of a fork without `-bft`.
 */
const LAYOUTS = [
  [],
  [
    ['/home/{prefix}/{prefix}-bft/config/id-', '/var/lib/{prefix}/private/id-'],
    ['/home/{prefix}/{prefix}-bft/config/node.toml', '/etc/{prefix}/node.toml'],
    ['/home/{prefix}/{prefix}-bft/config/', '/var/lib/{prefix}/'],
    ['/home/{prefix}/{prefix}-bft', '/var/lib/{prefix}'],
    ['/home/{prefix}/.env', '/etc/{prefix}/env'],
  ],
  [['/home/{prefix}/{prefix}-bft', '/home/{prefix}/{prefix}']],
] as const satisfies readonly Layout[]

type Layout = readonly (readonly [from: string, to: string])[]

/** A layout, and the prefix in its paths. */
interface Location {
  readonly layout: Layout
  readonly prefix: string
}

/**
 * A path of the node: the first that exists of the layouts, each with the name prefix of its units and with the fixed
 * prefix. If none exists, the path of the first layout with the name prefix.
 */
export const resolvePath = async (template: string, lookup: PathLookup): Promise<string> =>
  pathAt(template, (await locate(template, lookup)) ?? { layout: LAYOUTS[0], prefix: lookup.prefix })

/** The folders that exist. What does not exist yet goes where the node's directory is. */
export const resolveFolders = async (
  { directory, environmentFile, backupDirectory }: KeyFolders,
  lookup: PathLookup,
): Promise<KeyFolders> => {
  const templates = [directory, environmentFile, backupDirectory] as const
  // All at once: on a file system that hangs, each of them may wait.
  const [node, environment, backup] = await Promise.all(templates.map(async (template) => locate(template, lookup)))
  const otherwise = node ?? { layout: LAYOUTS[0], prefix: lookup.prefix }
  return {
    directory: pathAt(directory, otherwise),
    keystoreDirectory: pathAt(`${directory}/config/id-`, otherwise).replace(/\/id-$/, ''),
    environmentFile: pathAt(environmentFile, environment ?? otherwise),
    backupDirectory: pathAt(backupDirectory, backup ?? otherwise),
  }
}

const pathAt = (template: string, { layout, prefix }: Location): string => {
  const [from, to] = layout.find(([begin]) => template.startsWith(begin)) ?? ['', '']
  return `${to}${template.slice(from.length)}`.replaceAll('{prefix}', prefix)
}

/** The places where the path may be, in order. */
const locationsOf = (template: string, prefix: string): ReadonlyMap<string, Location> => {
  const all = LAYOUTS.flatMap((layout: Layout) => [prefix, FIXED_PREFIX].map((one) => ({ layout, prefix: one })))
  const found = new Map<string, Location>()
  for (const location of all) {
    const path = pathAt(template, location)
    if (!found.has(path)) found.set(path, location)
  }
  return found
}

/** The first place where the path exists; null if there is none, or if they are hidden. */
const locate = async (template: string, { prefix, files }: PathLookup): Promise<Location | null> => {
  const [usual, ...others] = [...locationsOf(template, prefix)]
  if (!usual || others.length === 0) return usual?.[1] ?? null
  const found = await files.look(usual[0])
  // A file system that fails or hangs does not make the path absent.
  if (found !== 'missing' && found !== 'denied') return usual[1]
  for (const [path, location] of others) {
    if (typeof (await files.look(path)) === 'object') return location
  }
  return null
}

export const keystoreOf = ({ directory, keystoreDirectory }: KeyFolders, type: KeyType): string =>
  `${keystoreDirectory ?? `${directory}/config`}/id-${type}`

/** Where `chain-agent keys off-node` records the copies that are kept off the node. */
export const offNodeFileOf = ({ backupDirectory }: Pick<KeyFolders, 'backupDirectory'>): string =>
  `${backupDirectory}/off-node.json`

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

const STICKY = 0o1000

/**
 * Which others can remove or replace the entries of a directory, whatever the modes of these; null if none. In a directory
 * with the sticky bit only owners can, and the entry is checked itself.
 */
export const deletableBy = (
  { mode, uid, gid }: Readonly<Record<'mode' | 'uid' | 'gid', number>>,
  trusted: { readonly users: readonly number[]; readonly groups: readonly number[] },
): string | null => {
  const can = 'can remove or replace files in it'
  const shown = `mode 0${(mode & 0o7777).toString(8).padStart(3, '0')}`
  if (!trusted.users.includes(uid)) return `the user ${uid} owns DIRECTORY and ${can}`
  if ((mode & STICKY) !== 0) return null
  if ((mode & 0o002) !== 0) return `every user may write to DIRECTORY (${shown}) and ${can}`
  const isShared = (mode & 0o020) !== 0 && !trusted.groups.includes(gid)
  return isShared ? `the group ${gid} may write to DIRECTORY (${shown}) and ${can}` : null
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
