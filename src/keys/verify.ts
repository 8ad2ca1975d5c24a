import { asError, ParseError, summaryOf } from '../core/errors.ts'
import { backupOf, exposureOf, keystoreOf, type KeyType, offNodeFileOf } from '../domain/key-paths.ts'
import { Secret } from '../core/redaction/secret.ts'
import { readKeyMaterial } from '../parsers/keystore.ts'
import { type OffNode, parseOffNode } from '../parsers/off-node.ts'
import { copiesOf, findStagingDirectories, findTemporaryFiles, replaceFile } from './rotation.ts'
import {
  folderRiskOf,
  isSameKey,
  type Key,
  type KeyContext,
  parseKey,
  readNodePassword,
  recoverKey,
} from './key-context.ts'

/** The status of the backup of one key. Contains no secret. */
export type VerifyResult = Awaited<ReturnType<typeof verify>>

/**
 * Compares the backup with the keystore. What cannot be read is reported in the result, not thrown. `mayRecover`: whether
 * the keystore tool may be run, which shows the password in the process list for a second.
 */
export const verify = async (context: KeyContext, key: KeyType, mayRecover: boolean) => {
  const { files, folders } = context
  const [backup, keystore] = [backupOf(folders, key), keystoreOf(folders, key)]
  const [held, problem] = await attempt(() => readKeyBackup(context, key))
  const [recovered, whyUnknown] = mayRecover
    ? await attempt(async () => {
        context.reportProgress(`Opening the ${key} keystore`)
        return recoverKey(context, { type: key, password: await readNodePassword(context) })
      })
    : [null, 'the keystore was not opened (--files-only)']
  context.signal.throwIfAborted()
  const publicKey = recovered?.publicKey ?? held?.publicKey ?? null
  const offNode = await offNodeOf(context, key, publicKey)
  const isHere = (await files.look(backup)) !== undefined
  return {
    key,
    backup,
    keystore,
    /** Why the key could not be restored from the backup; null if the backup is intact. */
    problem,
    /** Why users other than its owner can read it; null if they cannot, or if there is no backup. */
    exposure: await exposureAt(context, backup),
    /** Why other users can remove or replace the backup, whatever its mode; null if they cannot. */
    folderRisk: isHere ? ((await folderRiskOf(context, folders.backupDirectory))?.text ?? null) : null,
    /** Whether the keystore contains the same key; null if that is unknown. */
    isSame: held && recovered ? isSameKey(held, recovered) : null,
    whyUnknown,
    publicKey,
    /** True for a keystore of version 1: `import` cannot restore this key from the backup. */
    isLegacy: recovered?.isLegacy ?? held?.isLegacy ?? false,
    /** Earlier backups, and whether a key can be restored from each; earlier keystores. */
    copies: await examineAll(context, await copiesOf(files, backup)),
    keystoreCopies: await copiesOf(files, keystore),
    /** Temporary files of interrupted runs. */
    unfinished: [
      ...(await examineAll(context, await findTemporaryFiles(files, backup))),
      ...(await examineAll(context, await findTemporaryFiles(files, keystore))),
      ...(await examineAll(context, await findStagingDirectories(context, keystore))),
    ],
    /** Whether there is no backup on this host, but a note of a copy of the same key off the node. */
    isAway: !isHere && offNode !== null,
    /** The note of a copy off the node; null if there is none, or it is of another key. */
    offNode,
  }
}

const readKeyBackup = async ({ files, folders }: KeyContext, type: KeyType): Promise<Key> => {
  const path = backupOf(folders, type)
  const bytes = await files.read(path)
  return parseKey(new Secret(bytes.toString('utf8')), type, { doing: `read ${path}`, advice: '' })
}

/** The result, or the summary of the error. */
const attempt = async <T>(work: () => Promise<T>): Promise<readonly [T, null] | readonly [null, string]> => {
  try {
    return [await work(), null]
  } catch (error) {
    return [null, summaryOf(asError(error))]
  }
}

const exposureAt = async ({ files, folders }: KeyContext, path: string): Promise<string | null> => {
  const info = await files.look(path)
  if (info === undefined) return null
  if (info.kind !== 'file') return 'it is not a regular file: replace the link with the file itself'
  return exposureOf(info, (await files.look(folders.directory))?.uid ?? null)
}

const examineAll = (context: KeyContext, paths: readonly string[]) =>
  Promise.all(
    paths.map(async (file) => {
      const bytes = await context.files.read(file).catch(() => undefined)
      const isWhole = bytes !== undefined && readKeyMaterial(bytes.toString('utf8')).problem === null
      return { file, isWhole, exposure: await exposureAt(context, file) }
    }),
  )

const offNodeOf = async (context: KeyContext, key: KeyType, publicKey: string | null): Promise<OffNode | null> => {
  const [notes] = await attempt(() => readOffNode(context))
  const note = notes?.find((one) => one.key === key)
  const isOther = note !== undefined && publicKey !== null && note.publicKey !== publicKey
  return note === undefined || isOther ? null : note
}

/** The notes; empty if there is no file. Throws a ParseError if the file is not valid. */
const readOffNode = async (context: Pick<KeyContext, 'files' | 'folders'>): Promise<readonly OffNode[]> => {
  const file = offNodeFileOf(context.folders)
  if ((await context.files.look(file)) === undefined) return []
  const text = (await context.files.read(file)).toString('utf8')
  const notes = parseOffNode(text)
  if (notes) return notes
  throw new ParseError(`the note ${file}`, 'what `chain-agent keys off-node` writes', '')
}

/** Writes notes, replacing earlier ones of the same keys. Throws a ParseError if the existing file is not valid. */
export const noteOffNode = async (context: KeyContext, copies: readonly OffNode[]): Promise<void> => {
  const file = offNodeFileOf(context.folders)
  const before = await readOffNode(context)
  const others = before.filter(({ key }) => copies.every((copy) => copy.key !== key))
  const text = `${JSON.stringify({ version: 1, copies: [...others, ...copies] }, undefined, 2)}\n`
  for (const path of await findTemporaryFiles(context.files, file)) await context.files.remove(path)
  await replaceFile(context, { path: file, content: text }, () => Promise.resolve())
}
