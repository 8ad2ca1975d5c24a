import { type Context, type Timing, withDeadline } from '../../core/collector.ts'
import type { Recorder } from '../../core/recorder.ts'
import { type Sample, sampleIfKnown } from '../../core/metric.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { createLineJoiner } from '../../parsers/journal.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import type { Journal, JournalBatch } from '../../sources/journal.ts'
import { readPlace, sameMatch, savePlace } from './place.ts'

/** What a collector that listens to the journal brings along; the rest is the same for all. */
export interface Listener {
  /** The `service` label of the follower's own metrics. */
  readonly service: string
  /** Matches as journalctl takes them. */
  match(signal: AbortSignal): Promise<readonly string[]>
  /** Entries of the past to begin with where nothing is known yet. */
  readonly newest: number
  /** Of a log too busy for that: how far who asks once looks back, in milliseconds. */
  readonly lookBack?: number
  /** Once, when the journal is first at hand. */
  begin(): void
  /** `isOld`: from before the agent first began here: it explains the present, and is not counted. */
  on(entry: JournalEntry, isOld: boolean): void
  /** What must outlive the agent, saved together with the place in the journal. */
  memory(): unknown
  restore(memory: unknown): void
}

/** Handed to a listening collector by whoever composes the agent. */
export interface JournalDependencies {
  readonly journal: Journal<JournalEntry>
  readonly checkpoint: Checkpoint
  readonly recorder: Recorder
}

export interface Heard {
  /** Time of the newest entry, in milliseconds since the epoch; null before the first. */
  readonly lastEntryAt: number | null
}

/** Where this follower is: what it follows, and from which entry on. */
interface Course {
  readonly match: readonly string[]
  cursor: string | undefined
  /** Entries from before this moment are old; none are where we go on from a place that we know. */
  readonly countFrom: number
}

/**
 * Follows the journal for a listener, across ends of the follower and of the agent: place and memory
 * are saved together after every batch, so that an entry is counted once even when we are killed.
 */
export const createJournalFollower = (
  { journal, checkpoint, recorder }: JournalDependencies,
  { listener, timing }: { readonly listener: Listener; readonly timing: Timing },
) => {
  const { service } = listener
  const joiner = createLineJoiner()
  let course: Course | undefined
  let lastEntryAt: number | null = null
  let hasRestored = false
  let isConnected = false

  const connect = (): void => {
    isConnected = true
    recorder.count('chain_agent_journal_restarts_total', 0, { service })
    recorder.count('chain_agent_journal_gaps_total', 0, { service })
    listener.begin()
  }

  const countUnparsed = (lines: number): void => {
    if (lines === 0) return
    recorder.count('chain_agent_lines_total', lines, { format: 'journal', result: 'unparsed' })
  }

  /** The course for these matches: from the saved place where it was found under the same. */
  const begin = async (match: readonly string[], { clock }: Context): Promise<Course> => {
    const place = await readPlace(checkpoint)
    if (place !== undefined && place !== 'lost' && !hasRestored) {
      hasRestored = true
      listener.restore(place.memory)
      lastEntryAt = place.at
    }
    if (place !== undefined && place !== 'lost' && sameMatch(place.match, match)) {
      return { match, cursor: place.cursor, countFrom: 0 }
    }
    if (place !== undefined) recorder.count('chain_agent_journal_gaps_total', 1, { service })
    return { match, cursor: undefined, countFrom: clock.now() }
  }

  const take = (batch: JournalBatch<JournalEntry>, on: Course): Heard => {
    if (!isConnected) connect()
    if (batch.gap) recorder.count('chain_agent_journal_gaps_total', 1, { service })
    for (const part of batch.entries) {
      on.cursor = part.cursor
      lastEntryAt = part.at
      const entry = joiner.join(part)
      if (entry) listener.on(entry, entry.at < on.countFrom)
    }
    countUnparsed(batch.unreadable + joiner.takeLostCount())
    if (batch.entries.length > 0 && !joiner.isWaiting && on.cursor !== undefined) {
      const { match, cursor } = on
      savePlace(checkpoint, { match, cursor, at: lastEntryAt ?? 0, memory: listener.memory() })
    }
    return { lastEntryAt }
  }

  return async function* (context: Context): AsyncGenerator<Heard> {
    const readMatch = (): Promise<readonly string[]> =>
      withDeadline(context, timing.timeout, ({ signal }) => listener.match(signal))
    if (course) recorder.count('chain_agent_journal_restarts_total', 1, { service })
    while (!context.signal.aborted) {
      const match = await readMatch()
      if (!course || !sameMatch(course.match, match)) course = await begin(match, context)
      const on = course
      const { newest, lookBack } = listener
      const start = on.cursor === undefined ? { newest, lookBack } : { after: on.cursor }
      for await (const batch of journal.follow({ match, start, ...timing }, context)) {
        yield take(batch, on)
        // The node may be installed, under its maker's name, long after the agent has begun.
        if (batch.entries.length === 0 && !sameMatch(await readMatch(), match)) break
      }
    }
  }
}

/** The series about the follower itself, the same for every listener. */
export const heardSamples = (service: string, { lastEntryAt }: Heard): readonly Sample[] =>
  sampleIfKnown(
    'chain_agent_journal_last_entry_timestamp_seconds',
    lastEntryAt === null ? null : lastEntryAt / 1000,
    { service },
  )
