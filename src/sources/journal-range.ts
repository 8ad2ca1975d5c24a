import { type Context, withDeadline } from '../core/clock.ts'
import { describeFileError, SourceError } from '../core/errors.ts'
import { hour, second } from '../core/units.ts'
import {
  createNewestEntryReader,
  type Journal,
  JOURNAL_OUTPUT_OPTIONS,
  journalTime,
  type JournalDependencies,
  type JournalPosition,
} from './journal.ts'
import { createLineSplitter, type Line } from './streams.ts'
import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'

/** A range of the journal. Times are in milliseconds since the epoch, both inclusive. */
export interface JournalRange {
  /** Matches in journalctl syntax: `-u`, UNIT, `--grep=`, or FIELD=value. */
  readonly match: readonly string[]
  readonly since?: number
  readonly until?: number
  /** Only the last N entries, which are held in memory. */
  readonly newest?: number
}

export interface EntryBatch<Entry> {
  readonly entries: readonly Entry[]
  /** The number of lines that are not entries. */
  readonly unreadable: number
}

/** Reads a range, oldest entry first. Throws a SourceError if the journal cannot be read. */
export type ReadJournalRange<Entry> = (range: JournalRange, signal: AbortSignal) => AsyncGenerator<EntryBatch<Entry>>

export const createJournalRangeReader = <Entry extends JournalPosition>(
  parts: JournalDependencies<Entry>,
): ReadJournalRange<Entry> => {
  const { exec, parse } = parts
  const newest = createNewestEntryReader(parts)
  return async function* readRange({ match, since, until, newest: count }, signal) {
    // Fails at once, and readably, where a reader that may not read would only find nothing. Of whatever pattern: to
    // search for one takes as long as the journal is big.
    await newest(
      match.filter((word) => !word.startsWith('--grep=')),
      signal,
    )
    const args = [
      '--merge',
      ...(since === undefined ? [] : [`--since=${journalTime(since)}`]),
      ...(until === undefined ? [] : [`--until=${journalTime(until)}`]),
      // Without --reverse, journalctl 252 counts from the end of the journal and ignores --until.
      ...(count === undefined ? [] : ['--reverse', '-n', `${count}`]),
      ...JOURNAL_OUTPUT_OPTIONS,
      ...match,
    ]
    const split = createLineSplitter()
    const program = { command: 'journalctl', args, answers: [0, 1] }
    const last: Entry[] = []
    for await (const chunk of exec.stream(program, signal)) {
      const batch = entriesOf(split(chunk), parse)
      if (count === undefined) yield batch
      else {
        for (const entry of batch.entries) last.push(entry)
        yield { entries: [], unreadable: batch.unreadable }
      }
    }
    if (count !== undefined) yield { entries: last.toReversed(), unreadable: 0 }
  }
}

const entriesOf = <Entry>(lines: readonly Line[], parse: (line: string) => Entry): EntryBatch<Entry> => {
  const entries: Entry[] = []
  let unreadable = 0
  for (const line of lines) {
    if (line === '') continue
    try {
      if (line === undefined) unreadable += 1
      else entries.push(parse(line))
    } catch {
      unreadable += 1
    }
  }
  return { entries, unreadable }
}

/** The fallback range if the complete look-back takes too long. */
const SHORT_LOOK_MS = 75 * second

/**
 * The journal as a snapshot: a follower receives the initial entries and then nothing more. For commands that run once.
 */
export const createSnapshotJournal = <Entry extends JournalPosition>(
  parts: JournalDependencies<Entry>,
): Journal<Entry> => {
  const readRange = createJournalRangeReader(parts)
  const read = async (range: JournalRange, signal: AbortSignal) => {
    const all: Entry[] = []
    let unreadable = 0
    for await (const batch of readRange(range, signal)) {
      all.push(...batch.entries)
      unreadable += batch.unreadable
    }
    return { entries: all, unreadable, gap: false }
  }
  return {
    async *follow({ match, start, timeout }, context: Context) {
      const { clock, signal } = context
      const { newest, lookBack } = 'newest' in start ? start : { newest: 1, lookBack: undefined }
      const look = (range: JournalRange, patience: number) =>
        withDeadline(context, patience, (within) => read(range, within.signal))
      const since = (back: number): JournalRange => ({ match, since: clock.now() - back })
      if (lookBack === undefined) yield await look({ match, newest }, timeout)
      else if (lookBack <= SHORT_LOOK_MS) yield await look(since(lookBack), timeout)
      else {
        // A DEBUG log is too large to search that far back: read the last minute instead.
        yield await look(since(lookBack), timeout / 2).catch((error: unknown) => {
          if (error instanceof SourceError && error.timeout) {
            return look(since(SHORT_LOOK_MS), timeout / 2)
          }
          throw error
        })
      }
      while (!signal.aborted) await clock.sleep(hour, signal)
    },
  }
}

/** A journal exported to a file: lines of `journalctl -o json`. */
export interface Recording {
  /** The name as the operator gave it. */
  readonly name: string
  readonly bytes: Readable
}

export const openRecording = (file: string): Recording => ({
  name: file,
  bytes: createReadStream(file, { highWaterMark: 256 * 1024 }),
})

/** Reads a recording from start to end. Throws a SourceError if it cannot be read. */
export async function* readRecording<Entry>(
  { name, bytes }: Recording,
  /** Throws if the line is not an entry. */
  parse: (line: string) => Entry,
): AsyncGenerator<EntryBatch<Entry>> {
  const split = createLineSplitter()
  try {
    const chunks: AsyncIterable<Uint8Array> = bytes
    for await (const chunk of chunks) yield entriesOf(split(chunk), parse)
    // The last line of a file may lack a line break.
    yield entriesOf(split(Buffer.from('\n')), parse)
  } catch (error) {
    throw new SourceError(
      {
        doing: `read the recording ${name}`,
        happened: describeFileError(error).happened,
        advice: 'name a file of `journalctl --all -o json`, or - for standard input',
      },
      { cause: error },
    )
  }
}
