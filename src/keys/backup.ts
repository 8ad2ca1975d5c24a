import { readKeyMaterial, renderPasswordBackup } from '../parsers/keystore.ts'
import { dirname } from 'node:path'
import { backupOf, KEY_TYPES, type KeyType } from '../domain/key-paths.ts'
import { Secret } from '../core/redaction/secret.ts'
import { copiesOf, findTemporaryFiles, keep, regularFileAt, replaceFile, tryRemove } from './rotation.ts'
import { type KeyContext, readNodePassword, recoverKey } from './key-context.ts'

/** The result of `keys backup` for one file: paths and public keys, no secrets. */
export interface BackupResult {
  readonly key: KeyType | 'password'
  readonly file: string
  readonly publicKey: string | null
  /** True for a keystore of version 1: `import` cannot restore this key from the backup. */
  readonly isLegacy: boolean
  /** The path of the previous backup; null if there was none. */
  readonly kept: string | null
  /** Whether other users can read the previous backup. */
  readonly isKeptExposed: boolean
  /** The number of earlier backups in the folder. */
  readonly copies: number
  /** Removed files of interrupted runs: the new backup contains everything that they did. */
  readonly removed: readonly string[]
  /** Files of interrupted runs with another secret, or unreadable: the operator must check them. */
  readonly left: readonly string[]
}

/**
 * Writes the backup of one key to a temporary file that only its owner can read and syncs it, then links the existing
 * backup to a dated name, then replaces it. Throws a SourceError; the existing backup is then still in its place.
 */
export const backUp = async (
  context: KeyContext,
  key: BackupResult['key'],
  signal: AbortSignal,
): Promise<BackupResult> => {
  const path = backupOf(context.folders, key)
  // Fail before the tool runs, which shows the password in the process list.
  await regularFileAt(context, path)
  const { text, publicKey, isLegacy } = await contentOf(context, key, signal)
  signal.throwIfAborted()
  await context.files.createFolder(dirname(path))
  const temporary = await findTemporaryFiles(context, path)
  const kept = await replaceFile(context, { path, content: text.reveal() }, () => keep(context, path))
  const { removed, left } = await clear(context, temporary, text)
  return {
    key,
    file: path,
    publicKey,
    isLegacy,
    kept: kept?.file ?? null,
    isKeptExposed: kept?.isExposed ?? false,
    copies: (await copiesOf(context, path)).length,
    removed,
    left,
  }
}

const contentOf = async (context: KeyContext, key: BackupResult['key'], signal: AbortSignal) => {
  const password = await readNodePassword(context)
  const [type] = key === 'password' ? KEY_TYPES : [key]
  context.reportProgress(`Recovering the ${type} key`)
  // Verify the password: a wrong one must not replace the backup of a correct one.
  const recovered = await recoverKey(context, { type, password }, signal)
  if (key !== 'password') return recovered
  const text = new Secret(renderPasswordBackup(password.reveal()))
  return { text, publicKey: null, isLegacy: false }
}

/** Removes temporary files whose content is in the new backup; the others stay and are reported. */
const clear = async (context: KeyContext, temporary: readonly string[], text: Secret) => {
  const removed: string[] = []
  const left: string[] = []
  for (const path of temporary) {
    const found = await context.files.read(path).catch(() => undefined)
    const isRedundant = found !== undefined && isContained(new Secret(found.toString('utf8')), text)
    const isRemoved = isRedundant && (await tryRemove(context, path))
    ;(isRemoved ? removed : left).push(path)
  }
  return { removed, left }
}

const isContained = (found: Secret, text: Secret): boolean => {
  if (text.reveal().startsWith(found.reveal())) return true
  const [theirs, ours] = [found, text].map((one) => readKeyMaterial(one.reveal()).material?.secret ?? null)
  return theirs !== null && theirs === ours
}
