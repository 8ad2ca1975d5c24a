/** The two keys of a node: secp signs its messages, BLS its votes. */
export const KEY_TYPES = ['secp', 'bls'] as const
export type KeyType = (typeof KEY_TYPES)[number]

/** Where the node's secrets lie; `{prefix}` stands for the maker's word. */
export interface KeyFolders {
  readonly directory: string
  readonly environmentFile: string
  readonly backupDirectory: string
}

/** The folders with the maker's word in them. */
export const fillFolders = (folders: KeyFolders, word: string): KeyFolders => {
  const fill = (template: string): string => template.replaceAll('{prefix}', word)
  return {
    directory: fill(folders.directory),
    environmentFile: fill(folders.environmentFile),
    backupDirectory: fill(folders.backupDirectory),
  }
}

export const keystoreOf = ({ directory }: KeyFolders, type: KeyType): string =>
  `${directory}/config/id-${type}`

export const backupOf = (
  { backupDirectory }: Pick<KeyFolders, 'backupDirectory'>,
  type: KeyType | 'password',
): string => `${backupDirectory}/${BACKUPS[type]}`

const BACKUPS = {
  secp: 'secp-backup',
  bls: 'bls-backup',
  password: 'keystore-password-backup',
} as const

const OTHERS = 0o077
const ROOT = 0

/** Whether users other than the owner may read or write. */
export const isOpenToOthers = (mode: number): boolean => (mode & OTHERS) !== 0

/** Who beside root and the node may read or replace a key file. Without the node's user the mode alone tells. */
export const exposureOf = (
  { mode, uid }: { readonly mode: number; readonly uid: number },
  nodeUser: number | null,
): string | null => {
  if (isOpenToOthers(mode)) return `mode 0${(mode & 0o777).toString(8).padStart(3, '0')}`
  const isForeign = nodeUser !== null && uid !== ROOT && uid !== nodeUser
  return isForeign ? 'it belongs neither to root nor to the user of the node' : null
}

/** Where a file goes that is to be replaced: `secp-backup.20260301121000.bak`, in UTC. */
export const copyOf = (path: string, at: number): string =>
  `${path}.${new Date(at).toISOString().replaceAll(/\D/g, '').slice(0, 14)}.bak`

/** Whether `other` is a copy that was made of `path` before that was replaced. */
export const isCopyOf =
  (path: string) =>
  (other: string): boolean =>
    other.startsWith(`${path}.`) && /^\.\d{14}\.bak$/.test(other.slice(path.length))
