import { type Collector, follow, metadataOf } from '../../core/collector.ts'
import { createJournalFollower, type FollowerReading, followerSamples } from '../shared/journal-follower.ts'
import { lifecycleEntry, lifecycleMatch } from './restarts.ts'
import type { Uses } from '../dependencies.ts'
import { definition } from './definition.ts'

/** systemd writes the entries of all units under its own unit. */
const SERVICE = 'init'

/** Starts and exits of the node's units, from the journal entries of systemd; includes those between two polls. */
export const lifecycle = ({
  journalDependencies,
  unitNames,
  serviceUnits,
  lifecycle: counters,
  timing,
}: Uses<'journalDependencies' | 'unitNames' | 'serviceUnits' | 'lifecycle'>): Collector<FollowerReading> => {
  let services: ReadonlyMap<string, string> = new Map()
  const open = createJournalFollower(journalDependencies, {
    timing,
    consumer: {
      service: SERVICE,
      match: async (signal) => {
        const resolvedUnits = await unitNames.all(serviceUnits, signal)
        services = new Map([...resolvedUnits].map(([service, unit]) => [unit, service]))
        return lifecycleMatch(services.keys())
      },
      newest: 50,
      ...counters,
      onEntry: ({ fields }, isOld) => {
        const entry = lifecycleEntry(fields)
        const service = services.get(entry?.unit ?? '')
        if (entry === undefined || service === undefined) return
        const { invocation, result } = entry
        if (result === null) counters.started({ service, invocation, isOld })
        else counters.exited({ service, invocation, result, isOld })
      },
    },
  })
  return {
    ...metadataOf(definition, timing),
    run: follow(open, (following) => following),
    samples: (reading) => followerSamples(SERVICE, reading),
    states: () => ({}),
  }
}
