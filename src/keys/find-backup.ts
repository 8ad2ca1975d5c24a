import { SourceError } from '../core/errors.ts'
import { backupOf, type KeyType } from '../core/key-paths.ts'
import { Secret } from '../core/secret.ts'
import { decryptWith, isAge } from './age.ts'
import { copiesOf } from './rotation.ts'
import { type Key, type KeyContext, parseKey } from './key-context.ts'

/** The backup to restore from, as the options name it. */
export interface BackupLocation {
  /** A directory with backups, or one file; by default the directory of the configuration. */
  readonly from: string | undefined
  /** The file with the identities that decrypt an encrypted backup. */
  readonly identity: string | undefined
}

export interface BackupFile {
  readonly file: string
  readonly isEncrypted: boolean
  readonly key: Key
}

/** Finds and reads the backup of a key, and decrypts it if needed. Writes nothing. Throws a SourceError. */
export const readBackup = async (context: KeyContext, type: KeyType, source: BackupLocation): Promise<BackupFile> => {
  const file = await fileOf(context, type, source)
  const bytes = await context.files.read(file, { isNamed: true })
  const isEncrypted = isAge(bytes)
  const text = isEncrypted
    ? await decryptWith({ path: file, bytes }, await identities(context, file, source))
    : new Secret(bytes.toString('utf8'))
  bytes.fill(0)
  return { file, isEncrypted, key: parseKey({ text, type }, `read the backup ${file}`, ADVICE) }
}

const ADVICE = 'use another with --from: an earlier one (.bak), or the copy in your vault'

const fileOf = async (context: KeyContext, type: KeyType, source: BackupLocation): Promise<string> => {
  const { files, folders } = context
  const { from = folders.backupDirectory } = source
  // `<(…)` of a shell is a link to a pipe.
  const info = await files.look(from)
  const isFolder = info?.kind === 'folder' || (await files.isFolder(from))
  if (info !== undefined && !isFolder) return from
  const plain = backupOf({ backupDirectory: from }, type)
  const found = [plain, ...SUFFIXES.map((ending) => plain + ending)]
  for (const file of found) if (await files.look(file)) return file
  const earlier = (await copiesOf(context, plain)).at(-1)
  throw new SourceError({
    doing: `find the backup of the ${type} key`,
    happened: info === undefined ? `${from} does not exist` : `neither ${found.join(' nor ')} exists`,
    advice:
      earlier === undefined
        ? 'pass the file or its directory with --from'
        : `use the newest earlier backup: --type ${type} --from ${earlier}`,
  })
}

/** The suffix that `keys export` appends. */
const SUFFIXES = ['.age'] as const

const identities = async ({ files }: KeyContext, file: string, { identity }: BackupLocation): Promise<Secret> => {
  if (identity !== undefined) {
    return new Secret((await files.read(identity, { isNamed: true })).toString('utf8'))
  }
  throw new SourceError({
    doing: `decrypt ${file}`,
    happened: 'it is encrypted, and there is no --identity',
    advice: 'pass the file that age-keygen wrote: --identity FILE',
  })
}
