import { z } from 'zod'
import { type Clock, type Context, endsWithin, withDeadline } from '../../core/clock.ts'
import { type Collector, follow, metadataOf, type Timing } from '../../core/collector.ts'
import { SourceError } from '../../core/errors.ts'
import { widen } from '../../core/widen.ts'
import { LIMITS } from '../../core/limits.ts'
import { type Recorder, type Sample, sampleIfKnown } from '../../core/metric.ts'
import { inSeconds, second } from '../../core/units.ts'
import { createLineJoiner, type JournalEntry } from '../../parsers/journal.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import type { Journal, JournalBatch } from '../../sources/journal.ts'
import type { Exec } from '../../sources/exec.ts'
import type { UnitNames } from './node-state.ts'
import type { SavedCounts } from './saved-counts.ts'

/** What differs between the collectors that follow the journal. */
interface JournalConsumer {
  /** The `service` label of the follower's own metrics. */
  readonly service: string
  /** Returns matches as arguments of journalctl. */
  match(signal: AbortSignal): Promise<readonly string[]>
  /** Number of past entries to start with if no cursor is saved. */
  readonly newest: number
  /** Used instead of `newest` by commands that read once, for logs with too many entries; in milliseconds. */
  readonly lookBack?: number
  /** Called once, when the journal is available for the first time. */
  initialize(): void
  /** `isOld`: from before the agent was first started. Such an entry updates the state and is not counted. */
  onEntry(entry: JournalEntry, isOld: boolean): void
  /** State that must survive a restart of the agent; saved together with the journal cursor. */
  snapshot(): unknown
  restore(snapshot: unknown): void
  /** journalctl was started: the first entries may be a backlog. */
  onOpen?(): void
  /** Entries may be missing before the next batch. */
  onGap?(): void
}

export interface JournalDependencies {
  readonly journal: Journal<JournalEntry>
  readonly checkpoint: Checkpoint
  /** What the consumer counts from entries: exported only once it is saved with the cursor after these entries. */
  readonly counts: SavedCounts
  /** For the follower's own metrics. */
  readonly recorder: Recorder
}

export interface FollowerReading {
  /**
   * Time of the newest entry, in milliseconds since the epoch; null before the first, and if that is later than now:
   * the clock was ahead when the entry was written.
   */
  readonly lastEntryAt: number | null
}

type FollowState = ReturnType<typeof startFromNow>

/** A file has kilobytes, and a log has new lines all the time. Longer would delay the counts, which are saved first. */
const SAVE_EVERY_MS = 5 * second

/**
 * Follows the journal for a consumer, across restarts of the follower and of the agent. Cursor, counts and snapshot are
 * saved together before the counts are exported, so that each entry is counted once even if the agent is killed. They
 * are saved at once if the last time is long ago, and when the follower ends.
 */
export const createJournalFollower = (
  { journal, checkpoint, counts, recorder }: JournalDependencies,
  { consumer, timing }: { readonly consumer: JournalConsumer; readonly timing: Timing },
) => {
  const { service } = consumer
  const joiner = createLineJoiner()
  let current: FollowState | undefined
  let lastEntryAt: number | null = null
  let hasRestored = false
  let isConnected = false
  let hasNews = false
  let isSaving = false
  /** The start of the last save, by `clock.elapsed()`. */
  let savedAt = Number.NEGATIVE_INFINITY
  let lastSaved = Promise.resolve()

  const connect = (): void => {
    isConnected = true
    consumer.initialize()
  }

  const countGap = (): void => recorder.count('chain_agent_journal_gaps_total', 1, { service })

  /** Starts at the saved cursor if it was saved under the same matches. */
  const start = async (match: readonly string[], { clock }: Context): Promise<FollowState> => {
    const found = await checkpoint.read()
    /** Undefined also if what was saved cannot be read or is invalid. */
    const { data: saved } = schema.safeParse(found.value)
    if (saved && !hasRestored) {
      hasRestored = true
      consumer.restore(saved.memory)
      lastEntryAt = saved.at
    }
    counts.restore(saved?.counts)
    if (saved && sameMatch(withoutPattern(saved.match), withoutPattern(match))) {
      const isOtherPattern = !sameMatch(saved.match, match)
      return { ...startFromNow(match, clock), cursor: saved.cursor, countFrom: 0, isOtherPattern }
    }
    if (found.state !== 'none') countGap()
    return startFromNow(match, clock)
  }

  const processBatch = (
    batch: JournalBatch<JournalEntry>,
    { state, clock }: { readonly state: FollowState; readonly clock: Clock },
  ): FollowerReading => {
    if (!isConnected) connect()
    // After the clock of the host went back, new entries have earlier times than the start had.
    state.countFrom = Math.min(state.countFrom, clock.now() - clock.elapsed() + state.startedAt)
    if (batch.gap) consumer.onGap?.()
    if (batch.gap && !state.isOtherPattern) countGap()
    for (const part of batch.entries) {
      state.isOtherPattern = false
      state.cursor = part.cursor
      lastEntryAt = part.at
      const entry = joiner.join(part)
      if (entry) consumer.onEntry(entry, entry.at < state.countFrom)
    }
    const unparsed = batch.unreadable + joiner.takeLostCount()
    if (unparsed > 0) recorder.count('chain_agent_lines_total', unparsed, { format: 'journal', result: 'unparsed' })
    if (batch.entries.length > 0) hasNews = true
    else if (!isSaving) counts.take()()
    const isAhead = lastEntryAt !== null && lastEntryAt > clock.now() + LIMITS.journal.aheadMs
    return { lastEntryAt: isAhead ? null : lastEntryAt }
  }

  /** Until nothing is new; `signal` ends the wait. A disk that does not answer delays the counts by one timeout. */
  const saveAndExport = async ({ clock, signal }: Context): Promise<void> => {
    isSaving = true
    while (hasNews) {
      const wait = savedAt + SAVE_EVERY_MS - clock.elapsed()
      if (wait > 0) await clock.sleep(wait, signal)
      if (current?.cursor === undefined || joiner.isWaiting) break
      savedAt = clock.elapsed()
      hasNews = false
      const exportCounts = counts.take()
      const { match, cursor } = current
      const taken = { counts: counts.snapshot(), memory: consumer.snapshot() }
      const state: SavedCursor = { version: 1, match, cursor, at: lastEntryAt ?? 0, ...taken }
      await endsWithin(clock, timing.timeout, checkpoint.save(state))
      exportCounts()
    }
    isSaving = false
  }

  return async function* (context: Context): AsyncGenerator<FollowerReading> {
    const readMatch = (): Promise<readonly string[]> =>
      withDeadline(context, timing.timeout, ({ signal }) => consumer.match(signal))
    recorder.count('chain_agent_journal_restarts_total', current ? 1 : 0, { service })
    // Before the first batch: if the saved position is unusable, the gap is counted without one.
    recorder.count('chain_agent_journal_gaps_total', 0, { service })
    const ending = new AbortController()
    try {
      while (!context.signal.aborted) {
        const match = await readMatch()
        if (!current || !sameMatch(current.match, match)) current = await start(match, context)
        const state = current
        const { newest, lookBack } = consumer
        const from = state.cursor === undefined ? { newest, lookBack } : { after: state.cursor }
        consumer.onOpen?.()
        for await (const batch of journal.follow({ match, start: from, ...timing }, context)) {
          const reading = processBatch(batch, { state, clock: context.clock })
          if (hasNews && !isSaving) lastSaved = saveAndExport({ clock: context.clock, signal: ending.signal })
          yield reading
          // The node may be installed, and its name prefix become known, long after the agent was started.
          if (batch.entries.length === 0 && !sameMatch(await readMatch(), match)) break
        }
      }
    } catch (error) {
      if (error instanceof SourceError && error.code === 'journal position unusable' && current) {
        // With another pattern the journal may have no entry from the cursor on that it selects.
        if (!current.isOtherPattern) countGap()
        current = startFromNow(current.match, context.clock)
      }
      throw error
    } finally {
      ending.abort()
      await lastSaved
    }
  }
}

/** A collector that follows the journal for a consumer. */
export const followJournal = <Reading extends FollowerReading>(
  definition: Pick<Collector<Reading>, 'name' | 'help'>,
  { journalDependencies, timing }: { readonly journalDependencies: JournalDependencies; readonly timing: Timing },
  { consumer, read, samples, states }: FollowingCollector<Reading>,
): Collector<Reading> => ({
  ...metadataOf(definition, timing),
  run: follow(createJournalFollower(journalDependencies, { consumer, timing }), read),
  samples: (reading) => [...followerSamples(consumer.service, reading), ...samples(reading)],
  states,
})

interface FollowingCollector<Reading> extends Pick<Collector<Reading>, 'samples' | 'states'> {
  readonly consumer: JournalConsumer
  /** The reading after a batch. */
  read(following: FollowerReading): Reading
}

/** The metrics of the follower itself, the same for every consumer. */
export const followerSamples = (service: string, { lastEntryAt }: FollowerReading): readonly Sample[] =>
  sampleIfKnown('chain_agent_journal_last_entry_timestamp_seconds', inSeconds(lastEntryAt), { service })

/** The cursor of the last entry that was read, under which matches, and the snapshot of the consumer. */
const schema = z.object({
  version: z.literal(1),
  match: z.array(z.string()).readonly(),
  // The cursor is an argument of journalctl: accept only the format that journald writes.
  cursor: z.string().regex(/^[a-z]=[0-9a-zA-Z=;_-]{1,400}$/),
  /** Time of the entry at the cursor, in milliseconds since the epoch. */
  at: z.number(),
  counts: z.unknown(),
  memory: z.unknown(),
})
type SavedCursor = z.output<typeof schema>

const startFromNow = (match: readonly string[], clock: Clock) => ({
  match,
  cursor: widen<string | undefined>(undefined),
  /** Entries from before this time are old, in milliseconds since the epoch; 0 after a saved cursor. */
  countFrom: clock.now(),
  /** When it started, by `clock.elapsed()`. */
  startedAt: clock.elapsed(),
  /** Whether the cursor was saved with another pattern, which may have selected its entry alone. */
  isOtherPattern: false,
})

/** A cursor that was saved under other matches may be at an entry that these matches do not select. */
const sameMatch = (a: readonly string[], b: readonly string[]): boolean => a.join('\0') === b.join('\0')

/**
 * Matches without the pattern, which differs between versions of the agent: journalctl seeks the cursor without it, and
 * filters what it prints. It then begins with the first entry from the cursor on that the new pattern selects.
 */
const withoutPattern = (match: readonly string[]): readonly string[] =>
  match.filter((argument) => !argument.startsWith('--grep='))

/** Matches of the entries of units that the pattern selects; all of their entries if journalctl cannot filter by pattern. */
export const createFilteredMatch = (
  { exec, unitNames }: { readonly exec: Exec; readonly unitNames: Pick<UnitNames, 'match'> },
  units: readonly string[],
  pattern: string,
) => {
  const canGrep = createGrepSupport(exec)
  return async (signal: AbortSignal): Promise<readonly string[]> => [
    ...(await unitNames.match(units, signal)),
    ...((await canGrep(signal)) ? [`--grep=${pattern}`] : []),
  ]
}

/** Whether journalctl can filter by pattern: on some systems it is built without PCRE2. Checked once. */
export const createGrepSupport = (exec: Exec) => {
  let isSupported: boolean | undefined
  return async (signal: AbortSignal): Promise<boolean> => {
    if (isSupported !== undefined) return isSupported
    const program = { command: 'journalctl', args: ['-n', '0', '--grep=.'], answers: [0, 1] }
    const { stderr } = await exec.run(program, signal)
    isSupported = !/pattern matching|PCRE/i.test(stderr)
    return isSupported
  }
}
