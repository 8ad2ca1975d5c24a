import { basename, join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { backupOf, type KeyType } from '../domain/key-paths.ts'
import { Secret } from '../core/redaction/secret.ts'
import { findPasswordProblem } from '../parsers/keystore.ts'
import type { Encrypt } from './age.ts'
import { assertSameKey, type KeyContext, type KnownKeys, parseKey } from './key-context.ts'
import { temporaryName } from './rotation.ts'

export interface ExportResult {
  readonly key: KeyType | 'password'
  readonly from: string
  readonly file: string
  readonly publicKey: string | null
  /** True for a keystore of version 1: `import` cannot restore this key from the backup. */
  readonly isLegacy: boolean
}

interface ExportRequest {
  readonly keys: readonly ExportResult['key'][]
  readonly encrypt: Encrypt
  readonly known: KnownKeys
  readonly folder: string
  readonly isArmored: boolean
}

/**
 * Encrypts backups unchanged. Throws a SourceError and writes nothing if one of them contains no key, or a key that is
 * known not to be the node's. Never overwrites a file.
 */
export const exportKeys = async (
  context: KeyContext,
  { keys, encrypt, known, folder, isArmored }: ExportRequest,
): Promise<readonly ExportResult[]> => {
  const { files } = context
  const encrypted = []
  for (const key of keys) {
    const from = backupOf(context.folders, key)
    const file = join(folder, `${basename(from)}.age`)
    if (await files.look(file)) throw fileExists(file)
    const text = new Secret((await files.read(from)).toString('utf8'))
    const identity = identityIn(text, key, from)
    if (key !== 'password') {
      const doing = `export the ${key} backup ${from}`
      assertSameKey(known[key], identity.publicKey, { doing, advice: OTHER_ADVICE })
    }
    const content = await encrypt(text, isArmored)
    encrypted.push({ exported: { key, from, file, ...identity }, content })
  }
  const written: string[] = []
  try {
    for (const { exported, content } of encrypted) {
      await writeNew(context, exported.file, content)
      written.push(exported.file)
    }
  } catch (error) {
    for (const file of written) await files.remove(file)
    throw error
  }
  return encrypted.map(({ exported }) => exported)
}

/** Writes a temporary file first: an incomplete file must not have the final name. */
const writeNew = async (context: KeyContext, file: string, content: string | Uint8Array): Promise<void> => {
  const { files } = context
  const temporary = temporaryName(file, context)
  await files.create(temporary, content)
  try {
    if (!(await files.keepAs(temporary, file))) throw fileExists(file)
  } finally {
    await files.remove(temporary)
  }
}

const OTHER_ADVICE =
  'check it with `chain-agent keys verify`; `chain-agent keys backup` writes the current key of the node; to encrypt this file anyway, use `age` itself'
const ADVICE = 'create one: `chain-agent keys backup`'

const identityIn = (text: Secret, key: ExportResult['key'], from: string) => {
  const doing = `read the backup ${from}`
  if (key !== 'password') return pick(parseKey({ text, type: key }, doing, ADVICE))
  const problem = findPasswordProblem(text.reveal())
  if (problem !== null) throw new SourceError({ doing, happened: problem, advice: ADVICE })
  return { publicKey: null, isLegacy: false }
}

const pick = ({ publicKey, isLegacy }: Pick<ExportResult, 'publicKey' | 'isLegacy'>) => ({ publicKey, isLegacy })

const fileExists = (file: string): SourceError =>
  new SourceError({
    doing: `write ${file}`,
    happened: 'the file exists, and files are not overwritten',
    advice: 'move it away, or use another directory: --output-directory DIRECTORY',
  })
