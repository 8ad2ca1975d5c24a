import type { Command } from 'commander'
import { readNames } from '../../config/key-names.ts'
import type { Config } from '../../config/schema.ts'
import { type Context, withDeadline } from '../../core/clock.ts'
import { ifUnreadable, ParseError } from '../../core/errors.ts'
import { figure } from '../../core/format.ts'
import { toJson } from '../../core/json.ts'
import { diagnose, type Diagnosis } from '../../health/diagnosis.ts'
import { createLineJoiner, type JournalEntry, parseJournalEntry, withoutPrintedPrefix } from '../../parsers/journal.ts'
import { parseInstalledPackage } from '../../parsers/version.ts'
import type { Exec } from '../../sources/exec.ts'
import { openRecording, readRecording, type Recording } from '../../sources/journal-range.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { diagnosisDocument } from '../../terminal/diagnosis.ts'
import {
  type CommandContext,
  InterruptedError,
  type Io,
  isTerminal,
  type SourceContext,
  sourceContext,
  unlessInterrupted,
} from '../../terminal/io.ts'
import { linesText, type OutputOptions } from '../../terminal/output.ts'
import { createProgress } from '../../terminal/progress.ts'
import { createStyle } from '../../terminal/style.ts'
import { watch } from '../../terminal/watch.ts'
import { createFold, type Fold, LONGEST_MS, NEWEST, type RangeStart, timeRangeTo } from './fold.ts'
import { createNameOf, renderReport, type RenderOptions, shortLine, shownLine } from './page.ts'
import { type MonlogReport, type Problem, problemOf, reportOf } from './report.ts'

interface MonlogOptions extends ConfigOptions, OutputOptions {
  readonly raw?: true
  readonly names?: true
  readonly since?: RangeStart
  readonly until?: number
  readonly file?: string
  /** The interval in seconds. */
  readonly watch?: number
}

export const printAnalysis = async ({ io, exit, options, command }: CommandContext<MonlogOptions>): Promise<void> => {
  const { config } = nodeConfigOf(io, options)
  const { file: namesFile } = config.names
  const names = options.names && namesFile !== null ? readNames(namesFile) : undefined
  const page = {
    style: createStyle(io),
    nameOf: createNameOf(names ?? new Map()),
    isNamesFileMissing: options.names === true && names === undefined,
    ownKey: config.node.publicKey,
    wantsRaw: options.raw === true,
  }
  const analyse = async () => {
    const times = timesOf(options, io, command)
    const progress = createProgress(io)
    const [report, diagnosis] = await Promise.all([
      analyseLog({
        config,
        ...times,
        ...sourceContext(io),
        recording: options.file === '-' ? { name: 'standard input', bytes: io.stdin } : options.file,
        onLines: (lines) => progress.show(`Reading the log: ${figure(lines)} lines`),
      }).finally(progress.end),
      readDiagnosis(io, options),
    ])
    return { report, diagnosis }
  }
  const linesOf = ({ report, diagnosis }: Awaited<ReturnType<typeof analyse>>): readonly string[] => {
    if (options.json) {
      const found = diagnosis && diagnosisDocument(diagnosis)
      return [JSON.stringify(toJson({ ...asJson(report, page), diagnosis: found }))]
    }
    const shown = { ...page, head: diagnosis }
    return options.watch !== undefined && !isTerminal(io.stdout)
      ? [shortLine(report, shown)]
      : renderReport(report, shown)
  }
  if (options.watch !== undefined) {
    // The journal and the running agent are read; no tool of the node runs.
    const refresh = async () => ({ lines: linesOf(await analyse()), isFromNode: false })
    await watch(io, options.watch, refresh)
    exit(0)
    return
  }
  // After an interruption the status is unknown.
  const analysis = await unlessInterrupted(io, analyse, new InterruptedError(undefined, 2))
  io.stdout.write(linesText(linesOf(analysis)))
  const { report, diagnosis } = analysis
  exit(diagnosis && diagnosis.exitCode > report.log.exitCode ? diagnosis.exitCode : report.log.exitCode)
}

/** The diagnosis of the node now; null if the log is of another time or from a file. With --watch only from a running agent: to read the node runs its tools. */
const readDiagnosis = async (io: Io, options: MonlogOptions): Promise<Diagnosis | null> => {
  const { file, until, watch: follows } = options
  if (file !== undefined || until !== undefined) return null
  // A recording needs none of it, and it takes most of the time until the recording is read.
  const { readFromAgent, readSnapshot } = await import('../shared/read-snapshot.ts')
  try {
    const { config } = nodeConfigOf(io, options)
    const snapshot = await (follows === undefined ? readSnapshot : readFromAgent)(io, config)
    return snapshot && diagnose(snapshot)
  } catch (error) {
    // An aborted operation may throw any error.
    if (io.signal.aborted) return null
    throw error
  }
}

/** Start and end of the range. The end of a file may be known only at its last line. */
const timesOf = ({ since, until, file, watch: follows }: MonlogOptions, io: Io, command: Command) => {
  if (follows !== undefined && since && 'at' in since) {
    command.error('error: with --watch, --since takes a duration such as 10m')
  }
  const end = until ?? (file === undefined ? io.clock.now() : undefined)
  const length = since && ('ago' in since ? since.ago : (end ?? Number.NaN) - since.at)
  if (length !== undefined && length <= 0) command.error('error: --since is not before --until')
  if (length !== undefined && length > LONGEST_MS) {
    command.error('error: --since is more than 1 h before --until')
  }
  return { since, until: end }
}

/** `newest` only with --raw, and in the format of the page. */
const asJson = (report: MonlogReport, { nameOf, wantsRaw }: Pick<RenderOptions, 'nameOf' | 'wantsRaw'>) => ({
  ...report,
  newest: wantsRaw ? report.newest.map(({ at, text }) => ({ at, text: shownLine(text, nameOf) })) : null,
})

interface MonlogAnalysisOptions extends SourceContext {
  readonly config: Pick<Config, 'prefix' | 'consensus' | 'version' | 'node'>
  /** Default: one minute. */
  readonly since?: RangeStart | undefined
  /** Milliseconds since the epoch, exclusive. Default: now, or the newest line of a file. */
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
  return analyseJournal(options, exec).finally(() => exec.killAll())
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
    packageLine(config.version.package ?? (await readPrefix(signal)).word, exec, { clock, signal, timeout }),
    attempt(() => foldJournal({ exec, clock, signal, timeout, unit, onLines }, range, fold)),
  ])
  const folded = fold.finish(range)
  return reportOf({ ...facts, package: installed, problem: read.problem, range, folded, ...(read.value ?? EMPTY) })
}

/** The range ends with the newest line, which is known only after the last line has been read. */
const analyseRecording = async (options: MonlogAnalysisOptions, recording: Recording): Promise<MonlogReport> => {
  const { config, since, until } = options
  const hasStartTime = since !== undefined && 'at' in since
  const fold = createFold(timeRangeTo(0, hasStartTime ? { ago: LONGEST_MS } : since).minutes)
  const { value, problem } = await attempt(() => foldRecording(options, recording, fold))
  const end = until ?? (value?.last === undefined ? 0 : value.last + 1000)
  const range = timeRangeTo(end, since)
  const { newest, unreadable } = value ?? EMPTY
  const parts = { range, folded: fold.finish(range), newest, unreadable, problem }
  const ownKey = config.node.publicKey
  const facts = { source: 'file', unit: null, package: null, readFrom: value?.first } as const
  return reportOf({ ...facts, ...parts, ownKey })
}

const attempt = async <T>(act: () => Promise<T>): Promise<{ value: T | undefined; problem: Problem | null }> => {
  try {
    return { value: await act(), problem: null }
  } catch (error) {
    return { value: undefined, problem: problemOf(error) }
  }
}

const FORMAT = '${db:Status-Abbrev} ${Package} ${Version} ${Architecture} ${binary:Summary}\\n'

/** The line of dpkg about a package; null if it has none or does not answer. */
const packageLine = async (
  name: string,
  exec: Exec,
  { timeout, ...context }: Context & { readonly timeout: number },
): Promise<string | null> => {
  const program = { command: 'dpkg-query', args: ['-W', `-f=${FORMAT}`, name] }
  const read = async (): Promise<string | null> => {
    const { stdout } = await withDeadline(context, timeout, ({ signal }) => exec.run(program, signal))
    const [row = ''] = stdout.split('\n')
    return parseInstalledPackage(row) === null ? null : row.replaceAll(/\s+/g, ' ').trim()
  }
  // The package line is optional: the report is about the log.
  return read().catch(ifUnreadable(() => null))
}

/** Reads a complete file into the fold: output of `journalctl -o json`, or the lines as the service wrote them. */
const foldRecording = async (
  { config, until = Infinity, onLines }: MonlogAnalysisOptions,
  recording: Recording,
  fold: Fold,
) => {
  const isConsensusUnit = unitMatcher(config.consensus.unit)
  const parse = createEntryReader()
  const joiner = createLineJoiner()
  const newest: JournalEntry[] = []
  /** Times of the first and the last line of the service; undefined if there is none. */
  let first: number | undefined
  let last: number | undefined
  let lines = 0
  let unreadable = 0
  for await (const batch of readRecording(recording, parse)) {
    lines += batch.entries.length
    unreadable += batch.unreadable
    for (const part of batch.entries) {
      const isWanted = part.unit === null || isConsensusUnit(part.unit)
      const entry = isWanted && part.at < until ? part : undefined
      const joined = entry && joiner.join(entry)
      if (!joined) continue
      first ??= joined.at
      last = Math.max(last ?? joined.at, joined.at)
      newest.push(joined)
      if (newest.length > NEWEST) newest.shift()
      fold.on(joined)
    }
    onLines(lines)
  }
  return { newest, unreadable: unreadable + joiner.takeLostCount(), first, last }
}

/** `{prefix}` in the name of the unit matches any name prefix. */
const unitMatcher = (unit: string): ((name: string) => boolean) => {
  const pattern = unit
    .split('{prefix}')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('[a-z][a-z0-9]*')
  const whole = new RegExp(`^${pattern}$`)
  return (name) => whole.test(name)
}

/** The format is recognised line by line. A line without a timestamp gets the timestamp of the line before it. */
const createEntryReader = () => {
  let at: number | undefined
  return (printed: string): JournalEntry => {
    const line = withoutPrintedPrefix(printed)
    if (line.startsWith('{') && line.includes('"__REALTIME_TIMESTAMP"')) return parseJournalEntry(line)
    const [, timestamp] = /^\s*\{\s*"timestamp"\s*:\s*"([^"]{10,40})"/.exec(line) ?? []
    const written = timestamp === undefined ? Number.NaN : Date.parse(timestamp)
    if (Number.isFinite(written)) at = Math.floor(written)
    if (at === undefined)
      throw new ParseError('a line of the recording', 'a timestamp in it or in a line before it', printed)
    return { cursor: '', at, unit: null, message: line, fields: {} }
  }
}
