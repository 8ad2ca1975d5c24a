import { type Context, type Timing, withDeadline } from '../core/collector.ts'
import { merge, ticks } from '../core/merge.ts'
import type { Exec } from './exec.ts'
import { createNewestEntryReader, JOURNAL_OUTPUT_OPTIONS, type JournalPosition } from './journal-query.ts'
import { followerStalled, isLostCursor } from './journal-errors.ts'
import { createLineSplitter, type Line } from './lines.ts'

/** The entries that a follower returns together. Without entries it is a heartbeat: connected, nothing new. */
export interface JournalBatch<Entry> {
  readonly entries: readonly Entry[]
  /** The number of lines that are not entries. */
  readonly unreadable: number
  /** Whether the start cursor no longer exists, so that entries may have been lost before these. */
  readonly gap: boolean
}

/**
 * Where to start: after a known entry, or with the newest entries. A one-shot reader uses those of the last `lookBack`
 * milliseconds, if given.
 */
export type JournalStart =
  | { readonly after: string }
  | { readonly newest: number; readonly lookBack?: number | undefined }

export interface FollowOptions extends Timing {
  /** Matches in journalctl syntax: `-u`, UNIT, `--grep=`, or FIELD=value. */
  readonly match: readonly string[]
  readonly start: JournalStart
}

export interface Journal<Entry> {
  /** Follows until the signal aborts. Throws a SourceError if it cannot continue. */
  follow(following: FollowOptions, context: Context): AsyncGenerator<JournalBatch<Entry>>
}

interface JournalDependencies<Entry> {
  readonly exec: Exec
  /** Throws if the line is not an entry. */
  readonly parse: (line: string) => Entry
}

/**
 * Heartbeats without entries between two checks of the journal's end, which distinguish a quiet unit from a stalled
 * follower.
 */
const PROBE_EVERY = 6

const HEARTBEAT = { entries: [], unreadable: 0, gap: false } as const

export const createJournal = <Entry extends JournalPosition>({
  exec,
  parse,
}: JournalDependencies<Entry>): Journal<Entry> => {
  const newest = createNewestEntryReader({ exec, parse })

  async function* follow(following: FollowOptions, context: Context): AsyncGenerator<JournalBatch<Entry>> {
    const { match, start, interval, timeout } = following
    const { clock, signal } = context
    const end = (): Promise<Entry | undefined> =>
      withDeadline(context, timeout, (within) => newest(match, within.signal))
    // Fails at once with a clear error if permission is denied; a follower would only be silent.
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
          if (receiver.hasMissedEntries()) throw followerStalled()
          if (receiver.isProbeDue()) receiver.compare(await end(), clock.now() - interval)
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
 * `--follow` alone shows only the current boot; `--merge` lifts that. `-n all --cursor` begins with the known entry.
 * `--after-cursor` does not show it: if it no longer exists, systemd 252 silently skips an entry. `--all`, because long
 * messages are null without it.
 */
const followArguments = (match: readonly string[], start: JournalStart): readonly string[] => {
  const from = 'after' in start ? ['-n', 'all', `--cursor=${start.after}`] : ['-n', `${start.newest}`]
  return ['--follow', '--merge', ...from, ...JOURNAL_OUTPUT_OPTIONS, ...match]
}

/** Converts chunks to batches, and detects whether the follower misses entries. */
const createReceiver = <Entry extends JournalPosition>(
  parse: (line: string) => Entry,
  start: JournalStart,
  /** The newest entry before the start. */
  before: string | undefined,
) => {
  // With `-n` journalctl filters only the newest few entries, while the newest matching entry may be far older. That
  // entry is not counted as missed.
  const ignored = 'after' in start ? undefined : before
  const split = createLineSplitter()
  let last = 'after' in start ? start.after : undefined
  let expected = last
  let idleTicks = 0
  let missed = false

  const entryOf = (line: Line): Entry | undefined => {
    try {
      return line === undefined ? undefined : parse(line)
    } catch {
      return undefined // counted by the caller; one invalid line must not end the stream
    }
  }

  return {
    receive: (chunk: Uint8Array): JournalBatch<Entry> => {
      const lines = split(chunk)
      const parsed = lines.map(entryOf).filter((entry) => entry !== undefined)
      const [first] = parsed
      // journalctl begins with the known entry. If it begins with another one, the known entry no longer exists.
      const isKnown = first !== undefined && first.cursor === expected
      const gap = first !== undefined && expected !== undefined && !isKnown
      if (first) expected = undefined
      last = parsed.at(-1)?.cursor ?? last
      idleTicks = 0
      missed = false
      return {
        entries: isKnown ? parsed.slice(1) : parsed,
        unreadable: lines.length - parsed.length,
        gap,
      }
    },
    isProbeDue: (): boolean => {
      idleTicks += 1
      return idleTicks % PROBE_EVERY === 0
    },
    /**
     * Compares the journal's newest entry with the last one received. Entries arrive some tenths of a second late, so
     * only older ones count.
     */
    compare: (end: Entry | undefined, latest: number): void => {
      const isKnown = end === undefined || end.cursor === last || end.cursor === ignored
      missed = !isKnown && end.at < latest
    },
    hasMissedEntries: (): boolean => missed,
  }
}
