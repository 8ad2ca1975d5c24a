import type { Config } from '../../config/schema.ts'
import { type Context, withDeadline } from '../../core/clock.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { parseInstalledPackage } from '../../parsers/version.ts'
import type { Exec } from '../../sources/exec.ts'
import { openRecording, type Recording } from '../../sources/journal-range.ts'
import { createFold } from './fold.ts'
import { foldRecording } from './from-recording.ts'
import { type MonlogReport, type Problem, problemOf, reportOf } from './report.ts'
import { LONGEST_MS, type RangeStart, timeRangeTo } from './time-range.ts'
import type { SourceContext } from '../../terminal/io.ts'

interface MonlogAnalysisOptions extends SourceContext {
  readonly config: Pick<Config, 'prefix' | 'consensus' | 'version' | 'node'>
  /** Default: one minute. */
  readonly since?: RangeStart | undefined
  /** Milliseconds since the epoch. Default: now, or the newest line of a file. */
  readonly until?: number | undefined
  /** A file instead of the journal. */
  readonly recording?: string | Recording | undefined
  /** Called now and then with the number of lines read. */
  readonly onLines: (lines: number) => void
}

/** Analyses the consensus log. The report says why if the log cannot be read. */
export const analyseLog = async (options: MonlogAnalysisOptions): Promise<MonlogReport> => {
  const { recording, clock, path, signal } = options
  if (recording !== undefined) {
    const file = typeof recording === 'string' ? openRecording(recording, signal) : recording
    return analyseRecording(options, file)
  }
  // A recording needs neither of them, and they take most of the time until it is read.
  const { createExec } = await import('../../sources/exec.ts')
  const exec = options.exec ?? createExec({ clock, path })
  try {
    return await analyseJournal(options, exec)
  } finally {
    exec.killAll()
  }
}

const EMPTY = { newest: [], unreadable: 0 } as const

const analyseJournal = async (options: MonlogAnalysisOptions, exec: Exec): Promise<MonlogReport> => {
  const [{ createUnitNames }, { createPrefix }, { foldJournal }] = await Promise.all([
    import('../../collectors/shared/node-state.ts'),
    import('../../sources/prefix.ts'),
    import('./from-journal.ts'),
  ])
  const { config, clock, path, signal, since, until = clock.now(), onLines } = options
  const { timeout } = config.consensus
  const range = timeRangeTo(until, since)
  const fold = createFold(range.minutes)
  const readPrefix = createPrefix({ exec, path, configured: config.prefix })
  const { value: unit, problem } = await attempt(() => createUnitNames(readPrefix).one(config.consensus.unit, signal))
  const ownKey = config.node.publicKey
  const facts = { source: 'journal', unit: unit ?? null, ownKey } as const
  if (unit === undefined) {
    const folded = fold.finish(range)
    return reportOf({ ...facts, package: null, problem, range, folded, ...EMPTY })
  }
  const [installed, read] = await Promise.all([
    packageLine(config.version.package ?? (await readPrefix(signal)).word, {
      exec,
      context: { clock, signal },
      timeout,
    }),
    attempt(() => foldJournal({ exec, clock, signal, timeout, unit, onLines }, range, fold)),
  ])
  const folded = fold.finish(range)
  const journalContext = read.value ?? EMPTY
  return reportOf({
    ...facts,
    package: installed,
    problem: read.problem,
    range,
    folded,
    ...journalContext,
  })
}

/** The range ends with the newest line, which is known only after the last line has been read. */
const analyseRecording = async (options: MonlogAnalysisOptions, recording: Recording): Promise<MonlogReport> => {
  const { config, since, until, onLines } = options
  const hasStartTime = since !== undefined && 'at' in since
  const fold = createFold(timeRangeTo(0, hasStartTime ? { ago: LONGEST_MS } : since).minutes)
  const unit = config.consensus.unit
  const { value, problem } = await attempt(() => foldRecording({ recording, unit, until, onLines }, fold))
  const end = until ?? (value?.last === undefined ? 0 : value.last + 1000)
  const range = timeRangeTo(end, since)
  const { newest, unreadable } = value ?? EMPTY
  const parts = { range, folded: fold.finish(range), newest, unreadable, problem }
  const ownKey = config.node.publicKey
  const facts = { source: 'file', unit: null, package: null, readFrom: value?.first } as const
  return reportOf({ ...facts, ...parts, ownKey })
}

interface Attempt<T> {
  readonly value: T | undefined
  readonly problem: Problem | null
}

const attempt = async <T>(act: () => Promise<T>): Promise<Attempt<T>> => {
  try {
    return { value: await act(), problem: null }
  } catch (error) {
    return { value: undefined, problem: problemOf(error) }
  }
}

interface PackageDependencies {
  readonly exec: Exec
  readonly context: Context
  readonly timeout: number
}

const FORMAT = '${db:Status-Abbrev} ${Package} ${Version} ${Architecture} ${binary:Summary}\\n'

/** The line of dpkg about a package; null if it has none or does not answer. */
const packageLine = async (name: string, dependencies: PackageDependencies): Promise<string | null> => {
  const { exec, context, timeout } = dependencies
  try {
    const { stdout } = await withDeadline(context, timeout, ({ signal }) =>
      exec.run({ command: 'dpkg-query', args: ['-W', `-f=${FORMAT}`, name] }, signal),
    )
    const [row = ''] = stdout.split('\n')
    return parseInstalledPackage(row) === null ? null : row.replaceAll(/\s+/g, ' ').trim()
  } catch (error) {
    // The package line is optional: the report is about the log.
    if (error instanceof SourceError || error instanceof ParseError) return null
    throw error
  }
}
