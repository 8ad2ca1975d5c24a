import type { Collector } from '../../core/collector.ts'
import { type FollowerReading, followJournal } from '../shared/journal-follower.ts'
import { lifecycleEntry, lifecycleMatch } from './restarts.ts'
import type { Uses } from '../dependencies.ts'
import { definition } from './definition.ts'

type LifecycleUses = Uses<'journalDependencies' | 'unitNames' | 'serviceUnits' | 'lifecycle'>

/** Starts and exits of the node's units, from the journal entries of systemd; includes those between two polls. */
export const lifecycle = (uses: LifecycleUses): Collector<FollowerReading> => {
  const { unitNames, serviceUnits, lifecycle: counters } = uses
  let services: ReadonlyMap<string, string> = new Map()
  return followJournal(definition, uses, {
    consumer: {
      // systemd writes the entries of all units under its own unit.
      service: 'init',
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
    read: (following) => following,
    samples: () => [],
    states: () => ({}),
  })
}
