import type { KeyPair, KeyType } from './key-pair.ts'
import type { KeystoreFault } from './keystore-fault.ts'
import type { Sealed } from './keystore-file.ts'

/** What the tool says, and how it ends, which differs from version to version. */
export interface KeystoreEra {
  readonly secretOption: 'ikm' | 'private-key'
  /** Of the keystores that it writes. The first era knows no other. */
  readonly writes: Sealed['version']
  readonly beginning: string
  created(secret: Buffer): string
  recovered(sealed: Sealed): readonly string[]
  keys(pair: KeyPair, type: KeyType): readonly string[]
  failure(doing: Doing, fault: KeystoreFault): Failure
  /** What follows where the secret is no hex, or no key. */
  refusal(doing: string, why: Refusal): Failure
}

type Doing = 'recover' | 'write'

interface Refusal {
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

const publicLine = (pair: KeyPair, type: KeyType): string =>
  `${NAMES[type]} public key: ${pair.publicKey}`
const bothLines = (pair: KeyPair, type: KeyType): readonly string[] => [
  `${NAMES[type]} private key: ${pair.privateKey}`,
  publicLine(pair, type),
]
const quoted = (secret: Buffer): string =>
  `Keep your private key securely: "${secret.toString('hex')}"`
const versionLine = ({ version }: Sealed): string => `Keystore version: ${VERSIONS[version]}`

/** Failed, and ended with 0. */
const onStdout =
  (unableTo: string) =>
  (doing: Doing, fault: KeystoreFault): Failure => ({
    stdout:
      doing === 'write'
        ? 'Keystore file generation failed, try again.\n'
        : `Unable to recover ${unableTo}\n${spelled(fault)}\n`,
    stderr: '',
    exit: 0,
  })

const spelled = ({ kind, detail }: KeystoreFault): string => {
  if (kind === 'InvalidJSONFormat') return 'Invalid JSON format'
  return `${kind === 'FileIOError' ? 'IO Error' : kind} ${detail}`
}

const panic = (doing: string, { asDebug }: Refusal): Failure => ({
  stdout: '',
  stderr: `\nthread 'main' panicked at src/main.rs:1:1:\n${doing}: ${asDebug}\nnote: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace\n`,
  exit: 101,
})

const error = (text: string): Failure => ({ stdout: '', stderr: `error: ${text}\n`, exit: 1 })

const FIRST: KeystoreEra = {
  secretOption: 'private-key',
  writes: 1,
  beginning: 'Recovering private and public key from keystore file...',
  created: quoted,
  recovered: ({ secret }) => [quoted(secret)],
  keys: (pair, type) => [publicLine(pair, type)],
  failure: onStdout('private key'),
  refusal: panic,
}

const SECOND: KeystoreEra = {
  secretOption: 'ikm',
  writes: 2,
  beginning: 'Recovering secret from keystore file...',
  created: (secret) => `Keep your IKM secure: ${secret.toString('hex')}`,
  recovered: (sealed) => [versionLine(sealed)],
  keys: bothLines,
  failure: onStdout('keystore secret'),
  refusal: panic,
}

const THIRD: KeystoreEra = {
  ...SECOND,
  recovered: (sealed) => [versionLine(sealed), `Keystore secret: ${sealed.secret.toString('hex')}`],
  failure: (doing, { message }) =>
    error(
      doing === 'write'
        ? `keystore file generation failed: ${message}`
        : `unable to recover keystore secret: ${message}`,
    ),
  refusal: (doing, { asText }) => error(`${doing}: ${asText}`),
}

/** By the version of the package: `0.16.1`. */
export const eraOf = (version: string): KeystoreEra => {
  const [, major = '', minor = ''] = /^v?(\d+)\.(\d+)/.exec(version) ?? []
  const at = Number(major) * 1000 + Number(minor)
  if (at < 11) return FIRST
  return at < 12 ? SECOND : THIRD
}
