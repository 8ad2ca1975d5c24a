import { jsonText, linesText, type OutputOptions } from '../../terminal/output.ts'
import { pairs, createStyle, type Style } from '../../terminal/style.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { type KeySession, withKeySession } from './session.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ExitCode, type Io, sourceContext } from '../../terminal/io.ts'
import { createProgress, type Progress } from '../../terminal/progress.ts'

interface KeyCommand {
  readonly io: Io
  readonly exit: (code: ExitCode) => void
  readonly options: ConfigOptions
}

/** Runs a subcommand of `keys` in a session. It must end the progress line before it prints. */
export const runKeyCommand = async (
  { io, exit, options }: KeyCommand,
  work: (session: KeySession, progress: Progress) => Promise<void>,
): Promise<void> => {
  const { config } = configOf(io, options)
  const { signal } = io
  const progress = createProgress(io)
  const reportProgress = (step: string): void => {
    progress.show(step)
  }
  try {
    await withKeySession({ config, reportProgress, ...sourceContext(io) }, (session) => {
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

/** The failure of one key out of several. */
export interface KeyFailure {
  readonly key: string
  readonly error: Error
}

interface KeyResults<Result> {
  readonly done: readonly Result[]
  readonly failed: readonly KeyFailure[]
  readonly render: (one: Result, style: Style) => readonly string[]
}

/** Prints the results, and the failures: in the JSON, or on stderr. Throws errors that are bugs. */
export const printResults = <Result>(
  io: Io,
  options: OutputOptions,
  { done, failed, render }: KeyResults<Result>,
): void => {
  if (options.json) {
    for (const { error } of failed) assertExpected(error)
    io.stdout.write(jsonText({ done, failed: failed.map(({ key, error }) => ({ key, error: error.message })) }))
    return
  }
  const style = createStyle(io)
  io.stdout.write(linesText(done.flatMap((one) => render(one, style))))
  for (const { error } of failed) {
    assertExpected(error)
    io.stderr.write(`${error.message}\n`)
  }
}

/** A SourceError or a ParseError; another error is a bug and is thrown. */
const assertExpected = (error: Error): void => {
  if (!(error instanceof SourceError) && !(error instanceof ParseError)) throw error
}

/** Shown for a keystore of version 1. */
export const LEGACY =
  'a keystore of version 1, which cannot be restored from this backup: also keep a copy of the keystore file itself and of its password'

/** Shown for a directory in which other users can remove or replace files. */
export const FOLDER_ADVICE = 'use a directory of root with mode 0700, below directories of root (node.backupDirectory)'

/** A headline with rows below it. */
export const page = (
  headline: string,
  style: Style,
  rows: readonly (readonly [label: string, value: string])[],
): readonly string[] => [headline, ...pairs(rows, style, '    ')].map((line) => style.plain(line))
