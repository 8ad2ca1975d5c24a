import { second } from '../core/units.ts'
import {
  createLineJoiner,
  isCut,
  type JournalEntry,
  type LineJoiner,
  MAX_PARTS,
  newestLines,
  parseJournalEntry,
  streamOf,
} from '../parsers/journal.ts'
import { type Exec } from '../sources/exec.ts'
import { createJournalRangeReader, type EntryBatch, patternOf } from '../sources/journal-range.ts'
import { type ClockStep, compareOrder } from '../sources/journal-order.ts'
import { createGrepSupport } from '../collectors/shared/journal-follower.ts'
import type { Context } from '../core/clock.ts'
import { SourceError } from '../core/errors.ts'
import { createEndReader, createJournal, type FollowOptions } from '../sources/journal.ts'
import { createUnitLogs } from '../collectors/shared/unit-logs.ts'

/** The parts of a line that journald has split arrive within this time. */
const MAX_LINE_MS = 2 * second

interface Range {
  readonly since?: number | undefined
  readonly until?: number | undefined
}

interface SplitLineOptions extends Pick<JournalDependencies, 'exec' | 'signal'> {
  readonly query: Range & { readonly match: readonly string[]; readonly newest?: number | undefined }
}

type Entries = readonly JournalEntry[]
type Found = Required<Pick<EntryBatch<JournalEntry>, 'entries' | 'steps'>>

/**
 * Joins the parts of split lines in the results of `journalctl --grep`, which matches each part separately: in a part,
 * a secret may be separated from the label by which it is redacted.
 */
async function* joinSplitLines(parts: SplitLineOptions, found: AsyncIterable<Found>): AsyncGenerator<Found> {
  const { query: asked } = parts
  let cuts: IsPart | undefined
  const shown = new Set<JournalEntry['cursor']>()
  for await (const { entries, steps } of found) {
    if (entries.length === 0) {
      yield { entries, steps }
      continue
    }
    // With `newest`, all entries come in one batch. Their times need not increase.
    const range = asked.newest === undefined ? asked : timesOf(entries)
    cuts ??= await findSplits(parts, range)
    const suspects = entries.filter(cuts)
    const whole = new Map<string, JournalEntry>()
    for (const around of rangesOf(suspects)) await readLines(parts, around, whole)
    const lines = entries.flatMap((entry) => {
      if (!suspects.includes(entry)) return [entry]
      const line = whole.get(entry.cursor)
      if (!line || shown.has(line.cursor)) return []
      shown.add(line.cursor)
      return [line]
    })
    yield { entries: lines, steps }
  }
}

const timesOf = (entries: Entries): Required<Range> => {
  let [since, until] = [Infinity, -Infinity]
  for (const { at } of entries) [since, until] = [Math.min(since, at), Math.max(until, at)]
  return { since, until }
}

type IsPart = (entry: JournalEntry) => boolean

/** Finds where journald has split lines of the unit. */
const findSplits = async (parts: SplitLineOptions, { since, until }: Range): Promise<IsPart> => {
  // By stream and second, since the number of splits is not bounded.
  const seconds = new Set<string>()
  for await (const { entries } of read(parts, { since, until }, ['_LINE_BREAK=line-max'])) {
    for (const cut of entries.filter(isCut)) {
      const from = Math.floor(cut.at / second)
      for (const later of [0, 1, 2]) seconds.add(`${from + later} ${streamOf(cut)}`)
    }
  }
  return (entry) => isCut(entry) || seconds.has(`${Math.floor(entry.at / second)} ${streamOf(entry)}`)
}

/** Maps the cursors of all parts to the joined line. */
const readLines = async (parts: SplitLineOptions, range: Range, whole: Map<string, JournalEntry>): Promise<void> => {
  const joiner = createLineJoiner()
  const waiting = new Map<string, readonly string[]>()
  for await (const { entries } of read(parts, range)) {
    for (const part of entries) {
      const stream = streamOf(part)
      const cursors = [...(waiting.get(stream) ?? []), part.cursor]
      const line = joiner.join(part)
      waiting.set(stream, line ? [] : cursors)
      for (const cursor of line ? cursors : []) whole.set(cursor, line ?? part)
    }
  }
}

const rangesOf = (entries: Entries): readonly Required<Range>[] => {
  const ranges: { since: number; until: number }[] = []
  for (const { at } of entries) {
    const last = ranges.at(-1)
    if (last && at >= last.since && at <= last.until) last.until = at + MAX_LINE_MS
    else ranges.push({ since: at, until: at + MAX_LINE_MS })
  }
  return ranges
}

const read = (
  { exec, signal, query: asked }: SplitLineOptions,
  { since, until }: Range,
  match: readonly string[] = [],
) =>
  createJournalRangeReader({ exec, parse: parseJournalEntry })(
    {
      match: [...asked.match, ...match],
      ...(since === undefined ? {} : { since: since - MAX_LINE_MS }),
      ...(until === undefined ? {} : { until }),
    },
    signal,
  )

export interface JournalQuery {
  readonly unit: string
  /** Milliseconds since the epoch, as everywhere. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly newest?: number | undefined
  /** A pattern, as journalctl takes it. */
  readonly grep?: string | undefined
  /** Whether to continue with new entries until the signal aborts. */
  readonly follow?: boolean
}

export interface JournalDependencies extends Context {
  readonly exec: Exec
}

export interface Batch {
  readonly entries: readonly JournalEntry[]
  /** Whether the entries were written before following began. */
  readonly isPast: boolean
  /** The steps of the host's clock up to the last of these entries. */
  readonly steps: readonly ClockStep[]
}

const parse = parseJournalEntry
/** The number of matches after which old ones are dropped. */
const TRIM_INTERVAL = 10_000
/** When following a unit without entries, the number of entries to read that were written in the meantime. */
const INITIAL_ENTRIES = 1000

/** The journal of a unit, oldest first, with split lines joined. Throws a SourceError if it cannot be read. */
export async function* readJournal(parts: JournalDependencies, asked: JournalQuery): AsyncGenerator<Batch> {
  const { exec, clock, signal } = parts
  const match = [...(await createUnitLogs({ exec, clock }).scope([asked.unit], signal)), '-u', asked.unit]
  const joiner = createLineJoiner()
  if (!asked.follow) {
    yield* readRange(parts, asked, { match, joiner, end: undefined })
    return
  }
  const { entry: end } = await createEndReader({ exec, parse })(match, { clock, signal })
  if (end !== undefined) {
    yield* readRange(parts, asked, { match, joiner, end })
    // With --grep, journalctl may have left this part out.
    if (isCut(end) && !joiner.isWaiting) joiner.join(end)
  }
  const pattern = asked.grep === undefined ? undefined : compile(asked.grep)
  const following = { match, interval: 5 * second, timeout: 10 * second }
  const start = end === undefined ? { newest: INITIAL_ENTRIES } : { after: end.cursor }
  for await (const entries of followOn(parts, { ...following, start })) {
    const wanted = entries
      .flatMap((part) => joiner.join(part) ?? [])
      .filter(({ message }) => pattern?.test(message ?? '') ?? true)
    yield { entries: wanted, isPast: false, steps: [] }
  }
}

/** Follows, and resumes where it stopped when journalctl goes silent. */
async function* followOn(
  { exec, clock, signal }: JournalDependencies,
  following: FollowOptions,
): AsyncGenerator<Entries> {
  let { start } = following
  const journal = createJournal({ exec, parse })
  while (!signal.aborted) {
    try {
      for await (const { entries } of journal.follow({ ...following, start }, { clock, signal })) {
        const last = entries.at(-1)
        if (last) start = { after: last.cursor }
        yield entries
      }
    } catch (error) {
      if (!(error instanceof SourceError) || error.code !== 'journalctl silent') throw error
    }
  }
}

interface RangeOptions {
  readonly match: readonly string[]
  readonly joiner: LineJoiner
  /** The last entry to read, which the follower continues: not by its time, because the clock may have gone back. */
  readonly end: JournalEntry | undefined
}

async function* readRange(
  parts: JournalDependencies,
  asked: JournalQuery,
  { match, joiner, end }: RangeOptions,
): AsyncGenerator<Batch> {
  const { exec, signal } = parts
  const { since, until, newest, grep } = asked
  const isFiltered = grep !== undefined && (await createGrepSupport(exec)(signal))
  const pattern = grep === undefined || isFiltered ? undefined : compile(grep)
  // A line belongs to the time of its first part: the rest of a line that began earlier is left out.
  const from = since === undefined || isFiltered ? since : since - MAX_LINE_MS
  const most = newest === undefined || isFiltered ? newest : newest + MAX_PARTS
  const stretch = {
    match: [...match, ...(isFiltered ? [`--grep=${grep}`] : [])],
    ...(from === undefined ? {} : { since: from }),
    ...(until === undefined ? {} : { until }),
    ...(most === undefined || pattern ? {} : { newest: most }),
  }
  const isWanted = ({ at, message }: JournalEntry): boolean =>
    (since === undefined || at >= since) && (pattern?.test(message ?? '') ?? true)
  const past = createJournalRangeReader({ exec, parse })(stretch, signal)
  const upToEnd = async function* (): AsyncGenerator<Found> {
    for await (const { entries, steps = [] } of past) {
      yield { entries: end ? entries.filter((part) => compareOrder(part, end) <= 0) : entries, steps }
    }
  }
  if (isFiltered) {
    for await (const found of joinSplitLines({ ...parts, query: { ...asked, match } }, upToEnd()))
      yield { ...found, isPast: true }
    return
  }
  let last: JournalEntry[] = []
  for await (const { entries, steps } of upToEnd()) {
    if (newest === undefined || pattern) {
      const lines = entries.flatMap((part) => joiner.join(part) ?? []).filter(isWanted)
      if (newest === undefined) yield { entries: lines, isPast: true, steps }
      else for (const line of lines) last.push(line)
    } else for (const part of entries) last.push(part)
    if (newest !== undefined && steps.length > 0) yield { entries: [], isPast: true, steps }
    if (pattern && newest !== undefined && last.length > newest + TRIM_INTERVAL) {
      last = last.slice(-newest)
    }
  }
  if (newest === undefined) return
  const lines = pattern ? last.slice(-newest) : newestLines(last, newest, joiner).filter(isWanted)
  yield { entries: lines, isPast: true, steps: [] }
}

const compile = (text: string): RegExp => {
  try {
    return patternOf(text)
  } catch (error) {
    throw new SourceError(
      {
        doing: 'search the log',
        happened: `${JSON.stringify(text)} is not a valid pattern`,
        advice: 'escape characters such as ( [ * + ? . with a backslash to match them literally',
      },
      { cause: error },
    )
  }
}
