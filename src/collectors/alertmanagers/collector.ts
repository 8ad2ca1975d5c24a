import type { Clock, Context } from '../../core/clock.ts'
import { type Collector, poll, type Timing } from '../../core/collector.ts'
import { sample } from '../../core/metric.ts'
import { minute } from '../../core/units.ts'
import type { FiringAlert } from '../../domain/health.ts'
import type { AlertmanagerEndpoint } from '../../sources/alertmanager.ts'
import type { OfferCollector } from '../dependencies.ts'
import { deliveryState, requestTimeout } from '../shared/request.ts'
import { definition } from './definition.ts'

interface AlertmanagersCollectorOptions {
  readonly endpoints: readonly AlertmanagerEndpoint[]
  readonly firing: () => readonly FiringAlert[]
  readonly clock: Clock
  readonly timing: Timing
}

interface Reading {
  /** By the name of the Alertmanager: `accepted`, or the reason of the failure. */
  readonly states: Readonly<Record<string, string>>
}

/** An alert that is not sent again ends after four times this, as with Prometheus (resend_delay): the agent may be gone. */
const RESEND_MS = minute
const EXPIRY_MS = 4 * RESEND_MS

/** Sends all firing alerts at each poll: an Alertmanager that was away has them at the next one. */
export const alertmanagers = ({
  endpoints,
  firing,
  clock,
  timing,
}: AlertmanagersCollectorOptions): Collector<Reading> => {
  const outboxes = endpoints.map((endpoint) => ({ endpoint, outbox: createOutbox() }))

  const read = async ({ signal }: Context): Promise<Reading> => {
    const now = clock.now()
    const alerts = firing()
    const states = await Promise.all(
      outboxes.map(async ({ endpoint, outbox }): Promise<readonly [string, string]> => {
        const state = await deliveryState(endpoint.send(outbox.next(alerts, now), signal))
        if (state === 'accepted') outbox.accepted()
        return [endpoint.name, state]
      }),
    )
    return { states: Object.fromEntries(states) }
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: poll(timing, read),
    samples: ({ states }) =>
      Object.entries(states).map(([alertmanager, state]) =>
        sample('chain_agent_alertmanager_up', state === 'accepted', { alertmanager }),
      ),
    states: ({ states }) => named(states),
    warnings: ({ states }) => Object.keys(named(Object.fromEntries(failed(states)))),
  }
}

const failed = (states: Reading['states']) => Object.entries(states).filter(([, state]) => state !== 'accepted')

const named = (states: Reading['states']): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(states).map(([name, state]) => [`Alertmanager ${name}`, state]))

/** What one Alertmanager must be sent: the firing alerts, and the end of each that it has accepted. */
const createOutbox = () => {
  /** By its labels: what it may have, and since when that is over. */
  const known = new Map<string, { readonly alert: FiringAlert; readonly endedAt: number | null }>()
  return {
    next: (alerts: readonly FiringAlert[], now: number): readonly unknown[] => {
      const firing = new Map(alerts.map((alert) => [keyOf(alert), alert]))
      for (const [key, { alert, endedAt }] of known) {
        if (firing.has(key)) continue
        // It has ended there by itself.
        if (endedAt !== null && now - endedAt > EXPIRY_MS) known.delete(key)
        else known.set(key, { alert, endedAt: endedAt ?? now })
      }
      for (const [key, alert] of firing) known.set(key, { alert, endedAt: null })
      return [...known.values()].map(({ alert, endedAt }) => ({
        labels: alert.labels,
        annotations: alert.annotations,
        startsAt: new Date(alert.startsAt).toISOString(),
        endsAt: new Date(endedAt ?? now + EXPIRY_MS).toISOString(),
      }))
    },
    /** An end is sent once: a second one would end what Prometheus has found again. */
    accepted: (): void => {
      for (const [key, { endedAt }] of known) if (endedAt !== null) known.delete(key)
    },
  }
}

const keyOf = ({ labels }: FiringAlert): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))

export const offer: OfferCollector<typeof definition> = (settings, { alertmanagerAt, firingAlerts, clock }) => ({
  hasWork: settings.urls.length > 0,
  role: 'outbound',
  create: (timing) =>
    alertmanagers({
      endpoints: settings.urls.map((url) => alertmanagerAt(url, requestTimeout(timing, 1))),
      firing: () => firingAlerts(settings),
      clock,
      timing,
    }),
})
