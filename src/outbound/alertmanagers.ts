import type { Context } from '../core/clock.ts'
import { type Collector, metadataOf, poll, type Subscribe } from '../core/collector.ts'
import { sample } from '../core/metric.ts'
import { minute } from '../core/units.ts'
import type { AlertState, TargetAlert } from '../domain/health.ts'
import type { AlertmanagerEndpoint } from '../sources/alertmanager.ts'
import type { OfferCollector, ReadingOf, Uses } from '../collectors/dependencies.ts'
import { requestTimeout } from '../collectors/shared/request.ts'
import { alertmanagers as definition } from './definitions.ts'
import { createOutbox, keyOf } from './outbox.ts'
import { createReadBootTime, createSavedAlerts, type ReadBootTime } from './saved-alerts.ts'

type AlertmanagersCollectorOptions = Uses<'onEvaluation' | 'checkpoint' | 'clock'> & {
  readonly endpoints: readonly AlertmanagerEndpoint[]
  readonly alerts: (state: AlertState) => readonly TargetAlert[]
  readonly readBootTime: ReadBootTime
}

type Reading = ReadingOf<typeof definition>

/** After a start, each collector has a reading by then, and a rate has its two samples: a condition that holds is pending. */
const SETTLED_MS = 3 * minute

/**
 * Sends all firing alerts to each Alertmanager when they change, and at each poll: one that was away has them at the next
 * one. Each has a poll of its own: one that hangs delays no other.
 */
export const alertmanagers = ({
  endpoints,
  alerts: alertsIn,
  onEvaluation,
  checkpoint,
  readBootTime,
  clock,
  timing,
}: AlertmanagersCollectorOptions): Collector<Reading> => {
  /** What fired before the start and has not fired since. */
  const restored = new Map<string, TargetAlert>()
  let settledAt = -Infinity
  let isSaveNeeded = false
  const states = new Map<string, string>()
  const lastAlertAt = new Map<string, number>()

  const current = (): readonly TargetAlert[] => {
    const firing = alertsIn('firing')
    for (const alert of firing) restored.delete(keyOf(alert))
    if (restored.size > 0 && clock.elapsed() >= settledAt) {
      const pending = new Set(alertsIn('pending').map(keyOf))
      for (const key of restored.keys()) if (!pending.has(key)) restored.delete(key)
    }
    return [...firing, ...restored.values()]
  }

  const createPoll = (endpoint: AlertmanagerEndpoint, save: (alerts: readonly TargetAlert[]) => void) => {
    const outbox = createOutbox(endpoint, clock)
    /** The keys of the alerts of the last attempt. */
    let attempted = ''

    const read = async ({ signal }: Context): Promise<Reading> => {
      const alerts = current()
      if (alerts.length > 0 || isSaveNeeded) save(alerts)
      isSaveNeeded = alerts.length > 0
      attempted = keysOf(alerts)
      // Without alerts, too: whether Alertmanager accepts them is known before there is one.
      const state = await outbox.send(alerts, signal)
      states.set(endpoint.name, state)
      if (state === 'accepted' && alerts.length > 0) {
        lastAlertAt.set(endpoint.name, clock.now())
        isSaveNeeded = true
      }
      return { states: Object.fromEntries(states), lastAlertAt: Object.fromEntries(lastAlertAt) }
    }
    const subscribe: Subscribe = (wake) =>
      onEvaluation(() => {
        if (keysOf(current()) !== attempted) wake()
      })
    return poll(timing, read, subscribe)
  }

  return {
    ...metadataOf(definition, timing),
    run: async (context, report) => {
      const saved = await createSavedAlerts(checkpoint, clock, readBootTime)
      const before = await saved.read()
      for (const alert of before.alerts) restored.set(keyOf(alert), alert)
      for (const { name } of endpoints) {
        const at = before.lastAlertAt.get(name)
        if (at !== undefined) lastAlertAt.set(name, at)
      }
      settledAt = clock.elapsed() + SETTLED_MS
      const save = (alerts: readonly TargetAlert[]): void => {
        saved.save(alerts, lastAlertAt)
      }
      await Promise.all(endpoints.map(async (endpoint) => createPoll(endpoint, save)(context, report)))
    },
    samples: (reading) =>
      Object.entries(reading.states).map(([alertmanager, state]) =>
        sample('chain_agent_alertmanager_up', state === 'accepted', { alertmanager }),
      ),
    states: (reading) => named(reading.states),
    warnings: (reading) => Object.keys(named(Object.fromEntries(failed(reading.states)))),
  }
}

const keysOf = (alerts: readonly TargetAlert[]): string => alerts.map(keyOf).toSorted().join('\n')

const failed = (states: Reading['states']) => Object.entries(states).filter(([, state]) => state !== 'accepted')

const named = (states: Reading['states']): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(states).map(([name, state]) => [`Alertmanager ${name}`, state]))

export const offer: OfferCollector<typeof definition> = {
  hasWork: ({ urls }) => urls.length > 0,
  role: 'outbound',
  create: (uses) => {
    const { alertmanagerAt, alertsOf, onEvaluation, checkpoint, readBootId, readUptime, clock, timing } = uses
    const { urls, job, instance, labels, runbooks, dashboards } = uses
    return alertmanagers({
      endpoints: urls.map((url) => alertmanagerAt(url, requestTimeout(timing, 1))),
      alerts: (state) => alertsOf({ job, instance, labels, runbooks, dashboards }, state),
      onEvaluation,
      checkpoint,
      readBootTime: createReadBootTime(readBootId, readUptime),
      clock,
      timing,
    })
  },
}
