import { z } from 'zod'
import type { Context, Timing } from '../../core/collector.ts'
import type { Recorder } from '../../core/recorder.ts'
import { type Sample, sampleIfKnown } from '../../metrics.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { createLineJoiner } from '../../parsers/journal-lines.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import type { Journal, JournalBatch } from '../../sources/journal.ts'

/** What a collector that listens to the journal brings along; the rest is the same for all. */
export interface Listener {
  /** The `service` label of the follower's own metrics. */
  readonly service: string
  /** Matches as journalctl takes them. */
  match(signal: AbortSignal): Promise<readonly string[]>
  /** Entries of the past to begin with where nothing is known yet. */
  readonly newest: number
  /** Once, when the journal is first at hand. */
  begin(): void
  /** `isOld`: from before the agent first began here: it explains the present, and is not counted. */
  on(entry: JournalEntry, isOld: boolean): void
  /** What must outlive the agent, saved together with the place in the journal. */
  memory(): unknown
  restore(memory: unknown): void
}

/** Handed to a listening collector by whoever composes the agent. */
export interface Listening {
  readonly journal: Journal<JournalEntry>
  readonly checkpoint: Checkpoint
  readonly recorder: Recorder
}

export interface Heard {
  /** Time of the newest entry, in milliseconds since the epoch; null before the first. */
  readonly lastEntryAt: number | null
}

const saved = z.object({
  version: z.literal(1),
  match: z.array(z.string()),
  // A cursor is passed on to journalctl: nothing but what journald writes itself.
  cursor: z.string().regex(/^[a-z]=[0-9a-zA-Z=;_-]{1,400}$/),
  memory: z.unknown(),
})

/**
 * Follows the journal for a listener, across ends of the follower and of the agent: place and memory
 * are saved together after every batch, so that an entry is counted once even when we are killed.
 */
export const createJournalFollower = (
  { journal, checkpoint, recorder }: Listening,
  { listener, timing }: { readonly listener: Listener; readonly timing: Timing },
) => {
  const { service } = listener
  const joiner = createLineJoiner()
  let cursor: string | undefined
  let began: { readonly at: number; readonly isResumed: boolean } | undefined
  let lastEntryAt: number | null = null
  let isConnected = false

  const connect = (): void => {
    isConnected = true
    recorder.count('chain_agent_journal_restarts_total', 0, { service })
    recorder.count('chain_agent_journal_gaps_total', 0, { service })
    listener.begin()
  }
  const resume = async (context: Context, match: readonly string[]): Promise<typeof began> => {
    const { data } = saved.safeParse(await checkpoint.read())
    // A place found under other matches may lie on an entry that these do not see.
    const isOurs = data !== undefined && same(data.match, match)
    if (isOurs) {
      cursor = data.cursor
      listener.restore(data.memory)
    }
    return { at: context.clock.now(), isResumed: isOurs }
  }

  const take = (
    { entries, unreadable, gap }: JournalBatch<JournalEntry>,
    match: readonly string[],
  ): Heard => {
    if (!isConnected) connect()
    if (gap) recorder.count('chain_agent_journal_gaps_total', 1, { service })
    if (unreadable > 0) {
      recorder.count('chain_agent_lines_total', unreadable, {
        format: 'journal',
        result: 'unparsed',
      })
    }
    for (const part of entries) {
      cursor = part.cursor
      lastEntryAt = part.at
      const entry = joiner.join(part)
      if (entry) listener.on(entry, began?.isResumed === false && entry.at < began.at)
    }
    if (entries.length > 0 && !joiner.isWaiting) {
      checkpoint.save({ version: 1, match, cursor, memory: listener.memory() })
    }
    return { lastEntryAt }
  }

  return async function* (context: Context): AsyncGenerator<Heard> {
    if (began) recorder.count('chain_agent_journal_restarts_total', 1, { service })
    for (;;) {
      const match = await listener.match(context.signal)
      began ??= await resume(context, match)
      const start = cursor === undefined ? { newest: listener.newest } : { after: cursor }
      for await (const batch of journal.follow({ match, start, ...timing }, context)) {
        yield take(batch, match)
        // The node may be installed, under its maker's name, long after the agent has begun.
        if (batch.entries.length === 0 && !same(await listener.match(context.signal), match)) break
      }
      if (context.signal.aborted) return
      cursor = undefined
    }
  }
}

const same = (a: readonly string[], b: readonly string[]): boolean => a.join('\0') === b.join('\0')

/** The series about the follower itself, the same for every listener. */
export const heardSamples = (service: string, { lastEntryAt }: Heard): readonly Sample[] =>
  sampleIfKnown(
    'chain_agent_journal_last_entry_timestamp_seconds',
    lastEntryAt === null ? null : lastEntryAt / 1000,
    { service },
  )
