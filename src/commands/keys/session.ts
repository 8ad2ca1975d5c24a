import { type Context, withDeadline } from '../../core/clock.ts'
import { asError, ifUnreadable, isInternal, summaryOf } from '../../core/errors.ts'
import { type KeyFolders, resolveFolders } from '../../domain/key-paths.ts'
import { second } from '../../core/units.ts'
import {
  type Comparison,
  describeMismatch,
  type KnownKey,
  type KnownKeys,
  type KeyContext,
} from '../../keys/key-context.ts'
import type { Tone } from '../../domain/health.ts'
import { parseStatusReport, type StatusReport } from '../../parsers/status.ts'
import { createExec, createExecWithTimeouts, type Exec } from '../../sources/exec.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { createKeystoreTool } from '../../sources/keystore-tool.ts'
import { secretFiles, withFoldersLocked } from '../../sources/secret-files.ts'
import { createPrefix } from '../../sources/prefix.ts'
import {
  disableCoreDumps,
  isProcessListPublic,
  rootOnlyDirectory,
  uniqueRunName,
  withPrivateUmask,
} from '../../sources/process.ts'
import { createStatusTool } from '../../sources/reports.ts'
import { InterruptedError, type Io } from '../../terminal/io.ts'
import { linesText } from '../../terminal/output.ts'
import { createStyle, type Style } from '../../terminal/style.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { createProgress, type Progress } from '../../terminal/progress.ts'

/** What the subcommands of `keys` share. */
export interface KeySession {
  readonly context: KeyContext
  /** The node's public keys in the configuration, and in its status report if the tool may run. */
  readKnownKeys(options: { readonly mayRun: boolean }): Promise<KnownKeys>
  /** Whether other users can read password and secret in the process list; null if that is unknown. */
  readonly isListOpen: boolean | null
  /** Why a crash could leave key material in a core dump; null if core dumps are disabled. */
  readonly coreDumpProblem: string | null
  /** The state of the consensus service, from systemd. */
  consensusState(): ReturnType<typeof readUnitState>
}

/**
 * Runs a subcommand of `keys` with a private umask, without core dumps and with the folders locked. It must end the
 * progress line before it prints.
 */
export const runKeyCommand = async (
  { io, config, host }: Pick<ConfiguredContext<object>, 'io' | 'config' | 'host'>,
  work: (session: KeySession, progress: Progress) => Promise<void>,
): Promise<void> => {
  const { clock, path, signal, exec: standIn } = host
  const exec = standIn ?? createExec({ clock, path })
  const progress = createProgress(io)
  try {
    await withPrivateUmask(async () => {
      const patient = createExecWithTimeouts(exec, clock)
      const { word } = await createPrefix({ exec: patient, path, configured: config.prefix })(signal)
      const folders = await resolveFolders(config.node, { prefix: word, files: keyFiles })
      const session: KeySession = {
        context: {
          files: secretFiles,
          tool: createKeystoreTool(exec, clock, `${word}-keystore`),
          folders,
          now: () => clock.now(),
          reportProgress: progress.show,
          runId: uniqueRunName(),
          privateDirectory: rootOnlyDirectory(),
          signal,
          user: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
        },
        readKnownKeys: async ({ mayRun }) => {
          if (mayRun) progress.show('Reading the status report')
          const command = `${word}-status`
          const reported = mayRun
            ? await readReported(exec, command, { clock, signal })
            : keysOfReport(command, null, 'no tool was run (--files-only)')
          const { publicKey } = config.node
          const whyUnknown = publicKey === null ? 'it is not set' : null
          const source = 'node.publicKey in the configuration'
          const configured = { source, isConfigured: true, publicKey, whyUnknown }
          return { secp: [configured, reported.secp], bls: [reported.bls] }
        },
        isListOpen: await isProcessListPublic(),
        // A simulated tool runs in this process.
        coreDumpProblem: standIn ? null : await disableCoreDumps(patient, signal),
        consensusState: () => readUnitState(patient, config.consensus.unit.replaceAll('{prefix}', word), signal),
      }
      return withFoldersLocked([folders.directory, folders.backupDirectory], () => {
        for (const { used, missing } of fallbacksOf(folders, config.node, word)) {
          io.stderr.write(`Using ${used}: ${missing} does not exist.\n`)
        }
        return work(session, progress)
      })
    })
  } catch (error) {
    throw signal.aborted ? new InterruptedError('Interrupted; the existing files are unchanged.') : error
  } finally {
    exec.killAll()
    progress.end()
  }
}

/** Directories that do not exist with the configured name prefix but with the fixed one. */
const fallbacksOf = (folders: KeyFolders, templates: KeyFolders, prefix: string) =>
  (['directory', 'environmentFile', 'backupDirectory'] as const)
    .map((name) => ({ used: folders[name], missing: templates[name].replaceAll('{prefix}', prefix) }))
    .filter(({ used, missing }) => used !== missing)

/** The timeout of the status tool, which opens a keystore and calls the network. */
const STATUS_LIMIT_MS = 20 * second

const keysOfReport = (command: string, config: StatusReport['config'] | null, why: string) => {
  const keyOf = (publicKey: string | null): KnownKey => ({
    source: `the key that ${command} reports`,
    isConfigured: false,
    publicKey,
    whyUnknown: publicKey === null ? why : null,
  })
  return { secp: keyOf(config?.secpPublicKey ?? null), bls: keyOf(config?.blsPublicKey ?? null) }
}

/** The keys of the status report; unknown if the tool is absent, fails or times out. */
const readReported = async (exec: Exec, command: string, { clock, signal }: Context) => {
  const read = createStatusTool({ exec, command: () => Promise.resolve(command) })
  const keys = await withDeadline({ clock, signal }, STATUS_LIMIT_MS, async (within) => read(within.signal))
    .then((text) => keysOfReport(command, parseStatusReport(text).config, `${command} printed no such key`))
    .catch(ifUnreadable(({ summary }) => keysOfReport(command, null, summary)))
  signal.throwIfAborted()
  return keys
}

/** The `ActiveState`: `active`, `inactive`; null if systemd does not report it. */
const readUnitState = async (exec: Exec, unit: string, signal: AbortSignal) => {
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

interface KeyWork<Result> {
  readonly work: ReadonlyMap<string, () => Promise<Result>>
  readonly progress: Progress
  readonly replaces?: boolean
}

/**
 * Runs the work for each key, and prints the results, and the failures: in the JSON, or on stderr. A failure does not
 * prevent the work for the next key, an interruption does unless files are replaced. Returns the results; throws errors
 * that are bugs.
 */
export const runForEach = async <Result>(
  { io, options, print, exit }: ConfiguredContext<object>,
  { work, progress, replaces = false }: KeyWork<Result>,
  render: (one: Result, style: Style) => readonly string[],
): Promise<readonly Result[]> => {
  const done: Result[] = []
  const failed: { readonly key: string; readonly error: Error }[] = []
  for (const [key, run] of work) {
    try {
      done.push(await run())
    } catch (thrown) {
      const isInterrupted = io.signal.aborted && !replaces
      if (isInterrupted && done.length === 0) throw thrown
      failed.push({ key, error: asError(thrown) })
      if (isInterrupted) break
    }
  }
  progress.end()
  const bug = failed.find(({ error }) => isInternal(error))
  if (bug && options.json) throw bug.error
  print({
    document: () => ({ done, failed: failed.map(({ key, error }) => ({ key, error: error.message })) }),
    lines: (style) => done.flatMap((one) => render(one, style)),
  })
  if (bug) throw bug.error
  if (!options.json) io.stderr.write(linesText(failed.map(({ error }) => error.message)))
  exit(failed.length === 0 ? 0 : 1)
  return done
}

export type Line = readonly [tone: Tone, text: string]

export const identityLine = (comparison: Comparison, publicKey: string | null): Line => {
  const { source, isSame, whyUnknown } = comparison
  if (isSame === true) return ['good', `the same as ${source}`]
  if (isSame === false) return ['bad', describeMismatch(comparison, publicKey)]
  return ['quiet', `not compared with ${source}: ${whyUnknown ?? 'it is unknown'}`]
}

/** Shown for a keystore of version 1. */
export const LEGACY =
  'a keystore of version 1, which cannot be restored from this backup: also keep a copy of the keystore file itself and of its password'

/** Shown for a directory in which other users can remove or replace files. */
export const FOLDER_ADVICE = 'use a directory of root with mode 0700, below directories of root (node.backupDirectory)'

/** A headline with the rows below it that have a value. */
export const page = (
  headline: string,
  style: Style,
  rows: readonly (readonly [label: string, value: string | null])[],
): readonly string[] => {
  const known = rows.flatMap(([label, value]) => (value === null ? [] : [[label, value] as const]))
  return [headline, ...style.pairs(known, '    ')].map((line) => style.plain(line))
}
