import { type Context, linkAbort, withDeadline } from '../core/clock.ts'
import type { Timing } from '../core/collector.ts'
import { createLineSplitter, type Line, merge, ticks } from './streams.ts'
import { type Exec, isNotPermitted, JOURNAL_ADVICE, type Output } from './exec.ts'
import { ParseError, SourceError } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
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

/** Also at a time, in milliseconds since the epoch. */
type Start = JournalStart | { readonly since: number }

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
 * Heartbeats without entries until the first check of the journal's end, which distinguishes a quiet unit from a stalled
 * follower, and between two checks.
 */
const FIRST_PROBE = 4
const PROBE_EVERY = 6
/**
 * The heartbeats in which the entry at the journal's end must arrive: it takes some tenths of a second. Two, so that
 * output that waits in the pipe while the event loop is blocked is read first.
 */
const ARRIVES_WITHIN = 2

/**
 * Units write a line at a time, and each batch passes through all who follow it: some together cost less. Shorter than the
 * interval of any collector.
 */
const GATHER_MS = 1000

export const HEARTBEAT = { entries: [], unreadable: 0, gap: false } as const

/** What a follower receives from the journalctl that it shares. */
export interface Subscription<Entry> {
  /** From now on keeps what the shared journalctl returns for this follower; starts it if it does not run. */
  subscribe(): void
  isSubscribed(): boolean
  /**
   * Notes the entries that the follower's own journalctl returned. Whether one was written after the subscription: the
   * shared journalctl returns all later ones.
   */
  delivered(entries: readonly Entry[]): boolean
  /**
   * What the own journalctl has not returned, and then what arrives. Throws the error of the shared journalctl; ends at
   * once without a subscription.
   */
  batches(): AsyncGenerator<JournalBatch<Entry>>
  /** The follower has ended. */
  end(): void
}

export const createJournal = <Entry extends JournalPosition>(
  dependencies: JournalDependencies<Entry>,
): Journal<Entry> => ({ follow: createFollow(dependencies) })

/** Follows with a journalctl of its own, until the one of `subscription` returns all that is new. */
export const createFollow = <Entry extends JournalPosition>({ exec, parse }: JournalDependencies<Entry>) => {
  const readEnd = createEndReader({ exec, parse })

  return async function* (
    following: Omit<FollowOptions, 'start'> & { readonly start: Start },
    { subscription, ...context }: Context & { readonly subscription?: Subscription<Entry> | undefined },
  ): AsyncGenerator<JournalBatch<Entry>> {
    const { match, start, interval, timeout } = following
    const { clock, signal } = context
    const end = () => withDeadline(context, timeout, (within) => readEnd(match, { clock, signal: within.signal }))
    const opened = clock.now()
    // Fails at once with a clear error if permission is denied; a follower would only be silent.
    const before = await end()
    const isResumed = 'after' in start
    const checkPosition = async (): Promise<void> => {
      if (!isResumed) return
      // The entry at the cursor, or a later one.
      const read = createNewestEntryReader({ exec, parse }, before.isHidden ? CURRENT_BOOT : EVERYTHING)
      const at = [`--cursor=${start.after}`, ...match]
      const entry = await withDeadline(context, timeout, (within) => read(at, within.signal))
      if (entry === undefined) throw positionUnusable(AHEAD)
    }
    if (before.isHidden) await checkPosition()
    // With a known entry, journalctl prints at once: that entry, or the next one. Until then nothing shows that it works.
    let mustRespond = isResumed && before.entry !== undefined
    if (!mustRespond) yield HEARTBEAT

    const linked = linkAbort(signal)
    const scope = before.isHidden ? [] : ['--merge']
    const from = positionArguments(start, before.entry ? undefined : opened)
    const args = ['--follow', ...scope, ...from, ...JOURNAL_OUTPUT_OPTIONS, ...match]
    const stream = exec.stream({ command: 'journalctl', args, gatherMs: GATHER_MS }, linked.signal)
    const heart = ticks(interval, 'tick' as const, { clock, signal: linked.signal })
    const receiver = createReceiver(parse, start, before.entry?.cursor)
    try {
      for await (const event of merge<Uint8Array | 'tick'>(stream, heart)) {
        if (event !== 'tick') {
          const batch = receiver.receive(event)
          const hasPassed = subscription?.delivered(batch.entries) ?? false
          yield batch
          // The shared journalctl may have failed meanwhile.
          if (hasPassed && subscription?.isSubscribed()) return
          continue
        }
        receiver.tick()
        if (receiver.hasMissedEntries()) {
          if (!receiver.hasReceived()) await checkPosition()
          throw followerStalled()
        }
        if (receiver.isProbeDue()) {
          const { entry } = await end()
          receiver.compare(entry)
          mustRespond &&= entry !== undefined
          if (subscription?.isSubscribed() && !mustRespond && !receiver.isMissingEntries()) return
        }
        subscription?.subscribe()
        if (!mustRespond || receiver.hasReceived()) yield HEARTBEAT
      }
    } catch (error) {
      if (signal.aborted) return
      throw isLostCursor(error) ? positionUnusable(MALFORMED) : error
    } finally {
      linked.abort()
    }
  }
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
const positionArguments = (start: Start, emptyAt: number | undefined): readonly string[] => {
  if ('after' in start) return ['-n', 'all', `--cursor=${start.after}`]
  if ('since' in start) return ['-n', 'all', `--since=${journalTime(start.since)}`]
  return emptyAt === undefined ? ['-n', `${start.newest}`] : ['-n', 'all', `--since=${journalTime(emptyAt - minute)}`]
}

/** Converts chunks to batches, and detects whether the follower misses entries. */
const createReceiver = <Entry extends JournalPosition>(
  parse: (line: string) => Entry,
  start: Start,
  /** The newest entry before the start. */
  before: string | undefined,
) => {
  // With `-n` journalctl filters only the newest few entries, while the newest matching entry may be far older. That
  // entry is not counted as missed.
  const ignored = 'after' in start ? undefined : before
  const split = createLineSplitter()
  let expected = 'after' in start ? start.after : undefined
  let last: string | undefined
  let hasReceived = false
  let idleTicks = 0
  /** The heartbeat at which the journal's end was an entry that had not arrived. */
  let missingSince: number | undefined

  return {
    receive: (chunk: Uint8Array): JournalBatch<Entry> => {
      const lines = split(chunk)
      // Output that is not JSON may come in any amount; an error for each line would take most of the time.
      const parsed = entriesOf(
        lines.filter((line) => line?.startsWith('{')),
        parse,
      )
      const [first] = parsed
      // journalctl begins with the known entry. If it begins with another one, the known entry no longer exists.
      const isKnown = first !== undefined && first.cursor === expected
      const gap = first !== undefined && expected !== undefined && !isKnown
      if (first) expected = undefined
      last = parsed.at(-1)?.cursor ?? last
      hasReceived = true
      idleTicks = 0
      missingSince = undefined
      return { entries: isKnown ? parsed.slice(1) : parsed, unreadable: lines.length - parsed.length, gap }
    },
    hasReceived: (): boolean => hasReceived,
    tick: (): void => {
      idleTicks += 1
    },
    isProbeDue: (): boolean => idleTicks % PROBE_EVERY === FIRST_PROBE,
    /** Compares the journal's newest entry with the last one received. */
    compare: (end: Entry | undefined): void => {
      const isKnown = end === undefined || end.cursor === last || end.cursor === ignored
      missingSince = isKnown ? undefined : idleTicks
    },
    isMissingEntries: (): boolean => missingSince !== undefined,
    /** Whether the entry that was the journal's end has not arrived since, nor any other. */
    hasMissedEntries: (): boolean => missingSince !== undefined && idleTicks >= missingSince + ARRIVES_WITHIN,
  }
}

/** The entries of the lines that have one: an invalid line, which the caller counts, must not end the stream. */
export const entriesOf = <Entry>(lines: readonly Line[], parse: (line: string) => Entry): readonly Entry[] =>
  lines.flatMap((line) => {
    try {
      return line === undefined ? [] : [parse(line)]
    } catch (error) {
      if (!(error instanceof ParseError)) throw error
      return []
    }
  })

/** The cursor was malformed, as a cursor of another journal may be. */
const isLostCursor = (error: unknown): boolean =>
  error instanceof SourceError && error.output.includes('Failed to seek to cursor')

const followerStalled = (): SourceError =>
  new SourceError(
    {
      doing: 'follow the journal',
      happened: 'it has new entries that the running journalctl does not return; restarting it where it stopped',
    },
    { code: 'journalctl silent' },
  )

const AHEAD = 'the journal has entries, and none from this position on: it is ahead of them'
const MALFORMED = 'journalctl rejects it'

const positionUnusable = (happened: string): SourceError =>
  new SourceError(
    {
      doing: 'resume reading the journal at the saved position',
      happened: `${happened}; counting a gap and reading from now on`,
      advice:
        'none is needed if this happens once. Possible causes: the clock of the host was ahead when the position was ' +
        'saved, or the state directory is newer than the journal',
    },
    { code: 'journal position unusable' },
  )

const NO_JOURNAL = 'check that systemd-journald runs and where it stores (Storage= in journald.conf)'

/** Why journalctl returned no entry; undefined if nothing matches: with --grep, exit code 1 and no message. */
const failureOf = ({ exitCode, stderr }: Output): SourceError | undefined => {
  const failed = (happened: string, advice?: string) => ({
    doing: 'read the journal',
    happened,
    evidence: stderr,
    advice,
  })
  if (isNotPermitted(stderr))
    return new SourceError(failed('this user may not read it', JOURNAL_ADVICE), { code: 'journal not permitted' })
  if (/No journal files were found/.test(stderr))
    return new SourceError(failed('there are no journal files', NO_JOURNAL))
  return exitCode !== 0 && stderr.trim() !== '' ? new SourceError(failed('journalctl failed')) : undefined
}

const FIELDS =
  'MESSAGE,PRIORITY,_SYSTEMD_UNIT,UNIT,OBJECT_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,_PID,N_DROPPED,' +
  '_SYSTEMD_INVOCATION_ID,_LINE_BREAK,_STREAM_ID,MESSAGE_ID,INVOCATION_ID,UNIT_RESULT'

/** Options for entries as JSON. `--all`, because long messages are null without it. */
export const JOURNAL_OUTPUT_OPTIONS = ['--all', '-o', 'json', `--output-fields=${FIELDS}`]

/** A time for journalctl, with microseconds; from milliseconds since the epoch. */
export const journalTime = (ms: number): string => `@${(ms / second).toFixed(6)}`

export interface JournalPosition {
  readonly cursor: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** The entries of every boot and machine; the other scope is the current boot of this machine. */
const EVERYTHING = '--merge'
const CURRENT_BOOT = '--boot'

/** Reads the newest matching entry; undefined if there is none. Throws a SourceError if the journal cannot be read. */
export const createNewestEntryReader =
  <Entry>({ exec, parse }: JournalDependencies<Entry>, scope = EVERYTHING) =>
  async (match: readonly string[], signal: AbortSignal): Promise<Entry | undefined> => {
    const args = [scope, '-n', '1', ...JOURNAL_OUTPUT_OPTIONS, ...match]
    const output = await exec.run({ command: 'journalctl', args, answers: [0, 1] }, signal)
    const failure = failureOf(output)
    if (failure) throw failure
    const [line = ''] = output.stdout.split('\n')
    return line === '' ? undefined : parse(line)
  }

/**
 * Reads the end of the journal: the newest entry, undefined if nothing matches; `isHidden`: entries of another boot, whose
 * clock was ahead, come after it. An entry that is later than now is not the newest one: the clock was ahead when it was
 * written. journalctl orders files with different sequence numbers by time, so that entries of another boot from the
 * future come last, and a follower that has returned them returns nothing until that time (systemd 252). Of the current
 * boot alone they are no part.
 */
export const createEndReader = <Entry extends JournalPosition>(dependencies: JournalDependencies<Entry>) => {
  const readNewest = createNewestEntryReader(dependencies)
  const readNewestOfBoot = createNewestEntryReader(dependencies, CURRENT_BOOT)
  return async (match: readonly string[], { clock, signal }: Context) => {
    const newest = await readNewest(match, signal)
    if (newest === undefined || newest.at <= clock.now() + LIMITS.journal.aheadMs)
      return { entry: newest, isHidden: false }
    const current = await readNewestOfBoot(match, signal)
    const isHidden = current !== undefined && current.cursor !== newest.cursor
    return { entry: isHidden ? current : newest, isHidden }
  }
}

/**
 * Reads the oldest matching entry in the journal. Throws a SourceError if there is none. journalctl 252 has no option to print only the oldest entry. It is stopped after its first line, which it prints at
 * once (20 ms with a journal of 250 MB).
 */
export const createOldestEntryReader =
  <Entry>({ exec, parse }: JournalDependencies<Entry>) =>
  async (match: readonly string[], signal: AbortSignal): Promise<Entry> => {
    const args = ['--merge', '-o', 'json', '--output-fields=PRIORITY', ...match]
    const split = createLineSplitter()
    for await (const chunk of exec.stream({ command: 'journalctl', args, answers: [0] }, signal)) {
      const [line] = split(chunk)
      if (line !== undefined) return parse(line)
    }
    throw new SourceError({
      doing: 'find the oldest entry of the journal',
      happened: signal.aborted ? 'the agent is ending' : 'it has none',
    })
  }
