import { type Context, withDeadline } from '../core/collector.ts'
import { SourceError } from '../core/errors.ts'
import { hour, second } from '../core/units.ts'
import type { Exec } from './exec.ts'
import type { Journal } from './journal.ts'
import { createNewest, FORMAT, type Placed } from './journal-end.ts'
import { createLineSplitter, type Line } from './lines.ts'

/** A stretch of the journal. Times are milliseconds since the epoch, both inclusive. */
export interface Stretch {
  /** Matches as journalctl takes them: `-u`, UNIT, `--grep=`, or FIELD=value. */
  readonly match: readonly string[]
  readonly since?: number
  readonly until?: number
  /** The last so many entries of it: few enough to be held. */
  readonly newest?: number
}

export interface PastBatch<Entry> {
  readonly entries: readonly Entry[]
  /** Lines that are no entries. */
  readonly unreadable: number
}

/** Reads a stretch, oldest first, to its end. Throws a SourceError where the journal may not be read. */
export type ReadPast<Entry> = (
  stretch: Stretch,
  signal: AbortSignal,
) => AsyncGenerator<PastBatch<Entry>>

interface Parts<Entry> {
  readonly exec: Exec
  /** Throws for a line that is no entry. */
  readonly parse: (line: string) => Entry
}

export const createReadPast = <Entry extends Placed>(parts: Parts<Entry>): ReadPast<Entry> => {
  const { exec, parse } = parts
  const newest = createNewest(parts)
  const parseLines = (lines: readonly Line[]): PastBatch<Entry> => {
    const entries: Entry[] = []
    let unreadable = 0
    for (const line of lines) {
      try {
        if (line === undefined) unreadable += 1
        else entries.push(parse(line))
      } catch {
        unreadable += 1
      }
    }
    return { entries, unreadable }
  }

  return async function* readPast({ match, since, until, newest: count }, signal) {
    // Fails at once, and readably, where a reader that may not read would only find nothing. Of whatever
    // pattern: to search for one takes as long as the journal is big.
    await newest(
      match.filter((word) => !word.startsWith('--grep=')),
      signal,
    )
    const args = [
      '--merge',
      ...(since === undefined ? [] : [`--since=${at(since)}`]),
      ...(until === undefined ? [] : [`--until=${at(until)}`]),
      // Without --reverse, journalctl 252 counts from the journal's end, whatever --until says.
      ...(count === undefined ? [] : ['--reverse', '-n', `${count}`]),
      ...FORMAT,
      ...match,
    ]
    const split = createLineSplitter()
    const program = { command: 'journalctl', args, answers: [0, 1] }
    const last: Entry[] = []
    for await (const chunk of exec.stream(program, signal)) {
      const batch = parseLines(split(chunk))
      if (count === undefined) yield batch
      else {
        for (const entry of batch.entries) last.push(entry)
        yield { entries: [], unreadable: batch.unreadable }
      }
    }
    if (count !== undefined) yield { entries: last.toReversed(), unreadable: 0 }
  }
}

/** As journalctl takes a moment, to the microsecond. */
const at = (ms: number): string => `@${(ms / second).toFixed(6)}`

/** Where the whole look back would take too long, a minute and something. */
const SHORT_LOOK_MS = 75 * second

/**
 * The journal as it is at this moment: a follower hears at once all that it would begin with, and then
 * nothing more. For whoever asks once.
 */
export const createPastJournal = <Entry extends Placed>(parts: Parts<Entry>): Journal<Entry> => {
  const readPast = createReadPast(parts)
  const read = async (stretch: Stretch, signal: AbortSignal) => {
    const all: Entry[] = []
    let unreadable = 0
    for await (const batch of readPast(stretch, signal)) {
      all.push(...batch.entries)
      unreadable += batch.unreadable
    }
    return { entries: all, unreadable, gap: false }
  }
  return {
    async *follow({ match, start, timeout }, context: Context) {
      const { clock, signal } = context
      const { newest, lookBack } = 'newest' in start ? start : { newest: 1, lookBack: undefined }
      const look = (stretch: Stretch, patience: number) =>
        withDeadline(context, patience, (within) => read(stretch, within.signal))
      const since = (back: number): Stretch => ({ match, since: clock.now() - back })
      if (lookBack === undefined) yield await look({ match, newest }, timeout)
      else if (lookBack <= SHORT_LOOK_MS) yield await look(since(lookBack), timeout)
      else {
        // A log under DEBUG is too much to be searched so far back: then the last minute of it.
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
