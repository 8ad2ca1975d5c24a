import { type Collector, follow, metadataOf } from '../../core/collector.ts'
import { endsWithin } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import { isUnreadable, whyNotRead } from '../../domain/log-state.ts'
import { type Sample, sample } from '../../core/metric.ts'
import { LOG_PATTERN } from '../../parsers/log-patterns/classify.ts'
import {
  createFilteredMatch,
  createJournalFollower,
  type FollowerReading,
  followerSamples,
} from '../shared/journal-follower.ts'
import { createLogCounters, type RecentFailures } from './counters.ts'
import type { OfferCollector, Settings, Uses } from '../dependencies.ts'
import { definition } from './definition.ts'
import { createLogSurvey, type LogSurvey } from './log-survey.ts'

type LogsCollectorOptions = Uses<
  'journalDependencies' | 'exec' | 'unitNames' | 'readOldest' | 'readNewest' | 'unitLogs',
  Settings<typeof definition, 'units'>
> & {
  /** Of a unit whose log only another collector follows: service → unit. */
  readonly alsoExamined: Readonly<Record<string, string>>
}

interface Reading extends FollowerReading, LogSurvey {
  readonly trouble: RecentFailures
}

/** One follower for all units. */
const SERVICE = 'logs'
/** The first reading waits for the survey, in milliseconds. */
const FIRST_SURVEY_MS = 2 * second

/** Known failure messages in the logs of the node's programs. */
export const logs = (options: LogsCollectorOptions): Collector<Reading> => {
  const { journalDependencies, unitNames, units, alsoExamined, timing } = options
  const counters = createLogCounters(journalDependencies.counts.recorder, Object.keys(units))
  const match = createFilteredMatch(options, LOG_PATTERN)
  const survey = createLogSurvey({
    ...options,
    units: async (signal) => unitNames.all({ ...alsoExamined, ...units }, signal),
  })
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
        return match(Object.values(units), signal)
      },
      // journalctl applies this limit before it filters: some seconds of a log with DEBUG lines.
      newest: 10_000,
      lookBack: 10 * minute,
      initialize: initializeCounters,
      onEntry: (entry, isOld) => {
        const service = services.get(entry.unit ?? '')
        if (service === undefined) return
        counters.on(service, entry, isOld)
        survey.noticeEntry(service, entry.at)
      },
      snapshot: counters.snapshot,
      restore: counters.restore,
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

export const offer: OfferCollector<typeof definition> = {
  // Without a unit, journalctl would follow all units of the host.
  hasWork: ({ units }) => Object.keys(units).length > 0,
  create: ({ journalDependencies, exec, readOldest, readNewest, unitLogs, unitNames, units, serviceUnits, timing }) => {
    const { 'ledger-tail': ledger } = serviceUnits
    // The ledger collector follows it.
    const alsoExamined = ledger === undefined ? {} : { 'ledger-tail': ledger }
    return logs({ journalDependencies, exec, readOldest, readNewest, unitLogs, unitNames, units, alsoExamined, timing })
  },
}
