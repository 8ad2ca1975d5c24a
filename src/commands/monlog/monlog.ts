import { createUnitNames } from '../../collectors/shared/unit-names.ts'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { type Context, withDeadline } from '../../core/collector.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { parseInstalledPackage } from '../../parsers/version.ts'
import { createExec, type Exec } from '../../sources/exec.ts'
import { createPrefix } from '../../sources/prefix.ts'
import { openRecording, readRecording, type Recording } from '../../sources/recording.ts'
import {
  createFold,
  DEBUG_PATTERN,
  type Fold,
  GROUP_MESSAGE,
  isOwn,
  LONGEST_MS,
  type RangeStart,
  type TimeRange,
  timeRangeTo,
} from './fold.ts'
import { type MonlogReport, type Problem, problemOf, reportOf } from './report.ts'
import type { SourceOverrides } from '../../cli/io.ts'
import { createGrepSupport } from '../../collectors/shared/grep-support.ts'
import { second } from '../../core/units.ts'
import { consensusLogPattern } from '../../parsers/consensus-log.ts'
import {
  createLineJoiner,
  type JournalEntry,
  MAX_PARTS,
  newestLines,
  parseJournalEntry,
} from '../../parsers/journal.ts'
import { createNewestEntryReader } from '../../sources/journal-query.ts'
import { createJournalRangeReader } from '../../sources/journal-range.ts'

interface MonlogAnalysisOptions extends SourceOverrides {
  readonly config: Pick<Config, 'prefix' | 'consensus' | 'version' | 'node'>
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
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
  const { recording, clock, path } = options
  if (recording !== undefined) {
    const file = typeof recording === 'string' ? openRecording(recording) : recording
    return analyseRecording(options, file)
  }
  const exec = options.exec ?? createExec({ clock, path })
  try {
    return await analyseJournal(options, exec)
  } finally {
    exec.killAll()
  }
}

const EMPTY = { newest: [], unreadable: 0 } as const

const analyseJournal = async (options: MonlogAnalysisOptions, exec: Exec): Promise<MonlogReport> => {
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
  return reportOf({ ...facts, package: installed, problem: read.problem, range, folded, ...journalContext })
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

const FORMAT = '${db:Status-Abbrev} ${Package} ${Version} ${Architecture} ${binary:Summary}\\n'

/** The line of dpkg about a package; null if it has none or does not answer. */
const packageLine = async (
  name: string,
  dependencies: { readonly exec: Exec; readonly context: Context; readonly timeout: number },
): Promise<string | null> => {
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

interface FoldJournalParts {
  readonly exec: Exec
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Deadline of each short query in milliseconds; reading the range itself has none. */
  readonly timeout: number
  /** The unit of the consensus service. */
  readonly unit: string
  readonly onLines: (lines: number) => void
}

/** What was read in addition to the folded lines. */
export interface JournalContext {
  /** The newest lines of the unit until the end of the range, oldest first, including those of systemd. */
  readonly newest: readonly JournalEntry[]
  /** Lines that are not journal entries. */
  readonly unreadable: number
}

const NEWEST = 10

/** Reads a range of the journal into the fold. journalctl filters out lines that are not about consensus. */
const foldJournal = async (parts: FoldJournalParts, range: TimeRange, fold: Fold): Promise<JournalContext> => {
  const { exec, unit, onLines } = parts
  const withTimeout = createWithTimeout(parts)
  const readNewest = createNewestEntryReader({ exec, parse: parseJournalEntry })
  const readPast = createJournalRangeReader({ exec, parse: parseJournalEntry })
  const own = ['-u', unit]
  // journalctl's --until is inclusive: the range ends one microsecond before `to`.
  const until = range.to - 0.001
  const from = `--since=${moment(range.from)}`

  const [isCovered, newest, canGrep] = await Promise.all([
    withTimeout(async (signal) => {
      const before = ['--reverse', `--until=${moment(range.from)}`]
      // If the unit is younger than the range, older entries of systemd show that the journal covers it.
      return (await readNewest([...before, ...own], signal)) ?? (await readNewest([...before, '_PID=1'], signal))
    }).then((entry) => entry !== undefined),
    withTimeout(async (signal) => {
      const entries: JournalEntry[] = []
      const last = { match: own, until, newest: NEWEST + MAX_PARTS }
      for await (const batch of readPast(last, signal)) entries.push(...batch.entries)
      return newestLines(entries, NEWEST)
    }),
    withTimeout(createGrepSupport(exec)),
  ])

  fold.begin(range.from, isCovered)
  const joiner = createLineJoiner()
  const pattern = consensusLogPattern([GROUP_MESSAGE])
  // --since is part of the match, so that the first query does not search the complete journal.
  const match = [...own, from, ...(canGrep ? [`--grep=${pattern}`] : [])]
  let lines = 0
  let unreadable = 0
  for await (const batch of readPast({ match, until }, parts.signal)) {
    for (const part of batch.entries) {
      const entry = joiner.join(part)
      if (entry) fold.on(entry)
    }
    unreadable += batch.unreadable + joiner.takeLostCount()
    lines += batch.entries.length
    onLines(lines)
  }

  if (newest.some((entry) => isOwn(entry) && entry.at >= range.from)) fold.noteOwnEntry()
  if (canGrep && !fold.isDebugKnown(range.to)) {
    // Of the lines that journalctl filtered out only the level matters.
    const filter = ['--reverse', from, `--until=${moment(until)}`, `_SYSTEMD_UNIT=${unit}`]
    const debug = await withTimeout(async (signal) => readNewest([...filter, `--grep=${DEBUG_PATTERN}`], signal))
    if (debug) fold.noteDebug(debug.at)
  }
  return { newest, unreadable }
}

/** A time in the format of journalctl, to the microsecond. */
const moment = (at: number): string => `@${(at / second).toFixed(6)}`

type WithTimeout = <T>(query: (signal: AbortSignal) => Promise<T>) => Promise<T>

const createWithTimeout =
  ({ clock, signal, timeout }: FoldJournalParts): WithTimeout =>
  (query) =>
    withDeadline({ clock, signal }, timeout, (context) => query(context.signal))

interface FoldRecordingParts {
  readonly recording: Recording
  /** The unit of the consensus service; `{prefix}` matches any name prefix. */
  readonly unit: string
  /** Milliseconds since the epoch, exclusive: later lines are skipped. */
  readonly until: number | undefined
  readonly onLines: (lines: number) => void
}

interface RecordingContext extends JournalContext {
  /** Times of the first and the last line of the service; undefined if there is none. */
  readonly first: number | undefined
  readonly last: number | undefined
}

/** Reads a complete file into the fold: output of `journalctl -o json`, or the lines as the service wrote them. */
const foldRecording = async (
  { recording, unit, until, onLines }: FoldRecordingParts,
  fold: Fold,
): Promise<RecordingContext> => {
  const isConsensusUnit = unitMatcher(unit)
  const parse = createEntryReader()
  const joiner = createLineJoiner()
  const newest: JournalEntry[] = []
  let first: number | undefined
  let last: number | undefined
  let lines = 0
  let unreadable = 0
  for await (const batch of readRecording(recording, parse)) {
    lines += batch.entries.length
    unreadable += batch.unreadable
    for (const part of batch.entries) {
      const isWanted = part.unit === null || isConsensusUnit(part.unit)
      const entry = isWanted && (until === undefined || part.at < until) ? part : undefined
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

const unitMatcher = (unit: string): ((name: string) => boolean) => {
  const pattern = unit
    .split('{prefix}')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join('[a-z][a-z0-9]*')
  const whole = new RegExp(`^${pattern}$`)
  return (name) => whole.test(name)
}

/** The format is recognised line by line. A line without a timestamp gets that of the line before it. */
const createEntryReader = () => {
  let at: number | undefined
  return (line: string): JournalEntry => {
    if (line.startsWith('{') && line.includes('"__REALTIME_TIMESTAMP"')) return parseJournalEntry(line)
    const [, timestamp] = /^\s*\{\s*"timestamp"\s*:\s*"([^"]{10,40})"/.exec(line) ?? []
    const written = timestamp === undefined ? Number.NaN : Date.parse(timestamp)
    if (Number.isFinite(written)) at = Math.floor(written)
    if (at === undefined) throw new RangeError('a line before the first line with a timestamp')
    return { cursor: '', at, unit: null, message: line, fields: {} }
  }
}
