import { chmod, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../../src/core/clock.ts'
import type { Validator } from '../chain.ts'
import type { SimulatedNode } from '../subject.ts'
import { LIVELY, type Pace } from '../pace.ts'
import { type Argument, directiveTable, taking } from '../scenario/directives.ts'
import type { Effect } from '../scenario/timeline.ts'
import { keyPairOf, KeystoreError, type KeyType, openKeystore, type Sealed, sealKeystore } from './keystore-file.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { asError } from '../../src/core/errors.ts'
import type { Frame, Tool } from '../tools/tools.ts'

/** The secrets of the node: two keystores, the environment file with their password, and a backup of each. */
const KEY_FILES = ['secp', 'bls', 'password', 'secp-backup', 'bls-backup', 'password-backup'] as const

type KeyFileName = (typeof KEY_FILES)[number]
export type Keys = Readonly<Record<KeyFileName, KeyFileState>> & {
  /** When the operator recorded that the backups are off the node. */
  readonly offNodeMs?: number
}

/** The state of the file of one secret. */
interface KeyFileState {
  /** `truncated`: as after a failed write. */
  readonly content: 'complete' | 'truncated' | 'empty' | 'missing'
  readonly mode: number
  readonly writtenMs: number
  /** Earlier versions, renamed and kept in the same directory. */
  readonly rotated: readonly Rotated[]
}

interface Rotated extends Pick<KeyFileState, 'mode' | 'writtenMs'> {
  readonly atMs: number
}

const PRIVATE = 0o600
/** The mode of a redirected file under the default umask. */
const READABLE = 0o644
const MONTH_MS = 30 * 86_400_000

export const usualKeys = (beginMs: number): Keys => {
  const file: KeyFileState = { content: 'complete', mode: PRIVATE, writtenMs: beginMs - MONTH_MS, rotated: [] }
  const [secp, bls, password] = [file, file, file]
  return { secp, bls, password, 'secp-backup': file, 'bls-backup': file, 'password-backup': file }
}

type KeyFileChange = (file: KeyFileState, atMs: number) => Partial<KeyFileState>

/** What a scenario does to a key file. */
const KEY_FILE_CHANGES = new Map<string, KeyFileChange>([
  ['vanishes', () => ({ content: 'missing' })],
  ['empties', (_, writtenMs) => ({ content: 'empty', writtenMs })],
  ['breaks', (_, writtenMs) => ({ content: 'truncated', writtenMs })],
  ['leaks', () => ({ mode: READABLE })],
  [
    'rotates',
    ({ mode, writtenMs, rotated }, atMs) => ({
      content: 'complete',
      writtenMs: atMs,
      rotated: [...rotated, { mode, writtenMs, atMs }],
    }),
  ],
  ['returns', (_, writtenMs) => ({ content: 'complete', mode: PRIVATE, writtenMs })],
])

const keyFileChange: Argument<KeyFileChange> = {
  expected: `one of ${[...KEY_FILE_CHANGES.keys()].join(', ')}`,
  read: (text) => KEY_FILE_CHANGES.get(text),
}

const KEY_FILE_MEANING =
  'the file of that secret is removed, emptied, truncated (a backup as by a failed recover), made world-readable, renamed and written again, or restored'

const changing = (name: KeyFileName) =>
  taking(keyFileChange, (change) => (condition, atMs) => {
    const file = condition.keys[name]
    return { ...condition, keys: { ...condition.keys, [name]: { ...file, ...change(file, atMs) } } }
  })

const backupsLeave: Effect = (condition, offNodeMs) => {
  const { keys } = condition
  const backups = KEY_FILES.filter((name) => name.endsWith('-backup'))
  const moved = backups.map((name) => [name, { ...keys[name], content: 'missing' }] as const)
  return { ...condition, keys: { ...keys, ...Object.fromEntries(moved), offNodeMs } }
}

export const keyDirectives = directiveTable({
  ...Object.fromEntries(KEY_FILES.map((name) => [`key ${name}`, [KEY_FILE_MEANING, changing(name)] as const])),
  'backups leave': ['the backups of the three secrets are kept off the node, as `keys off-node` records', backupsLeave],
})

/** Salt and IV are fixed: a keystore has the same content in every run. */
const letters = (count: number): Buffer => Buffer.from('simulated, not a key; '.repeat(5)).subarray(0, count)

const PASSWORD = 'simulated-not-a-password'

type NodeSecrets = Validator['sealed']

/** A keystore that the simulated tool opens with the password. */
const keystore = (keys: NodeSecrets, type: KeyType): string =>
  sealKeystore({ ...keys[type], password: PASSWORD, salt: letters(32), iv: letters(16) })

/** The output of `recover`. */
const backup = (keys: NodeSecrets, type: KeyType): string =>
  [RECOVERY_START, ...recoveredLines(keys[type], type), ''].join('\n')

interface KeyFile {
  readonly path: (places: NodePlaces) => string
  /** Functions, because encrypting a keystore takes milliseconds. */
  readonly complete: (keys: NodeSecrets) => string
  /** A failed `recover` leaves its first line; the other files are cut off, as on a full disk. */
  readonly truncated: (keys: NodeSecrets) => string
}

const keystoreFile = (type: KeyType): KeyFile => ({
  path: ({ nodeDirectory }) => join(nodeDirectory, 'config', `id-${type}`),
  complete: (keys) => keystore(keys, type),
  truncated: (keys) => keystore(keys, type).slice(0, 100),
})

const backupFile = (type: KeyType): KeyFile => ({
  path: ({ backupDirectory }) => join(backupDirectory, `${type}-backup`),
  complete: (keys) => backup(keys, type),
  truncated: () => `${RECOVERY_START}\n`,
})

const FILES: Readonly<Record<KeyFileName, KeyFile>> = {
  secp: keystoreFile('secp'),
  bls: keystoreFile('bls'),
  password: {
    path: ({ environmentFile }) => environmentFile,
    complete: () => `# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD='${PASSWORD}'\n`,
    truncated: () => '# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD=\n',
  },
  'secp-backup': backupFile('secp'),
  'bls-backup': backupFile('bls'),
  'password-backup': {
    path: ({ backupDirectory }) => join(backupDirectory, 'keystore-password-backup'),
    complete: () => `Keystore password: ${PASSWORD}\n`,
    truncated: () => 'Keystore password: \n',
  },
}

export type NodePlaces = ReturnType<typeof placesIn>

/** Writes the key files of the node under `directory`; all of them exist when the promise resolves. */
export const createKeyFiles = async (node: SimulatedNode, directory: string) => {
  const places = placesIn(directory, node.prefix)
  for (const folder of [join(places.nodeDirectory, 'config'), places.backupDirectory]) {
    await mkdir(folder, { recursive: true, mode: 0o750 })
  }
  const { sealed } = node.own
  const settled = new Map<KeyFileName, KeyFileState>()
  let notedMs: number | undefined
  /** A file that does not change in the scenario is not written again, even if the operator changed it. */
  const settle = async (): Promise<void> => {
    const { keys } = node.condition()
    for (const name of KEY_FILES) {
      const [before, now] = [settled.get(name), keys[name]]
      if (before === now) continue
      for (const copy of now.rotated.slice(before?.rotated.length ?? 0)) {
        const rotated = `${FILES[name].path(places)}.${stamp(copy.atMs)}.bak`
        await writeKeyFile(rotated, { name, keys: sealed, content: 'complete', ...copy })
      }
      await writeKeyFile(FILES[name].path(places), { ...now, name, keys: sealed })
      settled.set(name, now)
    }
    if (keys.offNodeMs === undefined || keys.offNodeMs === notedMs) return
    notedMs = keys.offNodeMs
    await writeFile(join(places.backupDirectory, 'off-node.json'), renderNote(sealed, notedMs), { mode: 0o600 })
  }
  await settle()
  return {
    places,
    /** Updates the files as the scenario requires, until the signal aborts. */
    keep: async ({ clock, signal, pace = LIVELY }: Context & { readonly pace?: Pace }): Promise<void> => {
      while (!signal.aborted) {
        await clock.sleep(pace.keyFilesMs, signal)
        // The directory may have been removed; the node continues without it.
        await settle().catch(() => undefined)
      }
    },
  }
}

/** What `keys off-node` writes. */
const renderNote = (keys: NodeSecrets, atMs: number): string => {
  const copies = (['secp', 'bls'] as const).map((key) => ({
    key,
    publicKey: keyPairOf(keys[key], key).publicKey,
    where: 'vault of the team',
    at: new Date(atMs).toISOString(),
  }))
  return `${JSON.stringify({ version: 1, copies }, undefined, 2)}\n`
}

/** Where the simulated host has the files of its node. */
const placesIn = (directory: string, prefix: string) => ({
  nodeDirectory: join(directory, 'home', prefix, `${prefix}-bft`),
  environmentFile: join(directory, 'home', prefix, '.env'),
  backupDirectory: join(directory, 'backup'),
})

/** 20260301121030, as in the node's instructions for an export. */
const stamp = (ms: number): string => new Date(ms).toISOString().replaceAll(/\D/g, '').slice(0, 14)

interface Content extends Omit<KeyFileState, 'rotated'> {
  readonly name: KeyFileName
  readonly keys: NodeSecrets
}

/** Atomic: a reader sees the file before the change or after it. */
const writeKeyFile = async (path: string, file: Content): Promise<void> => {
  const { name, keys, content } = file
  if (content === 'missing') {
    await rm(path, { force: true })
    return
  }
  await writeFile(`${path}.new`, content === 'empty' ? '' : FILES[name][content](keys), { mode: 0o600 })
  await chmod(`${path}.new`, file.mode)
  await utimes(`${path}.new`, file.writtenMs / 1000, file.writtenMs / 1000)
  await rename(`${path}.new`, path)
}

/** The first line of `recover`, also if it fails. */
const RECOVERY_START = 'Recovering secret from keystore file...'

const NAMES = { secp: 'Secp', bls: 'BLS' } as const
const VERSIONS = { 1: 'v1 (Legacy)', 2: 'v2 (Direct IKM)' } as const

const keyLines = (sealed: Sealed, type: KeyType): readonly string[] => {
  const { privateKey, publicKey } = keyPairOf(sealed, type)
  return [`${NAMES[type]} private key: ${privateKey}`, `${NAMES[type]} public key: ${publicKey}`]
}

/** What `recover` prints after its first line. Throws a KeystoreError if the secret is not that of a key. */
const recoveredLines = (sealed: Sealed, type: KeyType): readonly string[] => [
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

type KeystoreCall = Exclude<ReturnType<typeof readCall>, string>

const STRING = { type: 'string' } as const
const OPTIONS = { password: STRING, 'keystore-path': STRING, 'key-type': STRING, ikm: STRING } as const

/** Parses the arguments, or returns what is wrong with them. The secret, hex digits, is only for `import`. */
const readCall = (argv: readonly string[]) => {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true })
    const { password, 'keystore-path': path, 'key-type': type, ikm: secret = '' } = values
    const [mode] = positionals
    if (mode !== 'recover' && mode !== 'import') return `unrecognized subcommand '${mode ?? ''}'`
    if (type !== 'secp' && type !== 'bls') return "'--key-type <KEY_TYPE>' is secp or bls"
    if (password === undefined || path === undefined)
      return '--password <PASSWORD> and --keystore-path <KEYSTORE_PATH> are required'
    return { mode, path, password, type, secret } as const
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
