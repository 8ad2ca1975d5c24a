import { type Collector, follow, type Timing } from '../../core/collector.ts'
import { type Context, withDeadline } from '../../core/clock.ts'
import { asError, ParseError, SourceError } from '../../core/errors.ts'
import { minute } from '../../core/units.ts'
import { type Sample, sample } from '../../core/metric.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { LOG_PATTERN } from '../../parsers/log-patterns/classify.ts'
import type { Exec } from '../../sources/exec.ts'
import type { ReadOldestEntry } from '../../sources/journal.ts'
import {
  createGrepSupport,
  createJournalFollower,
  type FollowerReading,
  followerSamples,
  type JournalDependencies,
} from '../shared/journal-follower.ts'
import { createLogCounters, type RecentFailures } from './counters.ts'
import type { UnitNames } from '../shared/node-state.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

interface LogsCollectorOptions {
  readonly journalDependencies: JournalDependencies
  readonly exec: Exec
  readonly readOldest: ReadOldestEntry<JournalEntry>
  readonly unitNames: UnitNames
  /** Service → unit, with `{prefix}` for the name prefix. */
  readonly units: Readonly<Record<string, string>>
  readonly timing: Timing
}

interface Reading extends FollowerReading {
  readonly trouble: RecentFailures
  /** Service → time of its oldest entry, in milliseconds since the epoch. */
  readonly oldestEntryAt: ReadonlyMap<string, number>
}

/** One follower for all units. */
const SERVICE = 'logs'
/** Intervals between two reads of the oldest entries: ten minutes by default; one until each service has an entry. */
const OLDEST_EVERY = 120
const OLDEST_SOON = 12

/** Known failure messages in the logs of the node's programs. */
export const logs = (options: LogsCollectorOptions): Collector<Reading> => {
  const { journalDependencies, exec, readOldest, unitNames, units, timing } = options
  const counters = createLogCounters(journalDependencies.counts.recorder, Object.keys(units))
  const canGrep = createGrepSupport(exec)
  const oldest = createOldestEntries({
    read: readOldest,
    every: OLDEST_EVERY * timing.interval,
    soon: OLDEST_SOON * timing.interval,
    timeout: timing.timeout,
  })
  let resolvedUnits: ReadonlyMap<string, string> = new Map()
  let services: ReadonlyMap<string, string> = new Map()

  const open = createJournalFollower(journalDependencies, {
    timing,
    consumer: {
      service: SERVICE,
      match: async (signal) => {
        resolvedUnits = await unitNames.all(units, signal)
        services = new Map([...resolvedUnits].map(([service, unit]) => [unit, service]))
        return [
          ...[...services.keys()].flatMap((unit) => ['-u', unit]),
          ...((await canGrep(signal)) ? [`--grep=${LOG_PATTERN}`] : []),
        ]
      },
      // journalctl applies this limit before it filters: some seconds of a log with DEBUG lines.
      newest: 10_000,
      lookBack: 10 * minute,
      initialize: counters.initialize,
      onEntry: (entry, isOld) => {
        const service = services.get(entry.unit ?? '')
        if (service !== undefined) counters.on(service, entry, isOld)
      },
      snapshot: counters.snapshot,
      restore: counters.restore,
    },
  })

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: async (context, report) => {
      const run = follow<FollowerReading, Reading>(
        open,
        { lastEntryAt: null, trouble: {}, oldestEntryAt: new Map() },
        (_, following) => {
          oldest.refresh(resolvedUnits, context)
          return {
            ...following,
            trouble: counters.trouble(context.clock),
            oldestEntryAt: oldest.read(),
          }
        },
      )
      await run(context, report)
    },
    samples,
    states,
  }
}

interface OldestEntriesOptions {
  readonly read: ReadOldestEntry<JournalEntry>
  /** Interval, interval while a service has no entry, and timeout for reading all services: milliseconds. */
  readonly every: number
  readonly soon: number
  readonly timeout: number
}

/** For a journal or an entry that cannot be read, which the follower reports. */
const ifUnreadable = (error: unknown): undefined => {
  if (!(error instanceof SourceError || error instanceof ParseError)) throw error
}

/**
 * The time of the oldest entry of each service in the journal. It is read independently of the follower, so that a read
 * that hangs does not block it.
 */
const createOldestEntries = ({ read, every, soon, timeout }: OldestEntriesOptions) => {
  let oldest: ReadonlyMap<string, number> = new Map()
  let isReading = false
  let dueAt = -Infinity
  let failure: Error | undefined

  const readAll = async (
    units: ReadonlyMap<string, string>,
    context: Context,
  ): Promise<ReadonlyMap<string, number>> => {
    const found = new Map<string, number>()
    const readEach = async ({ signal }: Context): Promise<void> => {
      for (const [service, unit] of units) {
        // An error is a journal that cannot be read, which the follower reports. Not `-u`: it also selects the entries
        // of systemd about the unit, which may be in another file of the journal, and outlive the entries of the unit
        // itself.
        const entry = await read([`_SYSTEMD_UNIT=${unit}`], signal).catch(ifUnreadable)
        if (entry) found.set(service, entry.at)
      }
    }
    await withDeadline(context, timeout, readEach).catch(ifUnreadable)
    return new Map(found)
  }

  return {
    /** Reads the entries if the interval has passed; `units`: service → unit. Throws the error of a failed read. */
    refresh: (units: ReadonlyMap<string, string>, context: Context): void => {
      if (failure) throw failure
      const now = context.clock.elapsed()
      if (isReading || now < dueAt) return
      isReading = true
      dueAt = now + soon
      void readAll(units, context).then(
        (found) => {
          oldest = found
          if (units.size > 0 && found.size === units.size) dueAt = now + every
          isReading = false
        },
        (error: unknown) => {
          failure = asError(error)
        },
      )
    },
    /** Service → time of its oldest entry, in milliseconds since the epoch. */
    read: (): ReadonlyMap<string, number> => oldest,
  }
}

const samples = ({ oldestEntryAt, ...following }: Reading): readonly Sample[] => [
  ...followerSamples(SERVICE, following),
  ...[...oldestEntryAt].map(([service, at]) =>
    sample('chain_log_oldest_entry_timestamp_seconds', at / 1000, { service }),
  ),
]

const states = ({ trouble }: Reading): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(trouble).map(([service, failures]) => [`${service} log`, failures.join('; ') || 'no failures']),
  )

export const offer: OfferCollector<typeof definition> = ({ units }, { exec, readOldest, unitNames, journalFor }) => ({
  // Without a unit, journalctl would follow all units of the host.
  hasWork: Object.keys(units).length > 0,
  create: (timing) => logs({ exec, readOldest, unitNames, units, journalDependencies: journalFor('logs'), timing }),
})
