import { basename, dirname } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { type KeyType, keystoreOf } from '../core/key-places.ts'
import type { Secret } from '../core/secret.ts'
import type { Lying, Owner } from '../sources/secret-files.ts'
import { copiesOf, keepCopy, lyingAt } from './copies.ts'
import { isSameKey, type Key, type Kit, recoverKey } from './kit.ts'
import { type Found, readBackup, type Source } from './source.ts'
import { findUnfinished, unfinishedName } from './unfinished.ts'

/** What a restore would do, found out without writing anything. */
export interface Plan {
  readonly type: KeyType
  readonly source: Found
  readonly keystore: string
  readonly before: Lying | undefined
  /** Which key the keystore holds now; null where there is none, or where it cannot be opened. */
  readonly held: { readonly isSame: boolean; readonly publicKey: string | null } | null
  /** Why that is not known. */
  readonly whyUnknown: string | null
}

/** What was done. */
export interface Restored {
  readonly type: KeyType
  readonly keystore: string
  readonly from: string
  readonly publicKey: string | null
  /** Where the keystore lies that was there before. */
  readonly kept: string | null
  readonly copies: number
  readonly removed: readonly string[]
}

interface Wanted {
  readonly type: KeyType
  readonly source: Source
  readonly password: Secret
}

/** Reads the backup and looks at what it would replace. Throws a SourceError where it cannot be restored from. */
export const planRestore = async (
  kit: Kit,
  { type, source, password }: Wanted,
  signal: AbortSignal,
): Promise<Plan> => {
  const found = await readBackup(kit, type, source)
  const keystore = keystoreOf(kit.folders, type)
  const before = await lyingAt(kit, keystore)
  const plan = { type, source: found, keystore, before }
  if (before === undefined) return { ...plan, held: null, whyUnknown: null }
  kit.say(`Opening the ${type} keystore that is there`)
  try {
    const held = await recoverKey(kit, { type, password }, signal)
    const { publicKey } = held
    return { ...plan, held: { isSame: isSameKey(held, found.key), publicKey }, whyUnknown: null }
  } catch (error) {
    // That it cannot be opened may be the very reason for restoring it.
    if (!(error instanceof SourceError) || signal.aborted) throw error
    return { ...plan, held: null, whyUnknown: error.summary }
  }
}

/**
 * Makes the new keystore in a folder of its own, proves it by recovering the same secret from it, and only
 * then gives the old one a second name and the new one its place. Throws a SourceError; the old keystore is
 * then still, or again, in its place.
 */
export const restore = async (
  kit: Kit,
  { plan, password }: { readonly plan: Plan; readonly password: Secret },
  signal: AbortSignal,
): Promise<Restored> => {
  const { type, source, keystore, before } = plan
  const { files, run } = kit
  const folder = dirname(keystore)
  const owner = before ?? (await ownerOfFolder(kit, folder))
  const name = `id-${type}`
  const unfinished = await findUnfinished(kit, folder, name)
  const workshop = `${folder}/${unfinishedName(name, run)}`
  const fresh = `${workshop}/${name}`
  await files.createFolder(workshop)
  try {
    const key = await make(kit, { plan, password, fresh, owner }, signal)
    signal.throwIfAborted()
    const kept = before === undefined ? null : await keepCopy(kit, keystore, before)
    await putInPlace(kit, { fresh, keystore, kept })
    const removed = await clear(kit, unfinished, name)
    const copies = (await copiesOf(kit, keystore)).length
    return { type, keystore, from: source.file, publicKey: key.publicKey, kept, copies, removed }
  } finally {
    await removeWorkshop(kit, workshop, name)
  }
}

interface Making {
  readonly plan: Plan
  readonly password: Secret
  readonly fresh: string
  readonly owner: Owner
}

const make = async (
  kit: Kit,
  { plan, password, fresh, owner }: Making,
  signal: AbortSignal,
): Promise<Key> => {
  const { type, source } = plan
  kit.say(`Importing the ${type} key`)
  await kit.tool.import({ path: fresh, type, password }, source.key.secret, signal)
  if ((await kit.files.look(fresh))?.kind !== 'file') {
    throw notProven(type, 'the tool says that it has imported it, and has written no keystore')
  }
  await kit.files.claim(fresh, owner)
  kit.say(`Proving the ${type} keystore`)
  const key = await recoverKey(kit, { type, password, path: fresh }, signal)
  if (!key.secret.isSameAs(source.key.secret)) {
    throw notProven(type, 'another secret comes out of the new keystore than went in')
  }
  if (!isSameKey(key, source.key)) throw notProven(type, LEGACY)
  return key
}

const LEGACY =
  'the new keystore has another public key: the backup is of a keystore of the first version, and import makes another key of its secret'

const notProven = (type: KeyType, happened: string): SourceError =>
  new SourceError({
    doing: `prove the new ${type} keystore`,
    happened,
    advice:
      'nothing was replaced; put a copy of the old keystore file there instead, which its password opens, or compare the version of the keystore tool with that of the node',
  })

interface Placing {
  readonly fresh: string
  readonly keystore: string
  readonly kept: string | null
}

const putInPlace = async (kit: Kit, { fresh, keystore, kept }: Placing): Promise<void> => {
  const { files, run } = kit
  try {
    await files.replace(fresh, keystore)
  } catch (error) {
    // The name may have changed already, and only its way to the disk have failed.
    const isGone = (await files.look(fresh)) === undefined
    if (isGone && kept !== null) {
      const again = `${dirname(keystore)}/${unfinishedName(basename(keystore), run)}.old`
      await files.keepAs(kept, again)
      await files.replace(again, keystore)
    }
    throw error
  }
}

const ownerOfFolder = async ({ files }: Kit, folder: string): Promise<Owner> => {
  const lying = await files.look(folder)
  if (lying?.kind === 'folder') return lying
  throw new SourceError({
    doing: `restore a keystore into ${folder}`,
    happened: lying === undefined ? 'there is no such folder' : 'it is no folder',
    advice: 'install the node first, or name its folder: `--set node.directory=FOLDER`',
  })
}

/** A keystore that an interrupted run has left is of no use: it was never proven, and its backup is there. */
const clear = async (
  kit: Kit,
  unfinished: readonly string[],
  name: string,
): Promise<readonly string[]> => {
  for (const workshop of unfinished) await removeWorkshop(kit, workshop, name)
  return unfinished
}

const removeWorkshop = async ({ files }: Kit, workshop: string, name: string): Promise<void> => {
  await files.remove(`${workshop}/${name}`)
  await files.remove(workshop)
}
