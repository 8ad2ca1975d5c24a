import { type Collector, follow, metadataOf } from '../../core/collector.ts'
import { type Context, endsWithin, withDeadline } from '../../core/clock.ts'
import { asError } from '../../core/errors.ts'
import { minute, second } from '../../core/units.ts'
import { isUnreadable, type LogState, type LogStates, whyNotRead } from '../../domain/log-state.ts'
import { type Sample, sample } from '../../core/metric.ts'
import { LOG_PATTERN } from '../../parsers/log-patterns/classify.ts'
import {
  createFilteredMatch,
  createJournalFollower,
  type FollowerReading,
  followerSamples,
} from '../shared/journal-follower.ts'
import { createLogCounters, type RecentFailures } from './counters.ts'
import type { Settings, Uses } from '../dependencies.ts'
import { definition } from './definition.ts'
import { ifUnreadable } from '../shared/unit-logs.ts'

type LogsUses = Uses<
  'journalDependencies' | 'exec' | 'unitNames' | 'readOldest' | 'readNewest' | 'unitLogs' | 'serviceUnits',
  Settings<typeof definition, 'units'>
>

interface Reading extends FollowerReading, LogSurvey {
  readonly trouble: RecentFailures
}

/** One follower for all units. */
const SERVICE = 'logs'
/** The first reading waits for the survey, in milliseconds. */
const FIRST_SURVEY_MS = 2 * second

/** Known failure messages in the logs of the node's programs. */
export const logs = (uses: LogsUses): Collector<Reading> => {
  const { journalDependencies, unitNames, units, timing } = uses
  const counters = createLogCounters(journalDependencies.counts.recorder, Object.keys(units))
  const match = createFilteredMatch(uses, Object.values(units), LOG_PATTERN)
  const survey = createLogSurvey(uses)
  let services: ReadonlyMap<string, string> = new Map()

  /** A service whose log cannot be read has no counters: they would be zero. */
  const initializeCounters = (): void => {
    const { states } = survey.read()
    for (const service of Object.keys(units)) {
      if (!isUnreadable(service, states.get(service))) counters.initialize(service)
    }
  }

  const open = createJournalFollower(journalDependencies, {
    timing,
    consumer: {
      service: SERVICE,
      match: async (signal) => {
        const resolved = await unitNames.all(units, signal)
        services = new Map([...resolved].map(([service, unit]) => [unit, service]))
        return match(signal)
      },
      // journalctl applies this limit before it filters: some seconds of a log with DEBUG lines.
      newest: 10_000,
      lookBack: 10 * minute,
      ...counters,
      initialize: initializeCounters,
      onEntry: (entry, isOld) => {
        const service = services.get(entry.unit ?? '')
        if (service === undefined) return
        counters.on(service, entry, isOld)
        survey.noticeEntry(service, entry.at)
      },
    },
  })

  return {
    ...metadataOf(definition, timing),
    run: async (context, report) => {
      await endsWithin(context.clock, FIRST_SURVEY_MS, survey.refresh(context))
      const run = follow(open, (following): Reading => {
        void survey.refresh(context)
        initializeCounters()
        return { ...following, trouble: counters.trouble(context.clock), ...survey.read() }
      })
      await run(context, report)
    },
    samples,
    states: statesOf,
  }
}

const samples = ({ oldestEntryAt, states, ...following }: Reading): readonly Sample[] => [
  ...followerSamples(SERVICE, following),
  ...[...states].map(([service, state]) => sample('chain_agent_log_state', 1, { service, state })),
  ...[...oldestEntryAt].map(([service, at]) =>
    sample('chain_log_oldest_entry_timestamp_seconds', at / 1000, { service }),
  ),
]

const statesOf = ({ trouble, states }: Reading): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(trouble).map(([service, failures]) => {
      const unread = whyNotRead(states.get(service))
      return [`${service} log`, failures.join('; ') || (unread === undefined ? 'no failures' : `not read: ${unread}`)]
    }),
  )

/** The state of the log of a service since its last start. */
interface FoundState {
  readonly startedAt: number
  readonly isActive: boolean
  /** Whether it was too early to expect an entry. */
  readonly isEarly: boolean
  /** Undefined: unknown, as it does not run, or has only just started. */
  readonly state: LogState | undefined
}

/** What the journal has of each service. */
interface LogSurvey {
  readonly states: LogStates
  /** Service → time of its oldest entry, in milliseconds since the epoch. */
  readonly oldestEntryAt: ReadonlyMap<string, number>
}

/**
 * Intervals between two surveys: one minute by default. Every tenth is complete: it reads the oldest entries again, and
 * looks again for entries of services that had none.
 */
const SURVEY_EVERY = 12
const COMPLETE_EVERY = 10

/** The programs of the node print a line for every block, or some lines at their start. */
const NO_ENTRIES_AFTER_MS = 5 * minute

/** The values of `StandardOutput=` whose lines are in the journal, under the unit. */
const IN_JOURNAL = ['journal', 'journal+console', 'syslog', 'syslog+console']

/** Surveys the logs independently of the follower, so that a read that hangs does not block it. */
const createLogSurvey = (uses: LogsUses) => {
  const { readOldest, readNewest, unitLogs, unitNames, units, serviceUnits, timing } = uses
  const { 'ledger-tail': ledger } = serviceUnits
  // The ledger collector follows it.
  const examined = ledger === undefined ? units : { 'ledger-tail': ledger, ...units }
  const found = new Map<string, FoundState>()
  let survey: LogSurvey = { states: new Map(), oldestEntryAt: new Map() }
  let surveys = 0
  let [isComplete, isOldestDue, isReading] = [true, true, false]
  let dueAt = -Infinity
  let failure: Error | undefined

  // Not `-u`: it also selects the entries of systemd about the unit, which may be in another file of the journal, and
  // outlive the entries of the unit itself.
  const matchOf = async (unit: string, signal: AbortSignal): Promise<readonly string[]> => [
    ...(await unitLogs.scope([unit], signal)),
    `_SYSTEMD_UNIT=${unit}`,
  ]

  const stateOf = async (service: string, unit: string, { clock, signal }: Context): Promise<LogState | undefined> => {
    const log = await unitLogs.of(unit, signal)
    if (!log || log.startedAt === null) return undefined
    const { startedAt, isActive, output } = log
    const isEarly = clock.now() - startedAt <= NO_ENTRIES_AFTER_MS
    const last = found.get(service)
    // What was printed stays printed. A service without entries is seen when it prints one (`noticeEntry`).
    const isSame = last?.isActive === isActive && last.isEarly === isEarly
    if (last?.startedAt === startedAt && (last.state === 'read' || (!isComplete && isSame))) return last.state
    const newest = await readNewest(await matchOf(unit, signal), signal)
    const keep = (state: LogState | undefined): LogState | undefined => {
      found.set(service, { startedAt, isActive, isEarly, state })
      return state
    }
    if (newest && newest.at >= startedAt - second) {
      if (!survey.oldestEntryAt.has(service)) isOldestDue = true
      return keep('read')
    }
    // A service that has stopped may have had nothing to print.
    if (!isActive) return keep(undefined)
    if (output !== null && !IN_JOURNAL.includes(output)) return keep('other output')
    return keep(isEarly ? undefined : 'no entries')
  }

  const oldestOf = async (_: string, unit: string, { signal }: Context): Promise<number> =>
    (await readOldest(await matchOf(unit, signal), signal)).at

  /** What `read` returns for each service. An error is a journal that cannot be read, which the follower reports. */
  const ofEach = async <Value>(
    read: (service: string, unit: string, context: Context) => Promise<Value | undefined>,
    context: Context,
  ): Promise<ReadonlyMap<string, Value>> => {
    const values = new Map<string, Value>()
    const readEach = async (within: Context): Promise<void> => {
      const resolved = await unitNames.all(examined, within.signal)
      // One systemctl for all of them.
      await unitLogs.scope([...resolved.values()], within.signal)
      for (const [service, unit] of resolved) {
        const value = await read(service, unit, within).catch(ifUnreadable)
        if (value !== undefined) values.set(service, value)
      }
    }
    await withDeadline(context, timing.timeout, readEach).catch(ifUnreadable)
    return new Map(values)
  }

  const readStates = async (context: Context): Promise<void> => {
    survey = { ...survey, states: await ofEach(stateOf, context) }
  }

  const readOldestEntries = async (context: Context): Promise<void> => {
    if (!isOldestDue) return
    const oldestEntryAt = await ofEach(oldestOf, context)
    survey = { ...survey, oldestEntryAt }
    // None at all though there are entries: the read has failed.
    isOldestDue = oldestEntryAt.size === 0 && [...survey.states.values()].includes('read')
  }

  const start = async (context: Context): Promise<void> => {
    isReading = true
    dueAt = context.clock.elapsed() + SURVEY_EVERY * timing.interval
    isComplete = surveys % COMPLETE_EVERY === 0
    isOldestDue ||= isComplete
    surveys += 1
    const states = readStates(context)
    void states
      .then(async () => readOldestEntries(context))
      .catch((error: unknown) => {
        failure = asError(error)
      })
      .finally(() => {
        isReading = false
      })
    await states.catch(() => undefined)
  }

  return {
    /** Starts a survey if the interval has passed; resolves when the states are read. Throws the error of a failed one. */
    refresh: (context: Context): Promise<void> => {
      if (failure) throw failure
      return isReading || context.clock.elapsed() < dueAt ? Promise.resolve() : start(context)
    },
    /** The follower has read an entry of this time: a service without entries has one, and is surveyed at once. */
    noticeEntry: (service: string, at: number): void => {
      const last = found.get(service)
      if (!last || last.state === 'read' || at < last.startedAt - second) return
      found.delete(service)
      dueAt = -Infinity
    },
    read: (): LogSurvey => survey,
  }
}
