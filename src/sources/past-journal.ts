import { type Context, withDeadline } from '../core/collector.ts'
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
    // Fails at once, and readably, where a reader that may not read would only find nothing.
    await newest(match, signal)
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
    let last: Entry[] = []
    for await (const chunk of exec.stream(program, signal)) {
      const batch = parseLines(split(chunk))
      if (count === undefined) yield batch
      else {
        last = [...last, ...batch.entries]
        yield { entries: [], unreadable: batch.unreadable }
      }
    }
    if (count !== undefined) yield { entries: last.toReversed(), unreadable: 0 }
  }
}

/** As journalctl takes a moment, to the microsecond. */
const at = (ms: number): string => `@${(ms / second).toFixed(6)}`

/** Of what writes thousands of lines a second, the last so many seconds are asked for instead. */
const LOOK_BACK_MS = 75 * second
const LONG_LOOK = 1000

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
      const newest = 'newest' in start ? start.newest : 1
      const stretch =
        newest > LONG_LOOK ? { match, since: clock.now() - LOOK_BACK_MS } : { match, newest }
      yield await withDeadline(context, timeout, (within) => read(stretch, within.signal))
      while (!signal.aborted) await clock.sleep(hour, signal)
    },
  }
}
