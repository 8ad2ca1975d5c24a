import { basename, dirname } from 'node:path'
import { backupOf, type KeyType } from '../core/key-places.ts'
import { Secret } from '../core/secret.ts'
import { readKeyMaterial } from '../parsers/keystore-output.ts'
import { renderPasswordBackup } from '../parsers/keystore-password.ts'
import { copiesOf, keepCopy, lyingAt } from './copies.ts'
import { type Kit, readNodePassword, recoverKey } from './kit.ts'
import { findUnfinished, unfinishedName } from './unfinished.ts'

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
  const { files, folders, run, say } = kit
  const file = backupOf(folders, key)
  const folder = dirname(file)
  const before = await lyingAt(kit, file)
  say(`Recovering the ${key} key`)
  const { text, publicKey, isLegacy } = await contentOf(kit, key, signal)
  signal.throwIfAborted()
  const unfinished = await findUnfinished(kit, folder, basename(file))
  await files.createFolder(folder)
  const fresh = `${folder}/${unfinishedName(basename(file), run)}`
  await files.create(fresh, text.reveal())
  const kept = await puttingAway(kit, fresh, async () => {
    const copy = before === undefined ? null : await keepCopy(kit, file, before)
    await files.replace(fresh, file)
    return copy
  })
  const { removed, left } = await clear(kit, unfinished, text)
  const copies = (await copiesOf(kit, file)).length
  const isKeptExposed = before !== undefined && (before.mode & OTHERS) !== 0
  return { key, file, publicKey, isLegacy, kept, isKeptExposed, copies, removed, left }
}

const OTHERS = 0o077

interface Content {
  readonly text: Secret
  readonly publicKey: string | null
  readonly isLegacy: boolean
}

const contentOf = async (kit: Kit, key: BackedUp['key'], signal: AbortSignal): Promise<Content> => {
  const password = await readNodePassword(kit)
  if (key !== 'password') return recoverKey(kit, { type: key, password }, signal)
  const text = new Secret(renderPasswordBackup(password.reveal()))
  return { text, publicKey: null, isLegacy: false }
}

/** What fails now leaves no secret behind: the file that was not put in its place goes. */
const puttingAway = async <T>(
  { files }: Kit,
  fresh: string,
  work: () => Promise<T>,
): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    await files.remove(fresh).catch(() => undefined)
    throw error
  }
}

/** A file that holds nothing which the new backup has not goes; one that might stays, and is told of. */
const clear = async ({ files }: Kit, unfinished: readonly string[], text: Secret) => {
  const removed: string[] = []
  const left: string[] = []
  for (const path of unfinished) {
    const found = await files.read(path).catch(() => undefined)
    if (found !== undefined && isContained(new Secret(found.toString('utf8')), text)) {
      await files.remove(path)
      removed.push(path)
    } else left.push(path)
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
