import { type Context, linkAbort, withDeadline } from '../core/clock.ts'
import type { Timing } from '../core/collector.ts'
import { createLineSplitter, type Line, merge, ticks } from './streams.ts'
import { type Exec, isNotPermitted, JOURNAL_ADVICE } from './exec.ts'
import { SourceError } from '../core/errors.ts'
import { minute, second } from '../core/units.ts'

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

export interface JournalDependencies<Entry> {
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
    const opened = clock.now()
    // Fails at once with a clear error if permission is denied; a follower would only be silent.
    const before = await end()
    yield HEARTBEAT

    const linked = linkAbort(signal)
    const from = positionArguments(start, before ? undefined : opened)
    const args = ['--follow', '--merge', ...from, ...JOURNAL_OUTPUT_OPTIONS, ...match]
    const stream = exec.stream({ command: 'journalctl', args }, linked.signal)
    const heart = ticks(interval, 'tick' as const, { clock, signal: linked.signal })
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
      linked.abort()
    }
  }
  return { follow }
}

/**
 * Where the follower starts. Its other options: `--follow` alone shows only the current boot; `--merge` lifts that.
 * `-n all --cursor` begins with the known entry. `--after-cursor` does not show it: if it no longer exists, systemd 252
 * silently skips an entry.
 *
 * `-n` needs an entry to start from. If nothing matches (`emptyAt`: when that was seen), journalctl 252 begins at the
 * end of the journal as it is when it first finds an entry, and skips those that were written at once. `--since` does
 * not; a minute earlier, because journald writes an entry some time after its timestamp.
 */
const positionArguments = (start: JournalStart, emptyAt: number | undefined): readonly string[] => {
  if ('after' in start) return ['-n', 'all', `--cursor=${start.after}`]
  return emptyAt === undefined ? ['-n', `${start.newest}`] : ['-n', 'all', `--since=${journalTime(emptyAt - minute)}`]
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
      // Output that is not JSON may come in any amount; an error for each line would take most of the time.
      return line?.startsWith('{') === true ? parse(line) : undefined
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
      return { entries: isKnown ? parsed.slice(1) : parsed, unreadable: lines.length - parsed.length, gap }
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

/** The cursor was malformed, as a cursor of another journal may be. */
const isLostCursor = (error: unknown): boolean =>
  error instanceof SourceError && error.output.includes('Failed to seek to cursor')

const followerStalled = (): SourceError =>
  new SourceError({
    doing: 'follow the journal',
    happened: 'it has entries that the follower does not return; restarting it',
  })

const notPermitted = (stderr: string): SourceError =>
  new SourceError(
    { doing: 'read the journal', happened: 'this user may not read it', evidence: stderr, advice: JOURNAL_ADVICE },
    { code: 'journal not permitted' },
  )

const journalctlFailed = (stderr: string): SourceError =>
  new SourceError({ doing: 'read the journal', happened: 'journalctl failed', evidence: stderr })

const noJournal = (stderr: string): SourceError =>
  new SourceError({
    doing: 'read the journal',
    happened: 'there are no journal files',
    evidence: stderr,
    advice: 'check that systemd-journald runs and where it stores (Storage= in journald.conf)',
  })

const FIELDS =
  'MESSAGE,PRIORITY,_SYSTEMD_UNIT,UNIT,OBJECT_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,_PID,N_DROPPED,' +
  '_SYSTEMD_INVOCATION_ID,_LINE_BREAK,_STREAM_ID,MESSAGE_ID,INVOCATION_ID,UNIT_RESULT'

/** Options for entries as JSON. `--all`, because long messages are null without it. */
export const JOURNAL_OUTPUT_OPTIONS = ['--all', '-o', 'json', `--output-fields=${FIELDS}`]

/** A time for journalctl, with microseconds; from milliseconds since the epoch. */
export const journalTime = (ms: number): string => `@${(ms / second).toFixed(6)}`

/** The position of an entry in the journal. */
export interface JournalPosition {
  readonly cursor: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Reads the newest matching entry; undefined if there is none. Throws a SourceError if the journal cannot be read. */
export const createNewestEntryReader =
  <Entry extends JournalPosition>({ exec, parse }: JournalDependencies<Entry>) =>
  async (match: readonly string[], signal: AbortSignal): Promise<Entry | undefined> => {
    const args = ['--merge', '-n', '1', ...JOURNAL_OUTPUT_OPTIONS, ...match]
    // With --grep, exit code 1 without a message means "nothing matches"; with a message it is a failure.
    const program = { command: 'journalctl', args, answers: [0, 1] }
    const { exitCode, stdout, stderr } = await exec.run(program, signal)
    if (isNotPermitted(stderr)) throw notPermitted(stderr)
    if (/No journal files were found/.test(stderr)) throw noJournal(stderr)
    if (exitCode !== 0 && stderr.trim() !== '') throw journalctlFailed(stderr)
    const [line = ''] = stdout.split('\n')
    return line === '' ? undefined : parse(line)
  }

/** Reads the oldest matching entry in the journal. Throws a SourceError if there is none. */
export type ReadOldestEntry<Entry> = (match: readonly string[], signal: AbortSignal) => Promise<Entry>

/**
 * journalctl 252 has no option to print only the oldest entry. It is stopped after its first line, which it prints at
 * once (20 ms with a journal of 250 MB).
 */
export const createOldestEntryReader =
  <Entry>({ exec, parse }: JournalDependencies<Entry>): ReadOldestEntry<Entry> =>
  async (match, signal) => {
    const args = ['--merge', '-o', 'json', '--output-fields=PRIORITY', ...match]
    const split = createLineSplitter()
    for await (const chunk of exec.stream({ command: 'journalctl', args }, signal)) {
      const [line] = split(chunk)
      if (line !== undefined) return parse(line)
    }
    throw new SourceError({ doing: 'find the oldest entry of the journal', happened: 'the agent is ending' })
  }
