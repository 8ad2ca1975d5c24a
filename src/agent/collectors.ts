import type { CollectorDependencies, OfferCollector, Role, Shared } from '../collectors/dependencies.ts'
import { createDuties, createRoundCounter } from '../collectors/derived/duties.ts'
import { COLLECTORS } from '../collectors/index.ts'
import { createLifecycleCounters, type LifecycleCounters } from '../collectors/lifecycle/restarts.ts'
import { createUnitNames, type UnitNames } from '../collectors/shared/unit-names.ts'
import { createMainPids, createOwnKey, type OwnKey } from '../collectors/shared/node-state.ts'
import type { Collector } from '../core/collector.ts'
import { createMemoizeLast } from '../core/memoize-last.ts'

export interface Offered {
  readonly collector: Collector<unknown>
  readonly enabled: boolean
  readonly role: Role
}

type CollectorName = keyof typeof COLLECTORS
type Dependencies = Omit<CollectorDependencies, keyof Shared | 'journalFor'>

/** Loads every collector. */
export const loadCollectors = async (): Promise<ReadonlyMap<CollectorName, OfferCollector<unknown>>> =>
  new Map(
    await Promise.all(
      Object.values(COLLECTORS).map(
        async ({ name, load }): Promise<readonly [CollectorName, OfferCollector<unknown>]> => [name, await load()],
      ),
    ),
  )

/**
 * Creates the collectors for a configuration. Called again with the next configuration, it returns the same collector
 * where nothing that it uses has changed, and a new one where something has. What several collectors share is kept, so
 * that those that keep running and those that are replaced work on the same data.
 */
export const createCollectors = (
  offers: ReadonlyMap<CollectorName, OfferCollector<unknown>>,
): ((dependencies: Dependencies) => readonly Offered[]) => {
  const unitNamesFor = createMemoizeLast<UnitNames>()
  const lifecycleFor = createMemoizeLast<LifecycleCounters>()
  const ownKeyFor = createMemoizeLast<OwnKey>()
  const collectorsFor = new Map<string, ReturnType<typeof createMemoizeLast<Collector<unknown>>>>()
  const mainPids = createMainPids()
  const roundCounter = createRoundCounter()
  const duties = createDuties()

  return (dependencies) => {
    const { config, recorder, journal, checkpoints, readPrefix } = dependencies
    const { publicKey } = config.node
    const labels = Object.keys(config.services.units)
    const all: CollectorDependencies = {
      ...dependencies,
      unitNames: unitNamesFor([readPrefix], () => createUnitNames(readPrefix)),
      lifecycle: lifecycleFor([labels], () => createLifecycleCounters(recorder, labels)),
      ownKey: ownKeyFor([publicKey], () => createOwnKey(publicKey)),
      mainPids,
      roundCounter,
      duties,
      journalFor: (name) => ({ journal, recorder, checkpoint: checkpoints.open(name) }),
    }
    return [...offers].map(([name, offer]) => {
      const { uses = [], hasWork = true, role = 'source', create } = offer(all)
      const { enabled, interval, timeout } = config[name]
      const reuse = collectorsFor.get(name) ?? createMemoizeLast<Collector<unknown>>()
      collectorsFor.set(name, reuse)
      return {
        enabled: enabled && hasWork,
        collector: reuse([config[name], ...uses], () => create({ interval, timeout })),
        role,
      }
    })
  }
}
