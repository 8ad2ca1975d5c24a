import { InvalidArgumentError, Option } from 'commander'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { withDeadline } from '../../core/collector.ts'
import { ParseError, SourceError, summaryOf } from '../../core/errors.ts'
import { type KeyFolders, resolveFolders } from '../../core/key-paths.ts'
import { asError } from '../../core/outcome.ts'
import { second } from '../../core/units.ts'
import type { KeyContext, KnownKey, KnownKeys } from '../../keys/key-context.ts'
import { parseStatusReport } from '../../parsers/status.ts'
import { createExec, type Exec } from '../../sources/exec.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { createKeystoreTool } from '../../sources/keystore-tool.ts'
import { withFoldersLocked } from '../../sources/lock.ts'
import { createExecWithTimeouts } from '../../sources/exec-with-timeouts.ts'
import { createPrefix } from '../../sources/prefix.ts'
import {
  disableCoreDumps,
  isProcessListPublic,
  rootOnlyDirectory,
  uniqueRunName,
  withPrivateUmask,
} from '../../sources/process-hardening.ts'
import { secretFiles } from '../../sources/secret-files.ts'
import { createStatusTool } from '../../sources/node-tools.ts'
import type { ExitCode, Io, SourceOverrides } from '../../cli/io.ts'
import { pairs } from '../../cli/terminal/layout.ts'
import { toJson } from '../../core/json.ts'
import { configOf, type ConfigOptions } from '../../cli/config-options.ts'
import { createProgress, type Progress } from '../../cli/terminal/progress.ts'
import { createStyle, type Style } from '../../cli/terminal/style.ts'

interface Options extends SourceOverrides {
  readonly config: Pick<Config, 'prefix' | 'node'>
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
  /** Receives the current step. */
  readonly reportProgress: (step: string) => void
}

/** What the subcommands of `keys` share. */
export interface KeySession {
  readonly context: KeyContext
  /** Directories that do not exist with the configured name prefix but with the fixed one. */
  readonly fallbacks: readonly { readonly used: string; readonly missing: string }[]
  /** The node's public keys in the configuration, and in its status report if the tool may run. */
  readKnownKeys(options: { readonly mayRun: boolean }): Promise<KnownKeys>
  /** Whether other users can read password and secret in the process list; null if that is unknown. */
  readonly isListOpen: boolean | null
  /** Why a crash could leave key material in a core dump; null if core dumps are disabled. */
  readonly coreDumpProblem: string | null
  /** The state of the consensus service, from systemd. */
  consensusState(): Promise<UnitState>
}

interface UnitState {
  readonly unit: string
  /** The `ActiveState`: `active`, `inactive`; null if systemd does not report it. */
  readonly state: string | null
  readonly whyUnknown: string
}

/** Runs `work` with a private umask, without core dumps and with the folders locked. Throws a SourceError. */
const withKeySession = async <T>(
  { config, clock, path, signal, reportProgress, exec: standIn }: Options,
  work: (session: KeySession) => Promise<T>,
): Promise<T> => {
  const exec = standIn ?? createExec({ clock, path })
  try {
    return await withPrivateUmask(async () => {
      const patient = createExecWithTimeouts(exec, clock)
      const { word } = await createPrefix({ exec: patient, path, configured: config.prefix })(signal)
      const folders = await resolveFolders(config.node, { prefix: word, files: keyFiles })
      const session: KeySession = {
        context: {
          files: secretFiles,
          tool: createKeystoreTool({ exec, clock, command: `${word}-keystore` }),
          folders,
          now: () => clock.now(),
          reportProgress,
          runId: uniqueRunName(),
          privateDirectory: rootOnlyDirectory(),
        },
        fallbacks: fallbacksOf(folders, config.node, word),
        readKnownKeys: async ({ mayRun }) => {
          if (mayRun) reportProgress('Reading the status report')
          const tool = { exec, clock, command: `${word}-status`, mayRun }
          const reported = await readReported(tool, signal)
          const { publicKey } = config.node
          const whyUnknown = publicKey === null ? 'it is not set' : null
          const source = 'node.publicKey in the configuration'
          const configured = { source, isConfigured: true, publicKey, whyUnknown }
          return { secp: [configured, reported.secp], bls: [reported.bls] }
        },
        isListOpen: await isProcessListPublic(),
        // A simulated tool runs in this process.
        coreDumpProblem: standIn ? null : await disableCoreDumps(patient, signal),
        consensusState: () => readUnitState(patient, `${word}-bft.service`, signal),
      }
      return withFoldersLocked([folders.directory, folders.backupDirectory], () => work(session))
    })
  } finally {
    exec.killAll()
  }
}

const fallbacksOf = (folders: KeyFolders, templates: KeyFolders, prefix: string) =>
  (['directory', 'environmentFile', 'backupDirectory'] as const)
    .map((name) => ({ used: folders[name], missing: templates[name].replaceAll('{prefix}', prefix) }))
    .filter(({ used, missing }) => used !== missing)

interface StatusTool {
  readonly exec: Exec
  readonly clock: Clock
  readonly command: string
  readonly mayRun: boolean
}

/** The timeout of the status tool, which opens a keystore and calls the network. */
const STATUS_LIMIT_MS = 20 * second

/** The keys of the status report; unknown if the tool is absent, fails or times out. */
const readReported = async (
  { exec, clock, command, mayRun }: StatusTool,
  signal: AbortSignal,
): Promise<Readonly<Record<'secp' | 'bls', KnownKey>>> => {
  const keyOf = (publicKey: string | null, why: string): KnownKey => ({
    source: `the key that ${command} reports`,
    isConfigured: false,
    publicKey,
    whyUnknown: publicKey === null ? why : null,
  })
  const unknown = (why: string) => ({ secp: keyOf(null, why), bls: keyOf(null, why) })
  if (!mayRun) return unknown('no tool was run (--files-only)')
  try {
    const read = createStatusTool({ exec, command: () => Promise.resolve(command) })
    const text = await withDeadline({ clock, signal }, STATUS_LIMIT_MS, async (within) => read(within.signal))
    const { secpPublicKey, blsPublicKey } = parseStatusReport(text).config
    const why = `${command} printed no such key`
    return { secp: keyOf(secpPublicKey, why), bls: keyOf(blsPublicKey, why) }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof SourceError) && !(error instanceof ParseError)) throw error
    return unknown(summaryOf(error))
  }
}

const readUnitState = async (exec: Exec, unit: string, signal: AbortSignal): Promise<UnitState> => {
  const args = ['show', '--property=ActiveState', unit]
  try {
    const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
    const [, state = null] = /^ActiveState=(\S+)/m.exec(stdout) ?? []
    return { unit, state, whyUnknown: 'systemctl printed no ActiveState' }
  } catch (error) {
    signal.throwIfAborted()
    return { unit, state: null, whyUnknown: summaryOf(asError(error)) }
  }
}

/** Runs a subcommand of `keys` in a session. It must end the progress line before it prints. */
export const runKeyCommand = async (
  { io, exit, options }: { readonly io: Io; readonly exit: (code: ExitCode) => void; readonly options: ConfigOptions },
  work: (session: KeySession, progress: Progress) => Promise<void>,
): Promise<void> => {
  const { config } = configOf(io, options)
  const { clock, signal, overrides } = io
  const path = io.env['PATH'] ?? '/usr/bin:/bin'
  const progress = createProgress(io)
  const reportProgress = (step: string): void => {
    progress.show(step)
  }
  try {
    await withKeySession({ config, clock, path, signal, reportProgress, ...overrides }, (session) => {
      for (const { used, missing } of session.fallbacks) {
        io.stderr.write(`Using ${used}: ${missing} does not exist.\n`)
      }
      return work(session, progress)
    })
  } catch (error) {
    if (!signal.aborted) throw error
    progress.end()
    io.stderr.write('Interrupted; the existing files are unchanged.\n')
    exit(1)
  } finally {
    progress.end()
  }
}

/** Warns, before the keystore tool runs, of secrets in the process list or a core dump. */
export const warnOfExposure = (io: Io, { isListOpen, coreDumpProblem }: KeySession, shown: string): void => {
  const style = createStyle(io)
  const write = (text: string): void => {
    io.stderr.write(`${style.sign('notice')} ${style.plain(text)}\n`)
  }
  if (isListOpen !== false) {
    write(
      `While the keystore tool runs (about a second per key), every user of this host can read ${shown} in the process list${isListOpen === null ? ' if /proc is mounted with the default options' : ''}. Mount /proc with hidepid=2 to prevent it.`,
    )
  }
  if (coreDumpProblem !== null) {
    write(`Core dumps could not be disabled (${coreDumpProblem}); a crash now could write key material to the disk.`)
  }
}

/** `--type`, one or more times; by default both keys. */
export const typeOption = (choices: readonly string[], description: string): Option =>
  new Option('--type <type>', `${description}; repeatable`)
    .choices([...choices])
    .argParser((value: string, before: readonly string[] | undefined) => {
      if (choices.includes(value)) return [...new Set([...(before ?? []), value])]
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
    })

/** The failure of one key out of several. */
export interface KeyFailure {
  readonly key: string
  readonly error: Error
}

/** Prints the results of several keys, as JSON without `render`. Throws errors other than SourceError and ParseError: they are bugs. */
export const printResults = <T>(
  io: Io,
  { done, failed }: { readonly done: readonly T[]; readonly failed: readonly KeyFailure[] },
  render: ((one: T) => string) | undefined,
): ExitCode => {
  if (render) {
    io.stdout.write(done.map(render).join(''))
    for (const { error } of failed) io.stderr.write(`${expected(error).message}\n`)
  } else {
    const failures = failed.map(({ key, error }) => ({ key, error: expected(error).message }))
    io.stdout.write(`${JSON.stringify(toJson({ done, failed: failures }), undefined, 2)}\n`)
  }
  return failed.length === 0 ? 0 : 1
}

const expected = (error: Error): Error => {
  if (!(error instanceof SourceError) && !(error instanceof ParseError)) throw error
  return error
}

/** Shown for a keystore of version 1. */
export const LEGACY =
  'a keystore of version 1, which cannot be restored from this backup: also keep a copy of the keystore file itself and of its password'

/** A headline with rows below it. */
export const page = (
  headline: string,
  style: Style,
  rows: readonly (readonly [label: string, value: string])[],
): string => [headline, ...pairs(rows, style, '    ')].map((line) => `${style.plain(line)}\n`).join('')
