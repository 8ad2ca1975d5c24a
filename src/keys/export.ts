import { basename, join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { backupOf, type KeyType } from '../core/key-places.ts'
import { Secret } from '../core/secret.ts'
import { findPasswordProblem } from '../parsers/keystore-password.ts'
import { encryptFor, type Recipient } from './age.ts'
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
  readonly recipients: readonly Recipient[]
  readonly folder: string
  readonly isArmored: boolean
}

/**
 * Encrypts backups as they are, after a look whether they are some. Nothing is written where one of them
 * cannot be: throws a SourceError. No file is overwritten.
 */
export const exportKeys = async (
  kit: Kit,
  { keys, recipients, folder, isArmored }: Order,
): Promise<readonly Exported[]> => {
  const { files } = kit
  const sealed = []
  for (const key of keys) {
    const from = backupOf(kit.folders, key)
    const file = join(folder, `${basename(from)}.age`)
    if (await files.look(file)) throw isThere(file)
    const text = new Secret((await files.read(from)).toString('utf8'))
    const told = whatIsIn(text, key, from)
    const content = await encryptFor(recipients, text, { isArmored })
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
    happened: 'there is such a file already, and none is overwritten',
    advice: 'move it away, or name another folder: --output-directory FOLDER',
  })
