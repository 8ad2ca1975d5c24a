import { dirname } from 'node:path'
import { backupOf, KEY_TYPES, type KeyType } from '../core/key-paths.ts'
import { Secret } from '../core/secret.ts'
import { renderPasswordBackup } from '../parsers/keystore-password.ts'
import { readKeyMaterial } from '../parsers/keystore.ts'
import { copiesOf, keepCopy, lyingAt } from './copies.ts'
import { type Kit, readNodePassword, recoverKey } from './kit.ts'
import { findUnfinished, isRemoved, putInPlace } from './unfinished.ts'

/** What `keys backup` did for one file. Paths and public keys alone. */
export interface BackedUp {
  readonly key: KeyType | 'password'
  readonly file: string
  readonly publicKey: string | null
  /** Whether the key is one that `import` cannot make anew from this. */
  readonly isLegacy: boolean
  /** Where the backup lies that was there before; null where there was none. */
  readonly kept: string | null
  /** Whether others than its owner may read that copy, as they could read the backup. */
  readonly isKeptExposed: boolean
  /** How many earlier ones lie beside it. */
  readonly copies: number
  /** What an interrupted run had left, and is of no use beside the new backup. */
  readonly removed: readonly string[]
  /** What an interrupted run had left, with another secret or unread: somebody has to look. */
  readonly left: readonly string[]
}

/**
 * Writes the backup of one key: whole, for its owner alone and on the disk under a name of its own, before
 * the one that is there gets a second name, and gives its first name away. Throws a SourceError; the old
 * backup is then still in its place.
 */
export const backUp = async (
  kit: Kit,
  key: BackedUp['key'],
  signal: AbortSignal,
): Promise<BackedUp> => {
  const path = backupOf(kit.folders, key)
  // Before the password is shown to anybody.
  await lyingAt(kit, path)
  const { text, publicKey, isLegacy } = await contentOf(kit, key, signal)
  signal.throwIfAborted()
  await kit.files.createFolder(dirname(path))
  const unfinished = await findUnfinished(kit, path)
  const kept = await putInPlace(kit, { path, content: text.reveal() }, () => keepCopy(kit, path))
  const { removed, left } = await clear(kit, unfinished, text)
  return {
    key,
    file: path,
    publicKey,
    isLegacy,
    kept: kept?.file ?? null,
    isKeptExposed: kept?.isExposed ?? false,
    copies: (await copiesOf(kit, path)).length,
    removed,
    left,
  }
}

interface Content {
  readonly text: Secret
  readonly publicKey: string | null
  readonly isLegacy: boolean
}

const contentOf = async (kit: Kit, key: BackedUp['key'], signal: AbortSignal): Promise<Content> => {
  const password = await readNodePassword(kit)
  const [type] = key === 'password' ? KEY_TYPES : [key]
  kit.say(`Recovering the ${type} key`)
  // A password that opens nothing would take the place of one that does.
  const recovered = await recoverKey(kit, { type, password }, signal)
  if (key !== 'password') return recovered
  const text = new Secret(renderPasswordBackup(password.reveal()))
  return { text, publicKey: null, isLegacy: false }
}

/** A file that holds nothing which the new backup has not goes; one that might stays, and is told of. */
const clear = async (kit: Kit, unfinished: readonly string[], text: Secret) => {
  const removed: string[] = []
  const left: string[] = []
  for (const path of unfinished) {
    const found = await kit.files.read(path).catch(() => undefined)
    const isOfNoUse = found !== undefined && isContained(new Secret(found.toString('utf8')), text)
    const isGone = isOfNoUse && (await isRemoved(kit, path))
    ;(isGone ? removed : left).push(path)
  }
  return { removed, left }
}

const isContained = (found: Secret, text: Secret): boolean => {
  if (text.reveal().startsWith(found.reveal())) return true
  const [theirs, ours] = [found, text].map(
    (one) => readKeyMaterial(one.reveal()).material?.secret ?? null,
  )
  return theirs !== null && theirs === ours
}
