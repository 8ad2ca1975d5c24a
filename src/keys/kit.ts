import { SourceError } from '../core/errors.ts'
import { type KeyFolders, type KeyType, keystoreOf } from '../core/key-places.ts'
import { Secret } from '../core/secret.ts'
import { readKeyMaterial } from '../parsers/keystore-output.ts'
import { readPassword } from '../parsers/keystore-password.ts'
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
  /** Tells our files under way from those that another run has left. */
  readonly run: Run
}

interface Run {
  readonly pid: number
  /** Hex digits that no other run has. */
  readonly mark: string
  readonly isAlive: (pid: number) => boolean
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
  const password = readPassword((await files.read(path)).toString('utf8'))
  if (password !== undefined && !password.includes('\0')) return new Secret(password)
  throw new SourceError({
    doing: `read the keystore password in ${path}`,
    happened: password === undefined ? 'it has no KEYSTORE_PASSWORD' : 'it holds a zero byte',
    advice:
      'set KEYSTORE_PASSWORD there, or name the right file: `--set node.environmentFile=FILE`',
  })
}

/** Has the tool recover a key. What it prints is believed only where the secret stands in it. */
export const recoverKey = async (
  { tool, folders }: Pick<Kit, 'tool' | 'folders'>,
  { type, password, path = keystoreOf(folders, type) }: Recovery,
  signal: AbortSignal,
): Promise<Key> => {
  const text = await tool.recover({ path, type, password }, signal)
  return keyIn(text, `recover the ${type} key from ${path}`, RECOVER_ADVICE)
}

interface Recovery {
  readonly type: KeyType
  readonly password: Secret
  readonly path?: string
}

const RECOVER_ADVICE =
  'the keystore tool prints the secret since v0.12: update it, and run this again'

/** `doing` says what for: "read the backup …". Throws a SourceError where there is no key in the text. */
export const keyIn = (text: Secret, doing: string, advice: string): Key => {
  const { material, problem } = readKeyMaterial(text.reveal())
  if (problem !== null) throw new SourceError({ doing, happened: problem, advice })
  const { secret, publicKey, isLegacy } = material
  return { secret: new Secret(secret), publicKey, isLegacy, text }
}

/** Whether two are one key. The same secret is not enough: of a legacy keystore it makes another key. */
export const isSameKey = (one: Key, other: Key): boolean =>
  one.secret.isSameAs(other.secret) &&
  (one.publicKey === null || other.publicKey === null
    ? one.isLegacy === other.isLegacy
    : one.publicKey === other.publicKey)
