import { type Clock, type Context, withDeadline } from '../core/clock.ts'
import { SourceError } from '../core/errors.ts'
import type { KeyType } from '../domain/key-paths.ts'
import { Secret } from '../core/redaction/secret.ts'
import { minute, renderDuration } from '../core/units.ts'
import { type Exec, lastLines } from './exec.ts'

interface Keystore {
  readonly path: string
  readonly type: KeyType
  readonly password: Secret
}

export type KeystoreTool = ReturnType<typeof createKeystoreTool>

/** scrypt with its usual cost takes about a second. */
const LONGEST_MS = minute

/** Versions up to v0.11 exit with code 0 on failure. The output decides, so every exit code is accepted. */
const ANY_CODE = Array.from({ length: 256 }, (_, code) => code)

/**
 * The node's own keystore tool. It accepts password and secret only as arguments, so for about a second they are in the
 * process list. Errors contain neither them nor the tool's output. `command`: `chain-keystore`.
 */
export const createKeystoreTool = (exec: Exec, clock: Clock, command: string) => {
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
    const output = `${stdout}\n${stderr}`
    const failure = FAILURES.find(([word]) => output.includes(word)) ?? (exitCode === 0 ? undefined : FAILED)
    if (!failure) return stdout
    const [, happened, advice] = failure
    const words = [password, ...more].reduce((text, secret) => secret.redactFrom(text), stderr)
    throw new SourceError({
      doing,
      happened: exitCode === 0 ? happened : `${happened} (exit code ${exitCode})`,
      // Not standard output, which may contain a secret.
      evidence: withoutHex(lastLines(words)),
      advice,
    })
  }

  return {
    /** Returns the tool's output for a key. Throws a SourceError if the tool reports a failure. */
    recover: async (keystore: Keystore, signal: AbortSignal) =>
      new Secret(await run('recover', { keystore, more: [] }, signal)),
    /** Writes a keystore, overwriting an existing one. The tool's success message is unreliable: run recover afterwards. */
    import: async (keystore: Keystore, secret: Secret, signal: AbortSignal): Promise<void> => {
      await run('import', { keystore, more: [secret] }, signal)
    },
  }
}

/**
 * An error of a program without a result shows its last output, which may contain its arguments. This error keeps only
 * what was done and how it ended.
 */
const tamed = async <T>(doing: string, context: Context, read: (within: Context) => Promise<T>): Promise<T> => {
  try {
    return await withDeadline(context, LONGEST_MS, read)
  } catch (error) {
    if (!(error instanceof SourceError))
      throw new SourceError({ doing, happened: 'the tool did not run', advice: ADVICE })
    const { timeout } = error
    const happened = timeout
      ? `no result within ${renderDuration(LONGEST_MS)}; the tool was stopped`
      : error.code === undefined
        ? 'the tool did not exit by itself'
        : error.happened
    throw new SourceError({ doing, happened, advice: ADVICE }, { timeout })
  }
}

const ADVICE =
  "check that the node's keystore tool is on the PATH of this user (sudo has its own), works, and has enough time and memory"

/** A value that begins with a dash would be parsed as another option. */
const option = (name: string, value: Secret): readonly string[] => {
  const text = value.reveal()
  return text.startsWith('-') ? [`${name}=${text}`] : [name, text]
}

const FAILED = [
  '',
  'it failed',
  'check that `--help` of that tool still lists recover, import, --password, --keystore-path, --key-type',
] as const

const COMPARE_PASSWORD =
  'compare KEYSTORE_PASSWORD in the environment file with the password that the keystore was created with'

/** The known failures, by text in either output of any version. */
const FAILURES: readonly (readonly [word: string, happened: string, advice: string])[] = [
  ['ChecksumError', 'the password does not open the keystore', COMPARE_PASSWORD],
  ['code: 2,', 'there is no such keystore', 'check the path of the keystore (node.directory in the configuration)'],
  ['code: 13,', 'this user may not read or write the keystore', 'run it as root, or as the user of the node'],
  ['code: 28,', 'the disk is full', "free space on the keystore's file system and run the command again"],
  ['FileIOError', 'the keystore could not be read or written', 'check the file and its disk'],
  ['InvalidJSONFormat', 'the file is not a keystore', 'restore it from its backup: `chain-agent keys restore`'],
  [
    'KDFError',
    'the keystore is damaged, or was created by a newer version of the tool',
    'compare its version with the node; or restore it: `chain-agent keys restore`',
  ],
  ['Unable to recover', 'the keystore could not be opened', COMPARE_PASSWORD],
  ['generation failed', 'the keystore could not be written', 'check the disk of the target directory'],
]

/** Long runs of hex digits may be keys. */
const withoutHex = (text: string): string => text.replaceAll(/[0-9a-f]{32,}/gi, '(hex digits)')
