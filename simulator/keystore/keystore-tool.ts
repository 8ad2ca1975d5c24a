import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { asError } from '../../src/core/errors.ts'
import type { Frame, Tool } from '../tools/tools.ts'
import { keyPairOf, KeystoreError, type KeyType, openKeystore, type Sealed, sealKeystore } from './keystore-file.ts'

/** The first line of `recover`, also if it fails. */
export const RECOVERY_START = 'Recovering secret from keystore file...'

const NAMES = { secp: 'Secp', bls: 'BLS' } as const
const VERSIONS = { 1: 'v1 (Legacy)', 2: 'v2 (Direct IKM)' } as const

const keyLines = (sealed: Sealed, type: KeyType): readonly string[] => {
  const { privateKey, publicKey } = keyPairOf(sealed, type)
  return [`${NAMES[type]} private key: ${privateKey}`, `${NAMES[type]} public key: ${publicKey}`]
}

/** What `recover` prints after its first line. Throws a KeystoreError if the secret is not that of a key. */
export const recoveredLines = (sealed: Sealed, type: KeyType): readonly string[] => [
  `Keystore version: ${VERSIONS[sealed.version]}`,
  `Keystore secret: ${sealed.secret.toString('hex')}`,
  ...keyLines(sealed, type),
]

/**
 * The simulated keystore tool, of v0.12 and later: `recover` and `import`. It reads and writes real files with the
 * permissions and umask of its process. Like the real one, it overwrites existing files.
 */
export const keystoreTool: Tool = function* (argv) {
  const call = readCall(argv)
  if (typeof call === 'string') yield* [{ stderr: `error: ${call}\n` }, { exit: 2 }] satisfies Frame[]
  else if (call.mode === 'recover') yield* recover(call)
  else yield* importKey(call)
}

interface KeystoreCall {
  readonly mode: 'recover' | 'import'
  readonly path: string
  readonly password: string
  readonly type: KeyType
  /** Hex digits; only for `import`. */
  readonly secret: string
}

const STRING = { type: 'string' } as const
const OPTIONS = { password: STRING, 'keystore-path': STRING, 'key-type': STRING, ikm: STRING } as const

/** Parses the arguments, or returns what is wrong with them. */
const readCall = (argv: readonly string[]): KeystoreCall | string => {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true })
    const { password, 'keystore-path': path, 'key-type': type, ikm: secret = '' } = values
    const [mode] = positionals
    if (mode !== 'recover' && mode !== 'import') return `unrecognized subcommand '${mode ?? ''}'`
    if (type !== 'secp' && type !== 'bls') return "'--key-type <KEY_TYPE>' is secp or bls"
    if (password === undefined || path === undefined)
      return '--password <PASSWORD> and --keystore-path <KEYSTORE_PATH> are required'
    return { mode, path, password, type, secret }
  } catch (error) {
    return asError(error).message
  }
}

function* recover({ path, password, type }: KeystoreCall): Generator<Frame> {
  yield { stdout: `${RECOVERY_START}\n` }
  yield* attempt('unable to recover keystore secret', () =>
    recoveredLines(openKeystore(readFileSync(path, 'utf8'), password), type),
  )
}

function* importKey({ path, password, type, secret }: KeystoreCall): Generator<Frame> {
  if (!/^(?:0x)?(?:[\da-f]{2})*$/i.test(secret)) {
    yield* [{ stderr: 'error: failed to parse ikm as hex\n' }, { exit: 1 }] satisfies Frame[]
    return
  }
  const sealed = { secret: Buffer.from(secret.replace(/^0x/, ''), 'hex'), version: 2 } as const
  yield* attempt('keystore file generation failed', () => {
    const lines = keyLines(sealed, type)
    writeFileSync(path, sealKeystore({ ...sealed, password }))
    return [...lines, 'Successfully generated keystore file.']
  })
}

/** The output of a command, and its exit status. */
function* attempt(failed: string, run: () => readonly string[]): Generator<Frame> {
  try {
    yield* [{ stdout: `${run().join('\n')}\n` }, { exit: 0 }] satisfies Frame[]
  } catch (error) {
    yield* [{ stderr: `error: ${failed}: ${reasonOf(error)}\n` }, { exit: 1 }] satisfies Frame[]
  }
}

/** The error in the tool's words; that of the system begins with its number. Throws any other error again. */
const reasonOf = (error: unknown): string => {
  if (error instanceof KeystoreError) return error.message
  if (error instanceof Error && 'errno' in error && 'code' in error)
    return `FileIOError(Os { code: ${Math.abs(Number(error.errno))}, kind: ${String(error.code)} })`
  throw error
}
