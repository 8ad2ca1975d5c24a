import { SourceError } from '../core/errors.ts'
import { type KeyFolders, keystoreOf, type KeyType } from '../core/key-paths.ts'
import { Secret } from '../core/secret.ts'
import { readPassword } from '../parsers/keystore-password.ts'
import { readKeyMaterial } from '../parsers/keystore.ts'
import type { KeystoreTool } from '../sources/keystore-tool.ts'
import type { SecretFiles } from '../sources/secret-files.ts'

/** What backup and restore work with. */
export interface Kit {
  readonly files: SecretFiles
  readonly tool: KeystoreTool
  readonly folders: KeyFolders
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Says what is being done, for who waits. */
  readonly say: (doing: string) => void
  /** What no other run has in the names of its files. */
  readonly mark: string
  /** Where nobody but root can change anything; null where we are not root. */
  readonly ownFolder: string | null
}

/** A key as it came out of a keystore or a backup. */
export interface Key {
  readonly secret: Secret
  readonly publicKey: string | null
  /** Of a keystore of the first version: `import` makes another key of its secret. */
  readonly isLegacy: boolean
  /** All that was printed. */
  readonly text: Secret
}

export const readNodePassword = async ({ files, folders }: Kit): Promise<Secret> => {
  const path = folders.environmentFile
  const { value, problem } = readPassword((await files.read(path)).toString('utf8'))
  if (problem === null && !value.includes('\0')) return new Secret(value)
  throw new SourceError({
    doing: `read the keystore password in ${path}`,
    happened: problem ?? 'it holds a zero byte',
    advice: 'mend it there, or name the right file: `--set node.environmentFile=FILE`',
  })
}

/** Has the tool recover a key. What it prints is believed only where the secret stands in it. */
export const recoverKey = async (
  { tool, folders }: Pick<Kit, 'tool' | 'folders'>,
  { type, password, path = keystoreOf(folders, type) }: Recovery,
  signal: AbortSignal,
): Promise<Key> => {
  const text = await tool.recover({ path, type, password }, signal)
  return keyIn({ text, type }, `recover the ${type} key from ${path}`, RECOVER_ADVICE)
}

interface Recovery {
  readonly type: KeyType
  readonly password: Secret
  readonly path?: string
}

const RECOVER_ADVICE =
  'the keystore tool prints the secret since v0.12: update it, and run this again'

/** `doing` says what for: "read the backup …". Throws a SourceError where there is no key in the text. */
export const keyIn = ({ text, type }: Text, doing: string, advice: string): Key => {
  const { material, problem } = readKeyMaterial(text.reveal())
  if (problem !== null) throw new SourceError({ doing, happened: problem, advice })
  const { secret, publicKey, isLegacy } = material
  if (publicKey !== null && publicKey.length !== PUBLIC_DIGITS[type]) {
    throw new SourceError({ doing, happened: `it is not a ${type} key, by its public key`, advice })
  }
  return { secret: new Secret(secret), publicKey, isLegacy, text }
}

interface Text {
  readonly text: Secret
  readonly type: KeyType
}

const PUBLIC_DIGITS = { secp: 66, bls: 96 } as const

/** Whether two are one key. The same secret is not enough: of a legacy keystore it makes another key. */
export const isSameKey = (one: Key, other: Key): boolean =>
  one.secret.isSameAs(other.secret) &&
  (one.publicKey === null || other.publicKey === null
    ? one.isLegacy === other.isLegacy
    : one.publicKey === other.publicKey)
