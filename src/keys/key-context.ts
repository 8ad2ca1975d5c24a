import { dirname, resolve } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { deletableBy, type KeyFolders, keystoreOf, type KeyType } from '../domain/key-paths.ts'
import { Secret } from '../core/redaction/secret.ts'
import { readKeyMaterial, readPassword } from '../parsers/keystore.ts'
import type { KeystoreTool } from '../sources/keystore-tool.ts'
import type { Owner, SecretFiles } from '../sources/secret-files.ts'

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
  readonly user: Owner
  readonly signal: AbortSignal
}

export interface KeystoreRequest {
  readonly type: KeyType
  readonly password: Secret
  /** By default that of the node. */
  readonly path?: string
}

/** What an error reports: `read the backup …`, and what to do. */
type FailedStep = Readonly<Record<'doing' | 'advice', string>>

/** A key that was read from a keystore or a backup. */
export type Key = ReturnType<typeof parseKey>

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
export const recoverKey = async (context: KeyContext, request: KeystoreRequest): Promise<Key> => {
  const { type, password, path = keystoreOf(context.folders, type) } = request
  const text = await context.tool.recover({ path, type, password }, context.signal)
  return parseKey(text, type, { doing: `recover the ${type} key from ${path}`, advice: RECOVER_ADVICE })
}

const RECOVER_ADVICE = 'the keystore tool prints the secret since v0.12: update it and run the command again'

/** Throws a SourceError if the text has no key. */
export const parseKey = (text: Secret, type: KeyType, { doing, advice }: FailedStep) => {
  const { material, problem } = readKeyMaterial(text.reveal())
  if (problem !== null) throw new SourceError({ doing, happened: problem, advice })
  const { secret, publicKey, isLegacy } = material
  if (publicKey !== null && publicKey.length !== PUBLIC_KEY_DIGITS[type]) {
    throw new SourceError({ doing, happened: `its public key does not have the length of a ${type} key`, advice })
  }
  return {
    secret: new Secret(secret),
    publicKey,
    /** From a keystore of version 1: `import` derives another key from its secret. */
    isLegacy,
    /** The full output of the tool, or the content of the backup. */
    text,
  }
}

const PUBLIC_KEY_DIGITS = { secp: 66, bls: 96 } as const

/** Whether two keys are the same. Comparing secrets is not enough: a version 1 keystore derives another key. */
export const isSameKey = (one: Key, other: Key): boolean =>
  one.secret.isSameAs(other.secret) &&
  (one.publicKey === null || other.publicKey === null
    ? one.isLegacy === other.isLegacy
    : one.publicKey === other.publicKey)

/** The public key that another source has for this node. */
export interface KnownKey {
  readonly source: string
  /** Whether the operator has configured it: then no option overrides a mismatch. */
  readonly isConfigured: boolean
  /** Null if it is unknown. */
  readonly publicKey: string | null
  readonly whyUnknown: string | null
}

export type KnownKeys = Readonly<Record<KeyType, readonly KnownKey[]>>

/** A public key compared with one source; `isSame` is null if one of the two is unknown. */
export type Comparison = ReturnType<typeof compareKeys>[number]

export const compareKeys = (known: readonly KnownKey[], publicKey: string | null) =>
  known.map((one) => {
    if (one.publicKey === null) return { ...one, isSame: null }
    if (publicKey !== null) return { ...one, isSame: one.publicKey === publicKey }
    return { ...one, isSame: null, whyUnknown: 'the public key of the backup is not known' }
  })

/** Describes the mismatch: both keys, and what to check. */
export const describeMismatch = (
  { source, publicKey: other, isConfigured }: Comparison,
  publicKey: string | null,
): string =>
  `the public key is ${publicKey ?? 'unknown'}, but ${source} is ${other ?? 'unknown'}; check ${
    isConfigured
      ? 'that this is the right host and backup; if they are, correct node.publicKey'
      : "that this is the right host, and that node.directory is the running node's"
  }`

/** Throws a SourceError if a source has another key. Unknown is not a mismatch. */
export const assertSameKey = (known: readonly KnownKey[], publicKey: string | null, step: FailedStep): void => {
  const other = compareKeys(known, publicKey).find(({ isSame }) => isSame === false)
  if (other === undefined) return
  throw new SourceError({ ...step, happened: describeMismatch(other, publicKey) })
}

/**
 * Why users other than root, this one and the node's can remove or replace a file of the directory: its owner and mode, and
 * those of each parent, with and without symbolic links. Null if they cannot, or if the directory does not exist.
 */
export const folderRiskOf = async ({ files, folders, user }: KeyContext, folder: string) => {
  const resolved = await files.resolve(folder)
  if (resolved === undefined) return null
  const node = await files.look(folders.directory)
  const trusted = { users: [0, user.uid, node?.uid ?? 0], groups: [0, user.gid, node?.gid ?? 0] }
  for (const path of new Set([...parentsOf(folder), ...parentsOf(resolved)])) {
    const info = await files.look(path)
    const risk = info?.kind === 'folder' ? deletableBy(info, trusted) : null
    // A user who may do that may also replace a symbolic link in the path.
    if (risk !== null) return { text: risk.replace('DIRECTORY', path), hasLink: resolved !== resolve(folder) }
  }
  return null
}

const parentsOf = (path: string): readonly string[] =>
  path === dirname(path) ? [path] : [path, ...parentsOf(dirname(path))]
