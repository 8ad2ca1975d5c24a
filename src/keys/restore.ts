import { dirname } from 'node:path'
import { ifUnreadable, SourceError } from '../core/errors.ts'
import { backupOf, keystoreOf, type KeyType } from '../domain/key-paths.ts'
import { Secret } from '../core/redaction/secret.ts'
import type { Owner } from '../sources/secret-files.ts'
import {
  copiesOf,
  findTemporaryFiles,
  keep,
  regularFileAt,
  replaceFile,
  tryRemove,
  withStagingDirectory,
} from './rotation.ts'
import { isSameKey, type KeyContext, type KeystoreRequest, parseKey, recoverKey } from './key-context.ts'
import { decryptWith, isAge } from './age.ts'

/** What a restore would do. Making the plan writes nothing. */
export type RestorePlan = Awaited<ReturnType<typeof planRestore>>

/** The public key of the backup, if it is known before the new keystore is made. */
export const publicKeyOf = ({ source, held }: RestorePlan): string | null =>
  source.key.publicKey ?? (held?.isSame === true ? held.publicKey : null)

/** A new keystore that was made and verified, and is not yet in its place. */
export type PreparedKeystore = Awaited<ReturnType<typeof prepareKeystore>>

export type RestoreResult = Awaited<ReturnType<typeof replaceKeystore>>

/** Reads the backup and the existing keystore. Throws a SourceError if the backup cannot be restored. */
export const planRestore = async (context: KeyContext, request: KeystoreRequest, source: BackupLocation) => {
  const { type } = request
  const found = await readBackup(context, type, source)
  if (found.key.isLegacy) throw cannotRestore(found, LEGACY)
  const keystore = keystoreOf(context.folders, type)
  const before = await regularFileAt(context.files, keystore)
  const plan = { type, source: found, keystore, before }
  if (before === undefined) return { ...plan, held: null, whyUnknown: null }
  context.reportProgress(`Opening the existing ${type} keystore`)
  // A keystore that cannot be opened is no error: it may be the reason for the restore.
  const held = await recoverKey(context, request).catch(ifUnreadable(({ summary }) => summary))
  context.signal.throwIfAborted()
  if (typeof held === 'string') return { ...plan, held: null, whyUnknown: held }
  if (held.isLegacy && held.secret.isSameAs(found.key.secret)) throw cannotRestore(found, LEGACY)
  return { ...plan, held: { isSame: isSameKey(held, found.key), publicKey: held.publicKey }, whyUnknown: null }
}

/**
 * Makes the new keystore in a staging directory and verifies that the same key can be recovered from it. Does not
 * change the node's files. Throws a SourceError.
 */
export const prepareKeystore = async (context: KeyContext, plan: RestorePlan, password: Secret) => {
  const { type, source, keystore, before } = plan
  const owner: Owner = before ?? (await ownerOfFolder(context, dirname(keystore)))
  return withStagingDirectory(context, keystore, async (staged) => {
    context.reportProgress(`Importing the ${type} key`)
    await context.tool.import({ path: staged, type, password }, source.key.secret, context.signal)
    if ((await context.files.look(staged))?.kind !== 'file') {
      throw cannotRestore(source, 'the keystore tool reported success but has written no keystore')
    }
    const content = await context.files.read(staged)
    context.reportProgress(`Verifying the ${type} keystore`)
    const key = await recoverKey(context, { type, password, path: staged })
    if (!key.secret.isSameAs(source.key.secret)) {
      throw cannotRestore(source, 'the new keystore contains another secret than the backup')
    }
    if (!isSameKey(key, source.key)) throw cannotRestore(source, LEGACY)
    context.signal.throwIfAborted()
    return { plan, content, owner, publicKey: key.publicKey }
  })
}

/**
 * Links the old keystore to a dated name and replaces it with the new one. Throws a SourceError; the old keystore is
 * then in its place.
 */
export const replaceKeystore = async (context: KeyContext, { plan, content, owner, publicKey }: PreparedKeystore) => {
  const { type, source, keystore } = plan
  const temporary = await findTemporaryFiles(context.files, keystore)
  /** The path of the previous keystore; null if there was none. */
  const previous: { file: string | null } = { file: null }
  try {
    await replaceFile(context, { path: keystore, content, owner }, async () => {
      await assertUnchanged(context, plan)
      previous.file = (await keep(context, keystore))?.file ?? null
    })
  } catch (error) {
    await rollBack(context, plan, previous.file)
    throw error
  }
  const removed: string[] = []
  for (const path of temporary) {
    // Temporary keystores of interrupted runs can be made again from the backup.
    if (await tryRemove(context.files, path)) removed.push(path)
  }
  const copies = (await copiesOf(context.files, keystore)).length
  return { type, keystore, from: source.file, publicKey, kept: previous.file, copies, removed }
}

/** While the operator was asked to confirm, another program may have written a keystore. */
const assertUnchanged = async (context: KeyContext, { keystore, before, source }: RestorePlan): Promise<void> => {
  const now = await regularFileAt(context.files, keystore)
  if (now?.inode === before?.inode) return
  throw cannotRestore(source, `${keystore} has changed since it was read`)
}

/** Puts the old keystore back: the rename may have succeeded, and only the sync failed. */
const rollBack = async (context: KeyContext, { keystore, before }: RestorePlan, kept: string | null): Promise<void> => {
  if (kept === null || before === undefined) return
  if ((await context.files.look(keystore))?.inode === before.inode) return
  const content = await context.files.read(kept)
  await replaceFile(context, { path: keystore, content, owner: before }, () => Promise.resolve())
}

const LEGACY = 'it belongs to a keystore of version 1, and import would derive another key from its secret'

const cannotRestore = ({ file }: BackupFile, happened: string): SourceError =>
  new SourceError({
    doing: `restore a keystore from ${file}`,
    happened,
    advice:
      happened === LEGACY
        ? 'copy the old keystore file itself to its place; its password opens it'
        : 'nothing was replaced; run the command again, and compare the version of the keystore tool with that of the node',
  })

const ownerOfFolder = async ({ files }: KeyContext, folder: string): Promise<Owner> => {
  const info = await files.look(folder)
  if (info?.kind === 'folder') return info
  throw new SourceError({
    doing: `restore a keystore into ${folder}`,
    happened: info === undefined ? 'the directory does not exist' : 'it is not a directory',
    advice: 'install the node first, or set its directory: `--set node.directory=DIRECTORY`',
  })
}

/** The backup to restore from, as the options name it. */
interface BackupLocation {
  /** A directory with backups, or one file; by default the directory of the configuration. */
  readonly from: string | undefined
  /** The file with the identities that decrypt an encrypted backup. */
  readonly identity: string | undefined
}

type BackupFile = Awaited<ReturnType<typeof readBackup>>

/** Finds and reads the backup of a key, and decrypts it if needed. Writes nothing. Throws a SourceError. */
const readBackup = async (context: KeyContext, type: KeyType, source: BackupLocation) => {
  const file = await fileOf(context, type, source)
  const bytes = await context.files.read(file, { isNamed: true })
  const isEncrypted = isAge(bytes)
  const text = isEncrypted
    ? await decryptWith(file, bytes, await identities(context, file, source))
    : new Secret(bytes.toString('utf8'))
  bytes.fill(0)
  return { file, isEncrypted, key: parseKey(text, type, { doing: `read the backup ${file}`, advice: ADVICE }) }
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
  // The second one is that of `keys export`.
  const found = [plain, `${plain}.age`]
  for (const file of found) if (await files.look(file)) return file
  const earlier = (await copiesOf(files, plain)).at(-1)
  throw new SourceError({
    doing: `find the backup of the ${type} key`,
    happened: info === undefined ? `${from} does not exist` : `neither ${found.join(' nor ')} exists`,
    advice:
      earlier === undefined
        ? 'pass the file or its directory with --from'
        : `use the newest earlier backup: --type ${type} --from ${earlier}`,
  })
}

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
