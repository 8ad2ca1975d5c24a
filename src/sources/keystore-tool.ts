import type { Clock } from '../core/clock.ts'
import { type Context, withDeadline } from '../core/collector.ts'
import { SourceError } from '../core/errors.ts'
import type { KeyType } from '../core/key-places.ts'
import { Secret } from '../core/secret.ts'
import { minute, renderDuration } from '../core/units.ts'
import type { Exec } from './exec.ts'

interface Keystore {
  readonly path: string
  readonly type: KeyType
  readonly password: Secret
}

/**
 * The node's own keystore tool. It takes password and secret as arguments and in no other way, so that for
 * about a second they stand in the process list. Neither they nor what it prints come out in an error.
 */
export interface KeystoreTool {
  /** All that it prints of a key. Throws a SourceError where it says that it failed. */
  recover(keystore: Keystore, signal: AbortSignal): Promise<Secret>
  /** Writes a keystore, over one that is there. What it says of success is worth little: recover afterwards. */
  import(keystore: Keystore, secret: Secret, signal: AbortSignal): Promise<void>
}

interface Options {
  readonly exec: Exec
  readonly clock: Clock
  /** The program: `chain-keystore`. */
  readonly command: string
}

/** scrypt with its usual cost takes about a second. */
const LONGEST_MS = minute

/** Versions up to v0.11 tell of a failure with exit code 0; what was printed decides, and no code is an error. */
const ANY_CODE = Array.from({ length: 256 }, (_, code) => code)

export const createKeystoreTool = ({ exec, clock, command }: Options): KeystoreTool => {
  const run = async (
    verb: 'recover' | 'import',
    { keystore, more }: { readonly keystore: Keystore; readonly more: readonly Secret[] },
    signal: AbortSignal,
  ): Promise<string> => {
    const { path, type, password } = keystore
    const args = [
      verb,
      ...more.flatMap((secret) => ['--ikm', secret.reveal()]),
      ...option('--password', password),
      '--keystore-path',
      path,
      '--key-type',
      type,
    ]
    const doing = `run ${command} ${verb} for the ${type} key`
    const { stdout, stderr, exitCode } = await tamed(doing, { clock, signal }, (within) =>
      exec.run({ command, args, answers: ANY_CODE }, within.signal),
    )
    const said = `${stdout}\n${stderr}`
    const failure = failureIn(said) ?? (exitCode === 0 ? null : FAILED)
    if (failure === null) return stdout
    const words = [password, ...more].reduce((text, secret) => secret.redactFrom(text), stderr)
    throw new SourceError({
      doing,
      happened: exitCode === 0 ? failure.happened : `${failure.happened} (exit code ${exitCode})`,
      // Standard output is where a secret would be.
      evidence: withoutHex(words.trim().split('\n').slice(-3).join('\n')),
      advice: failure.advice,
    })
  }

  return {
    recover: async (keystore, signal) =>
      new Secret(await run('recover', { keystore, more: [] }, signal)),
    import: async (keystore, secret, signal) => {
      await run('import', { keystore, more: [secret] }, signal)
    },
  }
}

/**
 * What is thrown where the program gives no answer at all shows its last words, and they may hold its
 * arguments. None of that goes on: who did what is enough.
 */
const tamed = async <T>(
  doing: string,
  context: Context,
  read: (within: Context) => Promise<T>,
): Promise<T> => {
  try {
    return await withDeadline(context, LONGEST_MS, read)
  } catch (error) {
    if (!(error instanceof SourceError))
      throw new SourceError({ doing, happened: 'it did not run', advice: ADVICE })
    const { timeout } = error
    const happened = timeout
      ? `no answer within ${renderDuration(LONGEST_MS)}; it was ended`
      : (HAPPENED.find((pattern) => pattern.test(error.summary))?.exec(error.summary)?.[0] ??
        'it did not end by itself')
    throw new SourceError({ doing, happened, advice: ADVICE }, { timeout })
  }
}

const ADVICE =
  "see that the node's keystore tool is on the PATH of this user (sudo has its own), works, and has time and memory"
/** Of the words that tell of an end, those that are ours. */
const HAPPENED = [
  /there is no \S+ on PATH$/,
  /this user may not run \S+$/,
  /it printed more than \d+ bytes$/,
  /killed by SIG[A-Z]+$/,
] as const

/** A word that begins with a dash would be taken for another option. */
const option = (name: string, value: Secret): readonly string[] => {
  const text = value.reveal()
  return text.startsWith('-') ? [`${name}=${text}`] : [name, text]
}

interface Failure {
  readonly happened: string
  readonly advice: string
}

const FAILED: Failure = {
  happened: 'it failed',
  advice:
    'see whether `--help` of that tool still knows recover, import, --password, --keystore-path, --key-type',
}

/** By the words that its versions have for it, on whichever of its outputs. */
const FAILURES: readonly (Failure & { readonly word: string })[] = [
  {
    word: 'ChecksumError',
    happened: 'the password does not open the keystore',
    advice:
      'compare KEYSTORE_PASSWORD in the environment file with the one that the keystore was made with',
  },
  {
    word: 'code: 2,',
    happened: 'there is no such keystore',
    advice: 'see where the keystore lies (node.directory in the configuration)',
  },
  {
    word: 'code: 13,',
    happened: 'this user may not read or write the keystore',
    advice: 'run it as root, or as the user of the node',
  },
  {
    word: 'code: 28,',
    happened: 'the disk is full',
    advice: 'make room where the keystore lies, and run it again',
  },
  {
    word: 'FileIOError',
    happened: 'the keystore could not be read or written',
    advice: 'look at the file and at the disk that it lies on',
  },
  {
    word: 'InvalidJSONFormat',
    happened: 'the file is no keystore',
    advice: 'restore it from its backup: `chain-agent keys restore`',
  },
  {
    word: 'KDFError',
    happened: 'the keystore is damaged, or made by a newer version of the tool',
    advice: 'compare its version with the node; or restore it: `chain-agent keys restore`',
  },
  {
    word: 'Unable to recover',
    happened: 'the keystore could not be opened',
    advice:
      'compare KEYSTORE_PASSWORD in the environment file with the one that the keystore was made with',
  },
  {
    word: 'generation failed',
    happened: 'the keystore could not be written',
    advice: 'look at the disk that it is to lie on',
  },
]

const failureIn = (said: string): Failure | null =>
  FAILURES.find(({ word }) => said.includes(word)) ?? null

/** Long runs of hex digits are keys, whoever prints them. */
const withoutHex = (text: string): string => text.replaceAll(/[0-9a-f]{32,}/gi, '(hex digits)')
