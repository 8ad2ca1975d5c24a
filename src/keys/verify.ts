import { summaryOf } from '../core/errors.ts'
import { backupOf, exposureOf, keystoreOf, type KeyType } from '../core/key-paths.ts'
import { asError } from '../core/outcome.ts'
import { Secret } from '../core/secret.ts'
import { readKeyMaterial } from '../parsers/keystore.ts'
import { copiesOf } from './copies.ts'
import { isSameKey, type Key, keyIn, type Kit, readNodePassword, recoverKey } from './kit.ts'
import { type OffNode, readOffNode } from './off-node.ts'
import { findUnfinished } from './unfinished.ts'
import { workshopsOf } from './workshop.ts'

/** How it stands with the backup of one key. No secret, and none can be had of it. */
export interface Verified {
  readonly key: KeyType
  readonly backup: string
  readonly keystore: string
  /** Why nothing could be restored from the backup; null where it is whole. */
  readonly problem: string | null
  /** Who beside its owner may read it; null where nobody may, or where it is not there. */
  readonly exposure: string | null
  /** Whether the keystore holds the same key; null where that is not known. */
  readonly isSame: boolean | null
  readonly whyUnknown: string | null
  readonly publicKey: string | null
  /** Whether the key is one that `import` cannot make anew from the backup. */
  readonly isLegacy: boolean
  /** Earlier backups and keystores that were kept, and whether a key can be restored from each of the former. */
  readonly copies: readonly Copy[]
  readonly keystoreCopies: readonly string[]
  /** What an interrupted run has left. */
  readonly unfinished: readonly Copy[]
  /** Whether the backup is not here, and a copy of this very key lies off the node, as was noted. */
  readonly isAway: boolean
  /** That a copy lies off the node; null where nobody has said so, or of another key. */
  readonly offNode: OffNode | null
}

interface Copy {
  readonly file: string
  readonly isWhole: boolean
  readonly exposure: string | null
}

interface Question {
  readonly key: KeyType
  /** Whether the keystore tool may be run, which shows the password in the process list for a second. */
  readonly mayRecover: boolean
}

/** Looks, compares and shows nothing. What cannot be found out is told, not thrown. */
export const verify = async (
  kit: Kit,
  { key, mayRecover }: Question,
  signal: AbortSignal,
): Promise<Verified> => {
  const { folders } = kit
  const [backup, keystore] = [backupOf(folders, key), keystoreOf(folders, key)]
  const [held, problem] = await attemptTo(() => readIt(kit, key))
  const [recovered, whyUnknown] = mayRecover
    ? await attemptTo(async () => {
        kit.say(`Opening the ${key} keystore`)
        return recoverKey(kit, { type: key, password: await readNodePassword(kit) }, signal)
      })
    : [null, 'the keystore was not opened, as asked for']
  signal.throwIfAborted()
  const publicKey = recovered?.publicKey ?? held?.publicKey ?? null
  const offNode = await offNodeOf(kit, key, publicKey)
  const isHere = (await kit.files.look(backup)) !== undefined
  return {
    key,
    backup,
    keystore,
    problem,
    exposure: await exposureAt(kit, backup),
    isSame: held && recovered ? isSameKey(held, recovered) : null,
    whyUnknown,
    publicKey,
    isLegacy: recovered?.isLegacy ?? held?.isLegacy ?? false,
    copies: await examineAll(kit, await copiesOf(kit, backup)),
    keystoreCopies: await copiesOf(kit, keystore),
    unfinished: [
      ...(await examineAll(kit, await findUnfinished(kit, backup))),
      ...(await examineAll(kit, await findUnfinished(kit, keystore))),
      ...(await examineAll(kit, await workshopsOf(kit, keystore))),
    ],
    isAway: !isHere && offNode !== null,
    offNode,
  }
}

const readIt = async ({ files, folders }: Kit, type: KeyType): Promise<Key> => {
  const path = backupOf(folders, type)
  const bytes = await files.read(path)
  return keyIn({ text: new Secret(bytes.toString('utf8')), type }, `read ${path}`, '')
}

/** What came of it, or why nothing did. */
const attemptTo = async <T>(
  work: () => Promise<T>,
): Promise<readonly [T, null] | readonly [null, string]> => {
  try {
    return [await work(), null]
  } catch (error) {
    return [null, summaryOf(asError(error))]
  }
}

const exposureAt = async ({ files, folders }: Kit, path: string): Promise<string | null> => {
  const lying = await files.look(path)
  if (lying === undefined) return null
  if (lying.kind !== 'file') return 'it is a link or no file: put the file itself there'
  return exposureOf(lying, (await files.look(folders.directory))?.uid ?? null)
}

const examineAll = (kit: Kit, paths: readonly string[]): Promise<readonly Copy[]> =>
  Promise.all(
    paths.map(async (file) => ({
      file,
      isWhole: await isWhole(kit, file),
      exposure: await exposureAt(kit, file),
    })),
  )

const isWhole = async ({ files }: Kit, path: string): Promise<boolean> => {
  const bytes = await files.read(path).catch(() => undefined)
  return bytes !== undefined && readKeyMaterial(bytes.toString('utf8')).problem === null
}

const offNodeOf = async (
  kit: Kit,
  key: KeyType,
  publicKey: string | null,
): Promise<OffNode | null> => {
  const [notes] = await attemptTo(() => readOffNode(kit))
  const note = notes?.find((one) => one.key === key)
  const isOther = note !== undefined && publicKey !== null && note.publicKey !== publicKey
  return note === undefined || isOther ? null : note
}
