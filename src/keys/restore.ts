import { dirname } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { type KeyType, keystoreOf } from '../core/key-paths.ts'
import type { Secret } from '../core/secret.ts'
import type { KeyFileInfo, Owner } from '../sources/secret-files.ts'
import { copiesOf, keepCopy, lyingAt } from './copies.ts'
import { isSameKey, type Key, type Kit, recoverKey } from './kit.ts'
import { type Found, readBackup, type Source } from './source.ts'
import { findUnfinished, isRemoved, putInPlace } from './unfinished.ts'
import { inWorkshop } from './workshop.ts'

/** What a restore would do, found out without writing anything. */
export interface Plan {
  readonly type: KeyType
  readonly source: Found
  readonly keystore: string
  readonly before: KeyFileInfo | undefined
  /** Which key the keystore holds now; null where there is none, or where it cannot be opened. */
  readonly held: { readonly isSame: boolean; readonly publicKey: string | null } | null
  /** Why that is not known. */
  readonly whyUnknown: string | null
}

/** The public key of the backup, as far as it is known before its keystore is made. */
export const publicKeyOf = ({ source, held }: Plan): string | null =>
  source.key.publicKey ?? (held?.isSame === true ? held.publicKey : null)

/** A keystore that was made and proven, and is in no place yet. */
export interface Prepared {
  readonly plan: Plan
  readonly content: Buffer
  readonly owner: Owner
  readonly publicKey: string | null
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
  if (found.key.isLegacy) throw cannotRestore(found, LEGACY)
  const keystore = keystoreOf(kit.folders, type)
  const before = await lyingAt(kit, keystore)
  const plan = { type, source: found, keystore, before }
  if (before === undefined) return { ...plan, held: null, whyUnknown: null }
  kit.say(`Opening the ${type} keystore that is there`)
  const held = await attemptToOpen(kit, { type, password }, signal)
  if ('whyUnknown' in held) return { ...plan, held: null, whyUnknown: held.whyUnknown }
  if (held.isLegacy && held.secret.isSameAs(found.key.secret)) throw cannotRestore(found, LEGACY)
  const { publicKey } = held
  return { ...plan, held: { isSame: isSameKey(held, found.key), publicKey }, whyUnknown: null }
}

/** That it cannot be opened may be the very reason for restoring it. */
const attemptToOpen = async (
  kit: Kit,
  one: { readonly type: KeyType; readonly password: Secret },
  signal: AbortSignal,
): Promise<Key | { readonly whyUnknown: string }> => {
  try {
    return await recoverKey(kit, one, signal)
  } catch (error) {
    if (!(error instanceof SourceError) || signal.aborted) throw error
    return { whyUnknown: error.summary }
  }
}

/**
 * Makes the new keystore where nothing of the node is, and proves it: the same key must be recovered from
 * it. Nothing of the node's is changed. Throws a SourceError.
 */
export const prepare = async (
  kit: Kit,
  { plan, password }: { readonly plan: Plan; readonly password: Secret },
  signal: AbortSignal,
): Promise<Prepared> => {
  const { type, source, keystore, before } = plan
  const owner = before ?? (await ownerOfFolder(kit, dirname(keystore)))
  return inWorkshop(kit, keystore, async (fresh) => {
    kit.say(`Importing the ${type} key`)
    await kit.tool.import({ path: fresh, type, password }, source.key.secret, signal)
    if ((await kit.files.look(fresh))?.kind !== 'file') {
      throw cannotRestore(
        source,
        'the keystore tool says that it is done, and has written no keystore',
      )
    }
    const content = await kit.files.read(fresh)
    kit.say(`Proving the ${type} keystore`)
    const key = await recoverKey(kit, { type, password, path: fresh }, signal)
    if (!key.secret.isSameAs(source.key.secret)) {
      throw cannotRestore(source, 'another secret comes out of the new keystore than went in')
    }
    if (!isSameKey(key, source.key)) throw cannotRestore(source, LEGACY)
    signal.throwIfAborted()
    return { plan, content, owner, publicKey: key.publicKey }
  })
}

/**
 * Gives the old keystore a second name and the new one its place. Throws a SourceError; the old keystore is
 * then still, or again, in its place.
 */
export const place = async (
  kit: Kit,
  { plan, content, owner, publicKey }: Prepared,
): Promise<Restored> => {
  const { type, source, keystore } = plan
  const unfinished = await findUnfinished(kit, keystore)
  let kept: string | null = null
  try {
    await putInPlace(kit, { path: keystore, content, owner }, async () => {
      await refuseIfChanged(kit, plan)
      kept = (await keepCopy(kit, keystore))?.file ?? null
    })
  } catch (error) {
    await putBack(kit, plan, kept)
    throw error
  }
  const removed: string[] = []
  for (const path of unfinished) {
    // A keystore that was never put in its place is of no use: its backup is there.
    if (await isRemoved(kit, path)) removed.push(path)
  }
  const copies = (await copiesOf(kit, keystore)).length
  return { type, keystore, from: source.file, publicKey, kept, copies, removed }
}

/** Somebody may have answered a question meanwhile, and somebody else have made a keystore. */
const refuseIfChanged = async (kit: Kit, { keystore, before, source }: Plan): Promise<void> => {
  const now = await lyingAt(kit, keystore)
  if (now?.inode === before?.inode) return
  throw cannotRestore(source, `${keystore} has changed since it was looked at`)
}

/** The name may have changed already, and only its way to the disk have failed. */
const putBack = async (
  kit: Kit,
  { keystore, before }: Plan,
  kept: string | null,
): Promise<void> => {
  if (kept === null || before === undefined) return
  if ((await kit.files.look(keystore))?.inode === before.inode) return
  const content = await kit.files.read(kept)
  await putInPlace(kit, { path: keystore, content, owner: before }, () => Promise.resolve())
}

const LEGACY =
  'it is of a keystore of the first version, and import would make another key of its secret'

const cannotRestore = ({ file }: Found, happened: string): SourceError =>
  new SourceError({
    doing: `restore a keystore from ${file}`,
    happened,
    advice:
      happened === LEGACY
        ? 'put a copy of the old keystore file itself in its place; its password opens it'
        : 'nothing was replaced; run it again, and compare the version of the keystore tool with that of the node',
  })

const ownerOfFolder = async ({ files }: Kit, folder: string): Promise<Owner> => {
  const lying = await files.look(folder)
  if (lying?.kind === 'folder') return lying
  throw new SourceError({
    doing: `restore a keystore into ${folder}`,
    happened: lying === undefined ? 'there is no such folder' : 'it is no folder',
    advice: 'install the node first, or name its folder: `--set node.directory=FOLDER`',
  })
}
