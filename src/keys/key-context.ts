import { SourceError } from '../core/errors.ts'
import { type KeyFolders, keystoreOf, type KeyType } from '../core/key-paths.ts'
import { Secret } from '../core/secret.ts'
import { readKeyMaterial } from '../parsers/keystore.ts'
import { readPassword } from '../parsers/keystore-password.ts'
import type { KeystoreTool } from '../sources/keystore-tool.ts'
import type { SecretFiles } from '../sources/secret-files.ts'

/** The files, tool and paths that backup and restore use. */
export interface KeyContext {
  readonly files: SecretFiles
  readonly tool: KeystoreTool
  readonly folders: KeyFolders
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Receives the current step, for the progress line. */
  readonly reportProgress: (doing: string) => void
  /** Unique in the names of temporary files. */
  readonly runId: string
  /** A directory that only root can change; null if this process does not run as root. */
  readonly privateDirectory: string | null
}

/** A key that was read from a keystore or a backup. */
export interface Key {
  readonly secret: Secret
  readonly publicKey: string | null
  /** From a keystore of version 1: `import` derives another key from its secret. */
  readonly isLegacy: boolean
  /** The full output of the tool, or the content of the backup. */
  readonly text: Secret
}

export const readNodePassword = async ({ files, folders }: KeyContext): Promise<Secret> => {
  const path = folders.environmentFile
  const { value, problem } = readPassword((await files.read(path)).toString('utf8'))
  if (problem === null && !value.includes('\0')) return new Secret(value)
  throw new SourceError({
    doing: `read the keystore password in ${path}`,
    happened: problem ?? 'it contains a zero byte',
    advice: 'fix it there, or use another file: `--set node.environmentFile=FILE`',
  })
}

/** Recovers a key with the keystore tool. Throws a SourceError if its output does not contain the secret. */
export const recoverKey = async (
  { tool, folders }: Pick<KeyContext, 'tool' | 'folders'>,
  { type, password, path = keystoreOf(folders, type) }: RecoverOptions,
  signal: AbortSignal,
): Promise<Key> => {
  const text = await tool.recover({ path, type, password }, signal)
  return parseKey({ text, type }, `recover the ${type} key from ${path}`, RECOVER_ADVICE)
}

interface RecoverOptions {
  readonly type: KeyType
  readonly password: Secret
  readonly path?: string
}

const RECOVER_ADVICE = 'the keystore tool prints the secret since v0.12: update it and run the command again'

/** `doing` is the start of the error message: "read the backup …". Throws a SourceError if the text has no key. */
export const parseKey = ({ text, type }: Text, doing: string, advice: string): Key => {
  const { material, problem } = readKeyMaterial(text.reveal())
  if (problem !== null) throw new SourceError({ doing, happened: problem, advice })
  const { secret, publicKey, isLegacy } = material
  if (publicKey !== null && publicKey.length !== PUBLIC_KEY_DIGITS[type]) {
    throw new SourceError({
      doing,
      happened: `the length of its public key is not that of a ${type} key`,
      advice,
    })
  }
  return { secret: new Secret(secret), publicKey, isLegacy, text }
}

interface Text {
  readonly text: Secret
  readonly type: KeyType
}

const PUBLIC_KEY_DIGITS = { secp: 66, bls: 96 } as const

/** Whether two keys are the same. Comparing secrets is not enough: a version 1 keystore derives another key. */
export const isSameKey = (one: Key, other: Key): boolean =>
  one.secret.isSameAs(other.secret) &&
  (one.publicKey === null || other.publicKey === null
    ? one.isLegacy === other.isLegacy
    : one.publicKey === other.publicKey)
