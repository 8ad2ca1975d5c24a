import { basename, join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { backupOf, type KeyType } from '../core/key-paths.ts'
import { Secret } from '../core/secret.ts'
import { findPasswordProblem } from '../parsers/keystore-password.ts'
import type { Encrypt } from './age.ts'
import { type KnownKeys, refuseOtherKey } from './identity.ts'
import { keyIn, type Kit } from './kit.ts'
import { unfinishedName } from './unfinished.ts'

/** An encrypted copy that was written. */
export interface Exported {
  readonly key: KeyType | 'password'
  readonly from: string
  readonly file: string
  readonly publicKey: string | null
  /** Whether the key is one that `import` cannot make anew from this. */
  readonly isLegacy: boolean
}

interface Order {
  readonly keys: readonly Exported['key'][]
  readonly encrypt: Encrypt
  readonly known: KnownKeys
  readonly folder: string
  readonly isArmored: boolean
}

/**
 * Encrypts backups as they are, if each contains a key, and the key of this node as far as that is known.
 * Throws a SourceError otherwise, and writes nothing then. No file is overwritten.
 */
export const exportKeys = async (
  kit: Kit,
  { keys, encrypt, known, folder, isArmored }: Order,
): Promise<readonly Exported[]> => {
  const { files } = kit
  const sealed = []
  for (const key of keys) {
    const from = backupOf(kit.folders, key)
    const file = join(folder, `${basename(from)}.age`)
    if (await files.look(file)) throw isThere(file)
    const text = new Secret((await files.read(from)).toString('utf8'))
    const told = whatIsIn(text, key, from)
    if (key !== 'password') {
      const doing = `export the ${key} backup ${from}`
      refuseOtherKey(known[key], told.publicKey, { doing, advice: OTHER_ADVICE })
    }
    const content = await encrypt(text, isArmored)
    sealed.push({ exported: { key, from, file, ...told }, content })
  }
  const written: string[] = []
  try {
    for (const { exported, content } of sealed) {
      await writeNew(kit, exported.file, content)
      written.push(exported.file)
    }
  } catch (error) {
    for (const file of written) await files.remove(file)
    throw error
  }
  return sealed.map(({ exported }) => exported)
}

/** Cut off, it must not have the name of one that is whole. */
const writeNew = async (kit: Kit, file: string, content: string | Uint8Array): Promise<void> => {
  const { files } = kit
  const fresh = unfinishedName(file, kit)
  await files.create(fresh, content)
  try {
    if (!(await files.keepAs(fresh, file))) throw isThere(file)
  } finally {
    await files.remove(fresh)
  }
}

const OTHER_ADVICE =
  'check it with `chain-agent keys verify`; `chain-agent keys backup` writes the key that the node has now; to encrypt this file all the same, use `age` itself'
const ADVICE = 'make one: `chain-agent keys backup`'

const whatIsIn = (text: Secret, key: Exported['key'], from: string) => {
  const doing = `read the backup ${from}`
  if (key !== 'password') return pick(keyIn({ text, type: key }, doing, ADVICE))
  const problem = findPasswordProblem(text.reveal())
  if (problem !== null) throw new SourceError({ doing, happened: problem, advice: ADVICE })
  return { publicKey: null, isLegacy: false }
}

const pick = ({ publicKey, isLegacy }: Pick<Exported, 'publicKey' | 'isLegacy'>) => ({
  publicKey,
  isLegacy,
})

const isThere = (file: string): SourceError =>
  new SourceError({
    doing: `write ${file}`,
    happened: 'the file already exists, and files are never overwritten',
    advice: 'move it away, or name another folder: --output-directory FOLDER',
  })
