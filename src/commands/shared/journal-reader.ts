import { createGrepSupport } from '../../collectors/shared/grep-support.ts'
import type { Clock } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { hour, second } from '../../core/units.ts'
import {
  createLineJoiner,
  isCut,
  type JournalEntry,
  type LineJoiner,
  MAX_PARTS,
  newestLines,
  parseJournalEntry,
} from '../../parsers/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import { createNewestEntryReader } from '../../sources/journal-query.ts'
import { createJournal } from '../../sources/journal.ts'
import { createJournalRangeReader } from '../../sources/journal-range.ts'
import { BEFORE_MS, withWholeLines } from './cut-lines.ts'

interface Asked {
  readonly unit: string
  /** Milliseconds since the epoch, as everywhere. */
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** The last so many entries of it. */
  readonly newest?: number | undefined
  /** A pattern, as journalctl takes it. */
  readonly grep?: string | undefined
  /** Whether to go on with what is written from then on, until the signal aborts. */
  readonly follow?: boolean
}

interface Parts {
  readonly exec: Exec
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface Batch {
  readonly entries: readonly JournalEntry[]
  /** Whether it was written before we began to follow. */
  readonly isPast: boolean
}

const parse = parseJournalEntry
/** Entries of one millisecond are told apart by their cursors. */
const MILLISECOND = 1
/** Of a long search, those that are too old are let go now and then. */
const TRIMMED_EVERY = 10_000
/** Whoever follows a unit of which there is nothing yet begins with what has come in the meantime. */
const MEANWHILE = 1000

/** What the journal has of a unit, oldest first, in whole lines. Throws a SourceError where it may not be read. */
export async function* readJournal(parts: Parts, asked: Asked): AsyncGenerator<Batch> {
  const { exec, clock, signal } = parts
  const match = ['-u', asked.unit]
  const joiner = createLineJoiner()
  if (!asked.follow) {
    yield* readStretch(parts, asked, { joiner })
    return
  }
  const end = await createNewestEntryReader({ exec, parse })(match, signal)
  const known = new Set<string>()
  const until = end === undefined ? undefined : end.at + MILLISECOND
  if (end !== undefined && until !== undefined) {
    const hear = ({ cursor, at }: JournalEntry): void => {
      if (at >= end.at) known.add(cursor)
    }
    yield* readStretch(parts, { ...asked, until }, { joiner, hear })
    // Where journalctl has chosen, this part was not heard.
    if (isCut(end) && !joiner.isWaiting) joiner.join(end)
  }
  const pattern = asked.grep === undefined ? undefined : compile(asked.grep)
  // Looked at seldom: somebody sits before it, who sees when it falls silent.
  const following = { match, interval: hour, timeout: 10 * second }
  const start = end === undefined ? { newest: MEANWHILE } : { after: end.cursor }
  const batches = createJournal({ exec, parse }).follow({ ...following, start }, { clock, signal })
  for await (const { entries } of batches) {
    const wanted = entries
      .filter(({ cursor }) => !known.has(cursor))
      .flatMap((part) => joiner.join(part) ?? [])
      .filter(({ message }) => pattern?.test(message ?? '') ?? true)
    yield { entries: wanted, isPast: false }
  }
}

interface Hearing {
  readonly joiner: LineJoiner
  /** Hears each entry as it comes. */
  readonly hear?: (part: JournalEntry) => void
}

async function* readStretch(parts: Parts, asked: Asked, hearing: Hearing): AsyncGenerator<Batch> {
  const { exec, signal } = parts
  const { unit, since, until, newest, grep } = asked
  const { joiner, hear } = hearing
  const isFiltered = grep !== undefined && (await createGrepSupport(exec)(signal))
  const pattern = grep === undefined || isFiltered ? undefined : compile(grep)
  // A line belongs to the moment at which it began: the end of one that began before is left out.
  const from = since === undefined || isFiltered ? since : since - BEFORE_MS
  const most = newest === undefined || isFiltered ? newest : newest + MAX_PARTS
  const stretch = {
    // The beginning stands here, so that the first look does not search all there ever was either.
    match: [
      '-u',
      unit,
      ...(from === undefined ? [] : [`--since=@${(from / second).toFixed(6)}`]),
      ...(isFiltered ? [`--grep=${grep}`] : []),
    ],
    ...(until === undefined ? {} : { until }),
    ...(most === undefined || pattern ? {} : { newest: most }),
  }
  const isWanted = ({ at, message }: JournalEntry): boolean =>
    (since === undefined || at >= since) && (pattern?.test(message ?? '') ?? true)
  const past = createJournalRangeReader({ exec, parse })(stretch, signal)
  const heard = async function* () {
    for await (const { entries } of past) {
      for (const part of entries) hear?.(part)
      yield entries
    }
  }
  if (isFiltered) {
    for await (const entries of withWholeLines({ ...parts, asked }, heard())) {
      yield { entries, isPast: true }
    }
    return
  }
  let last: JournalEntry[] = []
  for await (const entries of heard()) {
    if (newest === undefined || pattern) {
      const lines = entries.flatMap((part) => joiner.join(part) ?? []).filter(isWanted)
      if (newest === undefined) yield { entries: lines, isPast: true }
      else for (const line of lines) last.push(line)
    } else for (const part of entries) last.push(part)
    if (pattern && newest !== undefined && last.length > newest + TRIMMED_EVERY) {
      last = last.slice(-newest)
    }
  }
  if (newest === undefined) return
  const lines = pattern ? last.slice(-newest) : newestLines(last, newest, joiner).filter(isWanted)
  yield { entries: lines, isPast: true }
}

/** As journalctl reads a pattern: case matters where there is a capital letter in it. */
const compile = (text: string): RegExp => {
  try {
    return new RegExp(text, /[A-Z]/.test(text) ? '' : 'i')
  } catch (error) {
    throw new SourceError(
      {
        doing: 'search the log',
        happened: `${JSON.stringify(text)} is no pattern`,
        advice: 'write a backslash before signs like ( [ * + ? . to have them taken as they stand',
      },
      { cause: error },
    )
  }
}
