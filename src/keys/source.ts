import { SourceError } from '../core/errors.ts'
import { backupOf, type KeyType } from '../core/key-paths.ts'
import { Secret } from '../core/secret.ts'
import { decryptWith, isAge } from './age.ts'
import { copiesOf } from './copies.ts'
import { type Key, keyIn, type Kit } from './kit.ts'

/** Where a key is restored from. */
export interface Source {
  /** A folder of backups, or the one file; the folder of the configuration without it. */
  readonly from: string | undefined
  /** The file with the identities that open an encrypted backup. */
  readonly identity: string | undefined
}

export interface Found {
  readonly file: string
  readonly isEncrypted: boolean
  readonly key: Key
}

/** Finds the backup of a key and reads it, decrypted where it must be. Nothing is written. */
export const readBackup = async (kit: Kit, type: KeyType, source: Source): Promise<Found> => {
  const file = await fileOf(kit, type, source)
  const bytes = await kit.files.read(file, { isNamed: true })
  const isEncrypted = isAge(bytes)
  const text = isEncrypted
    ? await decryptWith({ path: file, bytes }, await identities(kit, file, source))
    : new Secret(bytes.toString('utf8'))
  bytes.fill(0)
  return { file, isEncrypted, key: keyIn({ text, type }, `read the backup ${file}`, ADVICE) }
}

const ADVICE = 'name another with --from: an earlier one (.bak), or the copy in your vault'

const fileOf = async (kit: Kit, type: KeyType, source: Source): Promise<string> => {
  const { files, folders } = kit
  const { from = folders.backupDirectory } = source
  // A shell's `<(…)` is a link to a pipe.
  const lying = await files.look(from)
  const isFolder = lying?.kind === 'folder' || (await files.isFolder(from))
  if (lying !== undefined && !isFolder) return from
  const plain = backupOf({ backupDirectory: from }, type)
  const found = [plain, ...ENDINGS.map((ending) => plain + ending)]
  for (const file of found) if (await files.look(file)) return file
  const earlier = (await copiesOf(kit, plain)).at(-1)
  throw new SourceError({
    doing: `find the backup of the ${type} key`,
    happened:
      lying === undefined ? `there is no ${from}` : `there is no ${found.join(', and no ')}`,
    advice:
      earlier === undefined
        ? 'name the file or its folder with --from'
        : `the newest that was kept: --type ${type} --from ${earlier}`,
  })
}

/** As `keys export` names them. */
const ENDINGS = ['.age'] as const

const identities = async ({ files }: Kit, file: string, { identity }: Source): Promise<Secret> => {
  if (identity !== undefined) {
    return new Secret((await files.read(identity, { isNamed: true })).toString('utf8'))
  }
  throw new SourceError({
    doing: `decrypt ${file}`,
    happened: 'it is encrypted, and no identity is named',
    advice: 'name the file that age-keygen wrote: --identity FILE',
  })
}
