import { type Collector, follow, type Timing } from '../../core/collector.ts'
import {
  createJournalFollower,
  type FollowerReading,
  followerSamples,
  type JournalDependencies,
} from '../shared/journal-follower.ts'
import type { LifecycleCounters } from './restarts.ts'
import type { UnitNames } from '../shared/node-state.ts'
import type { OfferCollector } from '../dependencies.ts'
import { definition } from './definition.ts'

interface LifecycleCollectorOptions {
  readonly journalDependencies: JournalDependencies
  readonly unitNames: UnitNames
  readonly units: Readonly<Record<string, string>>
  readonly lifecycle: LifecycleCounters
  readonly timing: Timing
}

/** Ids of systemd's message catalogue (`journalctl --catalog`), stable across versions and languages. */
const STARTED = '39f53479d3a045ac8e11786248231fbf'
const SUCCEEDED = '7ad2d189f7e94e70a38c781354912448'
const FAILED = 'd9b373ed55a64feb8242e02dbe79a49c'

/** systemd writes the entries of all units under its own unit. */
const SERVICE = 'init'

/** Starts and exits of the node's units, from the journal entries of systemd; includes those between two polls. */
export const lifecycle = (options: LifecycleCollectorOptions): Collector<FollowerReading> => {
  const { journalDependencies, unitNames, units, lifecycle: counters, timing } = options
  let services: ReadonlyMap<string, string> = new Map()
  const open = createJournalFollower(journalDependencies, {
    timing,
    consumer: {
      service: SERVICE,
      match: async (signal) => {
        const resolvedUnits = await unitNames.all(units, signal)
        services = new Map([...resolvedUnits].map(([service, unit]) => [unit, service]))
        return [
          '_PID=1',
          ...[STARTED, SUCCEEDED, FAILED].map((id) => `MESSAGE_ID=${id}`),
          ...[...services.keys()].map((unit) => `UNIT=${unit}`),
        ]
      },
      newest: 50,
      initialize: () => {
        counters.initialize()
      },
      onEntry: ({ fields }, isOld) => {
        const service = services.get(fields['UNIT'] ?? '')
        const invocation = fields['INVOCATION_ID']
        if (service === undefined || invocation === undefined) return
        const run = { service, invocation, isOld }
        if (fields['MESSAGE_ID'] === STARTED) counters.started(run)
        else if (fields['MESSAGE_ID'] === SUCCEEDED) counters.exited({ ...run, result: 'success' })
        else if (fields['MESSAGE_ID'] === FAILED) {
          counters.exited({ ...run, result: fields['UNIT_RESULT'] ?? 'other' })
        }
      },
      snapshot: () => counters.snapshot(),
      restore: (snapshot) => {
        counters.restore(snapshot)
      },
    },
  })
  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: follow<FollowerReading, FollowerReading>(open, { lastEntryAt: null }, (_, following) => following),
    samples: (reading) => followerSamples(SERVICE, reading),
    states: () => ({}),
  }
}

export const offer: OfferCollector<typeof definition> = ({ config, unitNames, lifecycle: shared, journalFor }) => {
  const { units } = config.services
  return {
    uses: [unitNames, shared, units],
    create: (timing) =>
      lifecycle({
        journalDependencies: journalFor('lifecycle'),
        unitNames,
        units,
        lifecycle: shared,
        timing,
      }),
  }
}
