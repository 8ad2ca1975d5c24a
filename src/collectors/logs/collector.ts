import { type Collector, follow, type Timing } from '../../core/collector.ts'
import { minute } from '../../core/units.ts'
import { type Sample, sample } from '../../core/metric.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { LOG_PATTERN } from '../../parsers/log-patterns.ts'
import type { Exec } from '../../sources/exec.ts'
import type { ReadOldestEntry } from '../../sources/journal-query.ts'
import { createGrepSupport } from '../shared/grep-support.ts'
import {
  createJournalFollower,
  type Heard,
  heardSamples,
  type JournalDependencies,
} from '../shared/journal-follower.ts'
import { createLogCount } from './count.ts'
import type { Trouble } from './sightings.ts'
import type { Names } from '../shared/names.ts'
import { createOldestEntries } from './oldest-entries.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

interface Parts {
  readonly listening: JournalDependencies
  readonly exec: Exec
  readonly readOldest: ReadOldestEntry<JournalEntry>
  readonly names: Names
  /** Service → unit, with `{prefix}` for the maker's word. */
  readonly units: Readonly<Record<string, string>>
  readonly timing: Timing
}

interface Reading extends Heard {
  readonly trouble: Trouble
  /** Service → time of its oldest entry, in milliseconds since the epoch. */
  readonly oldestEntryAt: ReadonlyMap<string, number>
}

/** One follower for all of them. */
const SERVICE = 'logs'
/** Heartbeats between two looks at how far back the journal reaches: a minute. */
const LOOK_EVERY = 12

/** Lines that mean trouble, in the logs of the node's programs. */
export const logs = (parts: Parts): Collector<Reading> => {
  const { listening, exec, readOldest, names, units, timing } = parts
  const count = createLogCount(listening.recorder, Object.keys(units))
  const canGrep = createGrepSupport(exec)
  const every = LOOK_EVERY * timing.interval
  const oldest = createOldestEntries({ read: readOldest, every, timeout: timing.timeout })
  let whole: ReadonlyMap<string, string> = new Map()
  let services: ReadonlyMap<string, string> = new Map()

  const open = createJournalFollower(listening, {
    timing,
    listener: {
      service: SERVICE,
      match: async (signal) => {
        whole = await names.all(units, signal)
        services = new Map([...whole].map(([service, unit]) => [unit, service]))
        return [
          ...[...services.keys()].flatMap((unit) => ['-u', unit]),
          ...((await canGrep(signal)) ? [`--grep=${LOG_PATTERN}`] : []),
        ]
      },
      // journalctl takes these before it filters: a look back of some seconds under DEBUG.
      newest: 10_000,
      lookBack: 10 * minute,
      begin: count.begin,
      on: (entry, isOld) => {
        const service = services.get(entry.unit ?? '')
        if (service !== undefined) count.on(service, entry, isOld)
      },
      memory: count.memory,
      restore: count.restore,
    },
  })

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: async (context, report) => {
      const listen = follow<Heard, Reading>(
        open,
        { lastEntryAt: null, trouble: {}, oldestEntryAt: new Map() },
        (_, heard) => {
          oldest.refresh(whole, context)
          return {
            ...heard,
            trouble: count.trouble(context.clock.now()),
            oldestEntryAt: oldest.read(),
          }
        },
      )
      await listen(context, report)
    },
    samples,
    states,
  }
}

const samples = ({ oldestEntryAt, ...heard }: Reading): readonly Sample[] => [
  ...heardSamples(SERVICE, heard),
  ...[...oldestEntryAt].map(([service, at]) =>
    sample('chain_log_oldest_entry_timestamp_seconds', at / 1000, { service }),
  ),
]

const states = ({ trouble }: Reading): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(trouble).map(([service, told]) => [
      `${service} log`,
      told.join('; ') || 'no trouble',
    ]),
  )

export const offer: OfferCollector = (dependencies) => {
  const { config, names, follower } = dependencies
  const { units } = config.logs
  return {
    uses: [names],
    // Without units, journalctl would follow those of the whole host.
    hasWork: Object.keys(units).length > 0,
    create: (timing) => logs({ ...dependencies, units, listening: follower('logs'), timing }),
  }
}
