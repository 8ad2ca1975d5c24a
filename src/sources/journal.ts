import { type Context, type Timing, withDeadline } from '../core/collector.ts'
import { merge, ticks } from '../core/merge.ts'
import type { Exec } from './exec.ts'
import { createNewest, FORMAT, type Placed } from './journal-end.ts'
import { deaf, isLostCursor } from './journal-errors.ts'
import { createLineSplitter, type Line } from './lines.ts'

/** What a follower brings at a time. Without entries it is a heartbeat: connected, and nothing new. */
export interface JournalBatch<Entry> {
  readonly entries: readonly Entry[]
  /** Lines that are no entries. */
  readonly unreadable: number
  /** Whether the place to go on from was gone, so that entries may have been lost before these. */
  readonly gap: boolean
}

/**
 * Where to begin: after a known entry, or with the newest few; who asks once takes those of the last
 * `lookBack` milliseconds, where that is given.
 */
export type JournalStart =
  | { readonly after: string }
  | { readonly newest: number; readonly lookBack?: number | undefined }

export interface Following extends Timing {
  /** Matches as journalctl takes them: `-u`, UNIT, or FIELD=value. */
  readonly match: readonly string[]
  readonly start: JournalStart
}

export interface Journal<Entry> {
  /** Follows until the signal aborts; throws a SourceError when it cannot go on. */
  follow(following: Following, context: Context): AsyncGenerator<JournalBatch<Entry>>
}

interface Parts<Entry> {
  readonly exec: Exec
  /** Throws for a line that is no entry. Handed in: this file moves lines, and does not know their meaning. */
  readonly parse: (line: string) => Entry
}

/** Quiet heartbeats between two looks at the journal's end, to tell a quiet unit from a deaf follower. */
const PROBE_EVERY = 6

const HEARTBEAT = { entries: [], unreadable: 0, gap: false } as const

export const createJournal = <Entry extends Placed>({
  exec,
  parse,
}: Parts<Entry>): Journal<Entry> => {
  const newest = createNewest({ exec, parse })

  async function* follow(
    following: Following,
    context: Context,
  ): AsyncGenerator<JournalBatch<Entry>> {
    const { match, start, interval, timeout } = following
    const { clock, signal } = context
    const end = (): Promise<Entry | undefined> =>
      withDeadline(context, timeout, (within) => newest(match, within.signal))
    // Fails at once, and readably, where a follower that may not read would only be silent.
    const before = await end()
    yield HEARTBEAT

    const stop = new AbortController()
    const abort = (): void => {
      stop.abort()
    }
    signal.addEventListener('abort', abort, { once: true })
    const args = followArguments(match, start)
    const stream = exec.stream({ command: 'journalctl', args }, stop.signal)
    const heart = ticks(interval, 'tick' as const, { clock, signal: stop.signal })
    const receiver = createReceiver(parse, start, before?.cursor)
    try {
      for await (const event of merge<Uint8Array | 'tick'>(stream, heart)) {
        if (event !== 'tick') yield receiver.receive(event)
        else {
          if (receiver.isDeaf()) throw deaf()
          if (receiver.isTimeToProbe()) receiver.compare(await end(), clock.now() - interval)
          yield HEARTBEAT
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (!isLostCursor(error)) throw error
      yield { ...HEARTBEAT, gap: true }
      yield* follow({ ...following, start: { newest: 1 } }, context)
    } finally {
      signal.removeEventListener('abort', abort)
      abort()
    }
  }
  return { follow }
}

/**
 * `--follow` alone shows only the current boot; `--merge` lifts that. `-n all --cursor` begins with the
 * entry that we know, which `--after-cursor` does not show: systemd 252 then skips one in silence when
 * it is gone. `--all` because long messages come as null without it.
 */
const followArguments = (match: readonly string[], start: JournalStart): readonly string[] => {
  const from =
    'after' in start ? ['-n', 'all', `--cursor=${start.after}`] : ['-n', `${start.newest}`]
  return ['--follow', '--merge', ...from, ...FORMAT, ...match]
}

/** Turns chunks into batches, and knows whether the follower still hears what is written. */
const createReceiver = <Entry extends Placed>(
  parse: (line: string) => Entry,
  start: JournalStart,
  /** The newest entry before we began. */
  before: string | undefined,
) => {
  // Of the newest few that it begins with, journalctl filters those alone; what it was asked for the end
  // it looks for in all: the newest that matches may be far behind them, and is not missed.
  const spared = 'after' in start ? undefined : before
  const split = createLineSplitter()
  let last = 'after' in start ? start.after : undefined
  let expected = last
  let quietTicks = 0
  let missed = false

  const entryOf = (line: Line): Entry | undefined => {
    try {
      return line === undefined ? undefined : parse(line)
    } catch {
      return undefined // counted by the caller; one bad line must not end the stream
    }
  }

  return {
    receive: (chunk: Uint8Array): JournalBatch<Entry> => {
      const lines = split(chunk)
      const parsed = lines.map(entryOf).filter((entry) => entry !== undefined)
      const [first] = parsed
      // journalctl begins with the entry that we know; beginning with another means it is gone.
      const isKnown = first !== undefined && first.cursor === expected
      const gap = first !== undefined && expected !== undefined && !isKnown
      if (first) expected = undefined
      last = parsed.at(-1)?.cursor ?? last
      quietTicks = 0
      missed = false
      return {
        entries: isKnown ? parsed.slice(1) : parsed,
        unreadable: lines.length - parsed.length,
        gap,
      }
    },
    isTimeToProbe: (): boolean => {
      quietTicks += 1
      return quietTicks % PROBE_EVERY === 0
    },
    /** Holds the journal's end against ours. Entries come some tenths of a second late: only older ones count. */
    compare: (end: Entry | undefined, latest: number): void => {
      const isKnown = end === undefined || end.cursor === last || end.cursor === spared
      missed = !isKnown && end.at < latest
    },
    isDeaf: (): boolean => missed,
  }
}
