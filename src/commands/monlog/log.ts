import { createConsensusCounters } from '../../collectors/consensus/counters.ts'
import { createFilteredMatch } from '../../collectors/shared/journal-follower.ts'
import { isAboutUnit } from '../../collectors/shared/log-lines.ts'
import { createUnitNames } from '../../collectors/shared/node-state.ts'
import { createUnitLogs } from '../../collectors/shared/unit-logs.ts'
import { readPackageVersion } from '../../collectors/version/versions.ts'
import type { Config } from '../../config/schema.ts'
import { ifUnreadable, ParseError } from '../../core/errors.ts'
import type { Recorder } from '../../core/metric.ts'
import { minute, second } from '../../core/units.ts'
import { CONSENSUS_LOG_PATTERN, type ConsensusEvent } from '../../parsers/consensus-log.ts'
import {
  createLineJoiner,
  type JournalEntry,
  MAX_PARTS,
  newestLines,
  parseJournalEntry,
  withoutPrintedPrefix,
} from '../../parsers/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import { createNewestEntryReader, journalTime } from '../../sources/journal.ts'
import { createJournalRangeReader, readRecording, type Recording } from '../../sources/journal-range.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import type { SourceContext } from '../../terminal/io.ts'
import { withHost } from '../shared/with-host.ts'

export interface LogOptions extends SourceContext {
  readonly config: Pick<Config, 'prefix' | 'consensus' | 'version'>
  /** Milliseconds since the epoch, exclusive. Default: now, or the newest line of a recording. */
  readonly until?: number | undefined
  /** Replaces the journal. */
  readonly recording?: (() => Recording) | undefined
  /** Called now and then with the number of lines read. */
  readonly onLines: (lines: number) => void
}

/** What was read of a log. */
export type ReadLog = Awaited<ReturnType<typeof readLog>>

/** Reads the 60 seconds before a time. If they cannot be read, `problem` is the reason. */
export const readLog = async (options: LogOptions) => {
  const { recording, clock, until } = options
  const source = recording === undefined ? ('journal' as const) : ('file' as const)
  const end = wholeSecond(until ?? (recording === undefined ? clock.now() : 0))
  const read = recording === undefined ? readHost(options, end) : readFile(options, recording())
  return { source, package: null, ...(await read.catch(unknownLog(end))) }
}

const unknownLog = (to: number) =>
  ifUnreadable((problem) => ({ ...createFold().finish(to), unit: null, newest: [], unreadable: 0, problem }))

const wholeSecond = (at: number): number => Math.floor(at / second) * second

const NO_METRICS: Recorder = { count: () => undefined, countByName: () => undefined, observe: () => undefined }

/** Folds lines into the window of the agent. Lines are not kept. */
const createFold = () => {
  const timeouts = createTimeouts()
  const counters = createConsensusCounters(NO_METRICS, timeouts)
  return {
    /** The log is read from this time on. */
    begin: counters.advanceTo,
    on: (entry: JournalEntry): void => counters.on(entry, false),
    finish: (to: number) => {
      counters.advanceTo(to - 1)
      return {
        /** End of the 60 seconds, exclusive, at a whole second. */
        to,
        /** The window of the agent at that time. */
        found: counters.read(),
        timedOutLeaders: timeouts.read(to - minute),
        /** Whether the service itself logged anything. */
        hasOwnEntries: counters.hasLine(),
      }
    },
  }
}

/** More than a node times out in a minute. */
const MAX_ROUNDS = 1024

/** The leaders of the rounds that this node timed out: it logs a timeout again and again for a round that does not end. */
const createTimeouts = () => {
  const rounds = new Map<bigint, { readonly at: number; readonly leader: string }>()
  return {
    add: (event: ConsensusEvent, at: number): void => {
      if (event.event !== 'local_timeout' || event.leader === null) return
      rounds.delete(event.round)
      rounds.set(event.round, { at, leader: event.leader })
      const [oldest] = rounds.keys()
      if (rounds.size > MAX_ROUNDS && oldest !== undefined) rounds.delete(oldest)
    },
    addDropped: () => undefined,
    /** From a time on, those with the most rounds first. */
    read: (from: number) => {
      const counts = new Map<string, number>()
      for (const { at, leader } of rounds.values()) if (at >= from) counts.set(leader, (counts.get(leader) ?? 0) + 1)
      return [...counts]
        .map(([leader, count]) => ({ leader, rounds: count }))
        .toSorted((a, b) => b.rounds - a.rounds || (a.leader < b.leader ? -1 : 1))
    },
  }
}

/** The number of the newest lines that are kept. */
const NEWEST = 10

/** The log of the unit, also if it cannot be read, and the installed package. */
const readHost = (options: LogOptions, to: number) =>
  withHost(options, async (exec, readPrefix) => {
    const { config, clock, signal } = options
    const { word } = await readPrefix(signal)
    const context = { exec, recorder: NO_METRICS, context: { clock, signal }, timeout: config.consensus.timeout }
    const [log, installed] = await Promise.all([
      readUnit(options, { exec, readPrefix, to }).catch(unknownLog(to)),
      readPackageVersion(config.version.package ?? word, context),
    ])
    const found = installed.ok ? installed.value : null
    return { ...log, package: found && [found.package, found.version, found.architecture].join(' ') }
  })

interface HostReader {
  readonly exec: Exec
  readonly readPrefix: ReadPrefix
  readonly to: number
}

/** Reads the journal of the unit. journalctl filters out lines that are not about consensus. */
const readUnit = async (options: LogOptions, { exec, readPrefix, to }: HostReader) => {
  const { config, clock, signal, onLines } = options
  const names = createUnitNames(readPrefix, createUnitLogs({ exec, clock }))
  const unit = await names.one(config.consensus.unit, signal)
  const own = await names.match([unit], signal)
  const readNewest = createNewestEntryReader({ exec, parse: parseJournalEntry })
  const readRange = createJournalRangeReader({ exec, parse: parseJournalEntry })
  const since = to - minute
  // journalctl's --until is inclusive: the range ends one microsecond before `to`.
  const until = to - 0.001
  const before = ['--reverse', `--until=${journalTime(since)}`]
  // If the unit is younger than the range, older entries of systemd show that the journal covers it.
  const earlier = (await readNewest([...before, ...own], signal)) ?? (await readNewest([...before, '_PID=1'], signal))
  const last: JournalEntry[] = []
  for await (const { entries } of readRange({ match: own, until, newest: NEWEST + MAX_PARTS }, signal))
    last.push(...entries)
  const newest = newestLines(last, NEWEST)

  const fold = createFold()
  if (earlier) fold.begin(since)
  const joiner = createLineJoiner()
  const match = await createFilteredMatch({ exec, unitNames: names }, [unit], CONSENSUS_LOG_PATTERN)(signal)
  let lines = 0
  let unreadable = 0
  for await (const batch of readRange({ match, since, until }, signal)) {
    for (const part of batch.entries) {
      const entry = joiner.join(part)
      if (entry) fold.on(entry)
    }
    unreadable += batch.unreadable + joiner.takeLostCount()
    lines += batch.entries.length
    onLines(lines)
  }
  const folded = fold.finish(to)
  const isOwn = ({ at, fields }: JournalEntry): boolean => at >= since && !isAboutUnit(fields)
  const hasOwnEntries = folded.hasOwnEntries || newest.some(isOwn)
  return { ...folded, hasOwnEntries, unit, newest, unreadable, problem: null }
}

/** Reads a complete file: output of `journalctl -o json`, or the lines as the service wrote them. */
const readFile = async ({ config, until = Infinity, onLines }: LogOptions, recording: Recording) => {
  const end = wholeSecond(until)
  const isConsensusUnit = unitMatcher(config.consensus.unit)
  const fold = createFold()
  const joiner = createLineJoiner()
  const newest: JournalEntry[] = []
  let last = 0
  let lines = 0
  let unreadable = 0
  for await (const batch of readRecording(recording, createEntryReader())) {
    lines += batch.entries.length
    unreadable += batch.unreadable
    for (const part of batch.entries) {
      const isWanted = (part.unit === null || isConsensusUnit(part.unit)) && part.at < end
      const joined = isWanted ? joiner.join(part) : undefined
      if (!joined) continue
      last = Math.max(last, joined.at)
      newest.push(joined)
      if (newest.length > NEWEST) newest.shift()
      fold.on(joined)
    }
    onLines(lines)
  }
  const to = end === Infinity ? wholeSecond(last + second) : end
  return { ...fold.finish(to), unit: null, newest, unreadable: unreadable + joiner.takeLostCount(), problem: null }
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
