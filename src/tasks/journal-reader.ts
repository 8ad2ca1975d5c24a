import { createGrepSupport } from '../collectors/parts/grep-support.ts'
import type { Clock } from '../core/clock.ts'
import { SourceError } from '../core/errors.ts'
import { hour, second } from '../core/units.ts'
import { type JournalEntry, parseJournalEntry } from '../parsers/journal.ts'
import type { Exec } from '../sources/exec.ts'
import { createJournal } from '../sources/journal.ts'
import { createNewest } from '../sources/journal-end.ts'
import { createReadPast } from '../sources/past-journal.ts'

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
/** Whoever follows a unit of which there is nothing yet begins with what has come in the meantime. */
const MEANWHILE = 1000

/** What the journal has of a unit, oldest first. Throws a SourceError where it may not be read. */
export async function* readJournal(parts: Parts, asked: Asked): AsyncGenerator<Batch> {
  const { exec, clock, signal } = parts
  const match = ['-u', asked.unit]
  if (!asked.follow) {
    yield* readStretch(parts, asked)
    return
  }
  const end = await createNewest({ exec, parse })(match, signal)
  const known = new Set<string>()
  const until = end === undefined ? undefined : end.at + MILLISECOND
  if (end !== undefined && until !== undefined) {
    for await (const batch of readStretch(parts, { ...asked, until })) {
      for (const { cursor, at } of batch.entries) if (at >= end.at) known.add(cursor)
      yield batch
    }
  }
  const pattern = asked.grep === undefined ? undefined : compile(asked.grep)
  // Looked at seldom: somebody sits before it, who sees when it falls silent.
  const following = { match, interval: hour, timeout: 10 * second }
  const start = end === undefined ? { newest: MEANWHILE } : { after: end.cursor }
  const batches = createJournal({ exec, parse }).follow({ ...following, start }, { clock, signal })
  for await (const { entries } of batches) {
    const wanted = entries.filter(
      ({ cursor, message }) => !known.has(cursor) && (pattern?.test(message ?? '') ?? true),
    )
    yield { entries: wanted, isPast: false }
  }
}

async function* readStretch({ exec, signal }: Parts, asked: Asked): AsyncGenerator<Batch> {
  const { unit, since, until, newest, grep } = asked
  const isFiltered = grep === undefined || (await createGrepSupport(exec)(signal))
  const pattern = isFiltered ? undefined : compile(grep)
  const stretch = {
    // The beginning stands here, so that the first look does not search all there ever was either.
    match: [
      '-u',
      unit,
      ...(since === undefined ? [] : [`--since=@${(since / second).toFixed(6)}`]),
      ...(grep === undefined || pattern ? [] : [`--grep=${grep}`]),
    ],
    ...(until === undefined ? {} : { until }),
    ...(newest === undefined || pattern ? {} : { newest }),
  }
  let last: JournalEntry[] = []
  for await (const { entries } of createReadPast({ exec, parse })(stretch, signal)) {
    const wanted = pattern ? entries.filter(({ message }) => pattern.test(message ?? '')) : entries
    if (newest === undefined) yield { entries: wanted, isPast: true }
    else last = pattern ? [...last, ...wanted].slice(-newest) : [...last, ...wanted]
  }
  yield { entries: last, isPast: true }
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
