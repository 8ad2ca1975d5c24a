import { basename, join } from 'node:path'
import { backupOf, type KeyType } from '../core/key-places.ts'
import { Secret } from '../core/secret.ts'
import { encryptFor } from './age.ts'
import { keyIn, type Kit } from './kit.ts'

/** An encrypted copy that was written. */
export interface Exported {
  readonly key: KeyType
  readonly from: string
  readonly file: string
  readonly publicKey: string | null
}

interface Order {
  readonly key: KeyType
  readonly recipients: readonly string[]
  readonly folder: string
  readonly isArmored: boolean
}

/** Encrypts a backup as it is, after a look whether it is one. Throws a SourceError; no file is overwritten. */
export const exportKey = async (
  kit: Kit,
  { key, recipients, folder, isArmored }: Order,
): Promise<Exported> => {
  const from = backupOf(kit.folders, key)
  const text = new Secret((await kit.files.read(from)).toString('utf8'))
  const { publicKey } = keyIn(
    text,
    `read the backup ${from}`,
    'make one: `chain-agent keys backup`',
  )
  const file = join(folder, `${basename(from)}.age`)
  await kit.files.create(file, await encryptFor(recipients, text, { isArmored }))
  return { key, from, file, publicKey }
}
