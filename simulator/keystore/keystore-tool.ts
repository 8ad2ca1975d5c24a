import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Frame, Tool } from '../tools/tools.ts'
import {
  type KeyPair,
  keyPairOf,
  KeystoreError,
  type KeyType,
  openKeystore,
  type Sealed,
  sealKeystore,
  toKeystoreError,
} from './keystore-file.ts'

/** Output and exit codes of the tool, which differ between releases. */
interface ToolRelease {
  readonly secretOption: 'ikm' | 'private-key'
  /** The version of the keystores that it writes. The first release supports only version 1. */
  readonly writes: Sealed['version']
  readonly beginning: string
  created(secret: Buffer): string
  recovered(sealed: Sealed): readonly string[]
  keys(pair: KeyPair, type: KeyType): readonly string[]
  failure(doing: Doing, fault: KeystoreError): Failure
  /** The output if the secret is not hex or not a key. */
  refusal(doing: string, why: InputError): Failure
}

type Doing = 'recover' | 'write'

interface InputError {
  readonly asText: string
  readonly asDebug: string
}

interface Failure {
  readonly stdout: string
  readonly stderr: string
  readonly exit: number
}

const NAMES = { secp: 'Secp', bls: 'BLS' } as const
const VERSIONS = { 1: 'v1 (Legacy)', 2: 'v2 (Direct IKM)' } as const

const publicLine = (pair: KeyPair, type: KeyType): string => `${NAMES[type]} public key: ${pair.publicKey}`
const bothLines = (pair: KeyPair, type: KeyType): readonly string[] => [
  `${NAMES[type]} private key: ${pair.privateKey}`,
  publicLine(pair, type),
]
const quoted = (secret: Buffer): string => `Keep your private key securely: "${secret.toString('hex')}"`
const versionLine = ({ version }: Sealed): string => `Keystore version: ${VERSIONS[version]}`

/** These releases exit with 0 after an error. */
const onStdout =
  (unableTo: string) =>
  (doing: Doing, fault: KeystoreError): Failure => ({
    stdout:
      doing === 'write'
        ? 'Keystore file generation failed, try again.\n'
        : `Unable to recover ${unableTo}\n${spelled(fault)}\n`,
    stderr: '',
    exit: 0,
  })

const spelled = ({ kind, detail }: KeystoreError): string => {
  if (kind === 'InvalidJSONFormat') return 'Invalid JSON format'
  return `${kind === 'FileIOError' ? 'IO Error' : kind} ${detail}`
}

const panic = (doing: string, { asDebug }: InputError): Failure => ({
  stdout: '',
  stderr: `\nthread 'main' panicked at src/main.rs:1:1:\n${doing}: ${asDebug}\nnote: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace\n`,
  exit: 101,
})

const errorLine = (text: string): Failure => ({ stdout: '', stderr: `error: ${text}\n`, exit: 1 })

const FIRST: ToolRelease = {
  secretOption: 'private-key',
  writes: 1,
  beginning: 'Recovering private and public key from keystore file...',
  created: quoted,
  recovered: ({ secret }) => [quoted(secret)],
  keys: (pair, type) => [publicLine(pair, type)],
  failure: onStdout('private key'),
  refusal: panic,
}

const SECOND: ToolRelease = {
  secretOption: 'ikm',
  writes: 2,
  beginning: 'Recovering secret from keystore file...',
  created: (secret) => `Keep your IKM secure: ${secret.toString('hex')}`,
  recovered: (sealed) => [versionLine(sealed)],
  keys: bothLines,
  failure: onStdout('keystore secret'),
  refusal: panic,
}

const THIRD: ToolRelease = {
  ...SECOND,
  recovered: (sealed) => [versionLine(sealed), `Keystore secret: ${sealed.secret.toString('hex')}`],
  failure: (doing, { message }) =>
    errorLine(
      doing === 'write'
        ? `keystore file generation failed: ${message}`
        : `unable to recover keystore secret: ${message}`,
    ),
  refusal: (doing, { asText }) => errorLine(`${doing}: ${asText}`),
}

/** The behaviour for a package version such as `0.16.1`. */
export const toolReleaseOf = (version: string): ToolRelease => {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  const at = Number(major) * 1000 + Number(minor)
  if (at < 11) return FIRST
  return at < 12 ? SECOND : THIRD
}

/** A parsed command line of the tool. */
interface KeystoreCall {
  readonly mode: Mode
  readonly path: string
  readonly password: string
  /** Only for `import`. */
  readonly secret: string
  readonly type: 'secp' | 'bls' | null
}

const MODES = ['create', 'recover', 'import'] as const
type Mode = (typeof MODES)[number]

interface Grammar {
  /** The option of `import` with the secret. */
  readonly secretOption: 'ikm' | 'private-key'
  readonly program: string
}

/** Parses the arguments, or returns the error message of clap, which often contains arguments. */
const readKeystoreCall = (
  [mode, ...words]: readonly string[],
  { secretOption, program }: Grammar,
): KeystoreCall | string => {
  const named = MODES.find((known) => known === mode)
  if (named === undefined) {
    const usage = `Usage: ${program} <COMMAND>`
    return mode === undefined
      ? `${usage}\n\nCommands:\n  create   Create new random key\n  recover  Recovers key from keystore\n`
      : complaint(`unrecognized subcommand '${mode}'`, usage)
  }
  const needed = [...(named === 'import' ? [secretOption] : []), 'keystore-path', 'password']
  const usage = `Usage: ${program} ${named} [OPTIONS] ${needed.map(withValue).join(' ')}`
  const values = readOptions(words, [...needed, 'key-type'])
  if (typeof values === 'string') return complaint(values, usage)
  const missing = needed.filter((name) => !values.has(name))
  if (missing.length > 0) {
    const lines = missing.map((name) => `\n  ${withValue(name)}`).join('')
    return complaint(`the following required arguments were not provided:${lines}`, usage)
  }
  const word = values.get('key-type') ?? null
  const type = word === 'secp' || word === 'bls' ? word : null
  if (type !== word) {
    return complaint(`invalid value '${word}' for '--key-type <KEY_TYPE>'\n  [possible values: secp, bls]`)
  }
  const valueOf = (name: string): string => values.get(name) ?? ''
  return {
    mode: named,
    path: valueOf('keystore-path'),
    password: valueOf('password'),
    secret: valueOf(secretOption),
    type,
  }
}

/** Each option has a value, as the next argument or after `=`; the next argument may not begin with a dash. */
const readOptions = (words: readonly string[], known: readonly string[]): ReadonlyMap<string, string> | string => {
  const values = new Map<string, string>()
  const rest = [...words]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name = '', attached] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    if (!known.includes(name)) return unexpected(word)
    if (values.has(name)) return `the argument '${withValue(name)}' cannot be used multiple times`
    const isDetached = attached === undefined
    const value = isDetached ? rest.shift() : attached
    if (value === undefined) {
      return `a value is required for '${withValue(name)}' but none was supplied`
    }
    if (isDetached && /^-./s.test(value)) return unexpected(value)
    values.set(name, value)
  }
  return values
}

const unexpected = (word: string): string => {
  const [flag = word] = /^--[^=]*|^-./s.exec(word) ?? []
  return `unexpected argument '${flag}' found`
}

const withValue = (name: string): string => `--${name} <${name.replaceAll('-', '_').toUpperCase()}>`

const complaint = (message: string, usage?: string): string =>
  `error: ${message}\n${usage === undefined ? '' : `\n${usage}\n`}\nFor more information, try '--help'.\n`

interface KeystoreToolOptions {
  readonly prefix: string
  /** The version of the installed package; the output depends on it. */
  readonly version: () => string
}

/**
 * The simulated tool that creates, recovers and imports keystores. It reads and writes real files with the permissions
 * and umask of its process. Like the real one, it overwrites existing files.
 */
export const createKeystoreTool = ({ prefix, version }: KeystoreToolOptions): Tool =>
  function* (argv) {
    const era = toolReleaseOf(version())
    const { secretOption } = era
    const call = readKeystoreCall(argv, { secretOption, program: `${prefix}-keystore` })
    if (typeof call === 'string') yield* [{ stderr: call }, { exit: 2 }] satisfies Frame[]
    else yield* COMMANDS[call.mode](call, era)
  }

function* create(call: KeystoreCall, era: ToolRelease): Generator<Frame> {
  yield printLine('It is recommended to generate key in air-gapped machine to be secure.')
  yield printLine('This tool is currently not fit for production use.')
  const secret = randomBytes(32)
  yield printLine(era.created(secret))
  yield* write(call, era, secret)
}

function* recover(call: KeystoreCall, era: ToolRelease): Generator<Frame> {
  yield printLine(era.beginning)
  const sealed = attempt(() => readKeystore(call, era))
  if (sealed instanceof KeystoreError) {
    yield* fail(era.failure('recover', sealed))
    return
  }
  for (const line of era.recovered(sealed)) yield printLine(line)
  if (yield* printKeys(call, era, sealed)) yield { exit: 0 }
}

function* importKey(call: KeystoreCall, era: ToolRelease): Generator<Frame> {
  const digits = call.secret.replace(/^0x/, '')
  const wrong = hexErrorOf(digits)
  if (wrong) {
    const what = era.secretOption === 'ikm' ? 'ikm' : 'private key'
    yield* fail(era.refusal(`failed to parse ${what} as hex`, wrong))
    return
  }
  yield* write(call, era, Buffer.from(digits, 'hex'))
}

const COMMANDS = { create, recover, import: importKey } as const

function* write(call: KeystoreCall, era: ToolRelease, secret: Buffer): Generator<Frame> {
  const sealed = { secret, version: era.writes }
  if (!(yield* printKeys(call, era, sealed))) return
  const { path, password } = call
  const fault = attempt(() => {
    writeFileSync(path, sealKeystore({ ...sealed, password }))
    return null
  })
  if (fault) yield* fail(era.failure('write', fault))
  else yield* [printLine('Successfully generated keystore file.'), { exit: 0 }] satisfies Frame[]
}

/** Returns whether to continue. */
function* printKeys({ type }: KeystoreCall, era: ToolRelease, sealed: Sealed): Generator<Frame, boolean> {
  if (!type) return true
  const pair = attempt(() => keyPairOf(sealed, type))
  if (pair instanceof KeystoreError) {
    const why = { asText: pair.message, asDebug: pair.message }
    yield* fail(era.refusal(`failed to create ${type} keypair`, why))
    return false
  }
  for (const line of era.keys(pair, type)) yield printLine(line)
  return true
}

const readKeystore = ({ path, password }: KeystoreCall, { writes }: ToolRelease): Sealed => {
  const sealed = openKeystore(readFileSync(path, 'utf8'), password)
  if (sealed.version > writes) throw new KeystoreError('InvalidJSONFormat')
  return sealed
}

const attempt = <T>(what: () => T): T | KeystoreError => {
  try {
    return what()
  } catch (error) {
    return toKeystoreError(error)
  }
}

const printLine = (line: string): Frame => ({ stdout: `${line}\n` })

function* fail({ stdout, stderr, exit }: ReturnType<ToolRelease['failure']>): Generator<Frame> {
  if (stdout !== '') yield { stdout }
  if (stderr !== '') yield { stderr }
  yield { exit }
}

/** Reports the first character that is not a digit. */
const hexErrorOf = (digits: string) => {
  if (digits.length % 2 === 1) {
    return { asText: 'Odd number of digits', asDebug: 'OddLength' }
  }
  const at = digits.search(/[^\da-f]/i)
  if (at < 0) return null
  const digit = digits.charAt(at)
  return {
    asText: `Invalid character '${digit}' at position ${at}`,
    asDebug: `InvalidHexCharacter { c: '${digit}', index: ${at} }`,
  }
}
