import { basename, dirname, join, resolve } from 'node:path'
import { backupOf, KEY_TYPES, type KeyType } from '../domain/key-paths.ts'
import { SourceError } from '../core/errors.ts'
import { Secret } from '../core/redaction/secret.ts'
import { findPasswordProblem, readKeyMaterial, renderPasswordBackup } from '../parsers/keystore.ts'
import type { SecretFiles } from '../sources/secret-files.ts'
import type { Encrypt } from './age.ts'
import {
  assertSameKey,
  folderRiskOf,
  type KeyContext,
  type KnownKeys,
  parseKey,
  readNodePassword,
  recoverKey,
} from './key-context.ts'
import { copiesOf, findTemporaryFiles, keep, regularFileAt, replaceFile, temporaryName, tryRemove } from './rotation.ts'

/** What has a backup. */
export type BackupType = KeyType | 'password'

/** The result of `keys backup` for one file: paths and public keys, no secrets. */
export type BackupResult = Awaited<ReturnType<typeof backUp>>

/** The result of `keys export` for one file, likewise. */
export type ExportResult = Awaited<ReturnType<typeof exportKeys>>[number]

/**
 * Writes the backup of one key to a temporary file that only its owner can read and syncs it, then links the existing
 * backup to a dated name, then replaces it. Throws a SourceError; the existing backup is then still in its place.
 */
export const backUp = async (context: KeyContext, key: BackupType) => {
  const path = backupOf(context.folders, key)
  const folder = dirname(path)
  const before = await context.files.resolve(folder)
  // Fail before the tool runs, which shows the password in the process list.
  await regularFileAt(context.files, path)
  await assertNoForeignLink(context, folder)
  const { text, publicKey, isLegacy } = await contentOf(context, key)
  context.signal.throwIfAborted()
  await context.files.createFolder(folder)
  const opened = await context.files.openFolder(folder)
  try {
    const inFolder = { ...context, files: opened.files }
    const place = await opened.files.resolve(folder)
    if (before !== undefined && place !== before) throw replacedFolder(folder)
    const temporary = await findTemporaryFiles(opened.files, path)
    const kept = await replaceFile(inFolder, { path, content: text.reveal() }, async () => {
      if (!(await opened.isInPlace())) throw replacedFolder(folder)
      return keep(inFolder, path)
    })
    if (!(await opened.isInPlace())) {
      // No key stays in a directory to which the path does not lead.
      await opened.files.remove(path)
      if (kept) await opened.files.keepAs(kept.file, path)
      throw replacedFolder(folder)
    }
    const { removed, left } = await clear(opened.files, temporary, text)
    return {
      key,
      file: path,
      publicKey,
      /** True for a keystore of version 1: `import` cannot restore this key from the backup. */
      isLegacy,
      /** The path of the previous backup; null if there was none. */
      kept: kept?.file ?? null,
      isKeptExposed: kept?.isExposed ?? false,
      /** The number of earlier backups in the folder. */
      copies: (await copiesOf(opened.files, path)).length,
      /** Removed files of interrupted runs: the new backup contains everything that they did. */
      removed,
      /** Files of interrupted runs with another secret, or unreadable: the operator must check them. */
      left,
      /** The directory of the file, if its path contains symbolic links; null if it does not. */
      linkedTo: place === undefined || place === resolve(folder) ? null : place,
      /** Why other users can remove or replace the backup, whatever its mode; null if they cannot. */
      folderRisk: (await folderRiskOf(context, folder))?.text ?? null,
    }
  } finally {
    await opened.close()
  }
}

const replacedFolder = (folder: string): SourceError =>
  new SourceError({
    doing: `write to ${folder}`,
    happened: 'another process has replaced the directory meanwhile',
    advice: 'find out which user may do that, or set node.backupDirectory to a directory that only root can change',
  })

/** A link on the way that another user can replace may lead anywhere by the time the key is written. */
const assertNoForeignLink = async (context: KeyContext, folder: string): Promise<void> => {
  const risk = await folderRiskOf(context, folder)
  if (!risk?.hasLink) return
  throw new SourceError({
    doing: `write to ${folder}`,
    happened: `its path contains a symbolic link, and ${risk.text}`,
    advice: 'set node.backupDirectory to a directory that only root can change',
  })
}

const contentOf = async (context: KeyContext, key: BackupType) => {
  const password = await readNodePassword(context)
  const [type] = key === 'password' ? KEY_TYPES : [key]
  context.reportProgress(`Recovering the ${type} key`)
  // Verify the password: a wrong one must not replace the backup of a correct one.
  const recovered = await recoverKey(context, { type, password })
  if (key !== 'password') return recovered
  const text = new Secret(renderPasswordBackup(password.reveal()))
  return { text, publicKey: null, isLegacy: false }
}

/** Removes temporary files whose content is in the new backup; the others stay and are reported. */
const clear = async (files: SecretFiles, temporary: readonly string[], text: Secret) => {
  const removed: string[] = []
  const left: string[] = []
  for (const path of temporary) {
    const found = await files.read(path).catch(() => undefined)
    const isRedundant = found !== undefined && isContained(new Secret(found.toString('utf8')), text)
    const isRemoved = isRedundant && (await tryRemove(files, path))
    ;(isRemoved ? removed : left).push(path)
  }
  return { removed, left }
}

const isContained = (found: Secret, text: Secret): boolean => {
  if (text.reveal().startsWith(found.reveal())) return true
  const [theirs, ours] = [found, text].map((one) => readKeyMaterial(one.reveal()).material?.secret ?? null)
  return theirs !== null && theirs === ours
}

interface ExportRequest {
  readonly keys: readonly BackupType[]
  readonly encrypt: Encrypt
  readonly known: KnownKeys
  readonly folder: string
  readonly isArmored: boolean
}

/**
 * Encrypts backups unchanged. Throws a SourceError and writes nothing if one of them contains no key, or a key that is
 * known not to be the node's. Never overwrites a file.
 */
export const exportKeys = async (context: KeyContext, { keys, encrypt, known, folder, isArmored }: ExportRequest) => {
  const { files } = context
  const encrypted = []
  for (const key of keys) {
    const from = backupOf(context.folders, key)
    const file = join(folder, `${basename(from)}.age`)
    if (await files.look(file)) throw fileExists(file)
    const text = new Secret((await files.read(from)).toString('utf8'))
    const identity = identityIn(text, key, from)
    if (key !== 'password') {
      const doing = `export the ${key} backup ${from}`
      assertSameKey(known[key], identity.publicKey, { doing, advice: OTHER_ADVICE })
    }
    const content = await encrypt(text, isArmored)
    encrypted.push({ exported: { key, from, file, ...identity }, content })
  }
  const written: string[] = []
  try {
    for (const { exported, content } of encrypted) {
      await writeNew(context, exported.file, content)
      written.push(exported.file)
    }
  } catch (error) {
    for (const file of written) await files.remove(file)
    throw error
  }
  return encrypted.map(({ exported }) => exported)
}

/** Writes a temporary file first: an incomplete file must not have the final name. */
const writeNew = async (context: KeyContext, file: string, content: string | Uint8Array): Promise<void> => {
  const { files } = context
  const temporary = temporaryName(file, context)
  await files.create(temporary, content)
  try {
    if (!(await files.keepAs(temporary, file))) throw fileExists(file)
  } finally {
    await files.remove(temporary)
  }
}

const OTHER_ADVICE =
  'check it with `chain-agent keys verify`; `chain-agent keys backup` writes the current key of the node; to encrypt this file anyway, use `age` itself'
const ADVICE = 'create one: `chain-agent keys backup`'

const identityIn = (text: Secret, key: BackupType, from: string) => {
  const doing = `read the backup ${from}`
  if (key !== 'password') {
    const { publicKey, isLegacy } = parseKey(text, key, { doing, advice: ADVICE })
    return { publicKey, isLegacy }
  }
  const problem = findPasswordProblem(text.reveal())
  if (problem !== null) throw new SourceError({ doing, happened: problem, advice: ADVICE })
  return { publicKey: null, isLegacy: false }
}

const fileExists = (file: string): SourceError =>
  new SourceError({
    doing: `write ${file}`,
    happened: 'the file exists, and files are not overwritten',
    advice: 'move it away, or use another directory: --output-directory DIRECTORY',
  })
