import { z } from 'zod'
import type { Clock, Context } from '../../core/clock.ts'
import { type Collector, poll, type Timing } from '../../core/collector.ts'
import { sample } from '../../core/metric.ts'
import { minute } from '../../core/units.ts'
import type { AlertState, TargetAlert } from '../../domain/health.ts'
import type { AlertmanagerEndpoint } from '../../sources/alertmanager.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import type { OfferCollector } from '../dependencies.ts'
import { deliveryState, requestTimeout } from '../shared/request.ts'
import { definition } from './definition.ts'

interface AlertmanagersCollectorOptions {
  readonly endpoints: readonly AlertmanagerEndpoint[]
  readonly alerts: (state: AlertState) => readonly TargetAlert[]
  /** Keeps what fires: after a restart it takes as long as the `for` of a rule until it fires again. */
  readonly checkpoint: Checkpoint
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
/** After a start, each collector has a reading by then, and a rate has its two samples: a condition that holds is pending. */
const SETTLED_MS = 3 * minute

const labelsSchema = z.record(z.string(), z.string())
const saved = z.object({
  at: z.number(),
  alerts: z.array(z.object({ labels: labelsSchema, annotations: labelsSchema, startsAt: z.number() })),
})

/** Sends all firing alerts at each poll: an Alertmanager that was away has them at the next one. */
export const alertmanagers = ({
  endpoints,
  alerts: alertsIn,
  checkpoint,
  clock,
  timing,
}: AlertmanagersCollectorOptions): Collector<Reading> => {
  const outboxes = endpoints.map((endpoint) => ({ endpoint, outbox: createOutbox() }))
  /** What fired before the start and has not fired since. */
  const restored = new Map<string, TargetAlert>()
  let settledAt = -Infinity
  let hasSaved = false

  const restore = async (): Promise<void> => {
    const found = await checkpoint.read()
    const before = found.state === 'saved' ? saved.safeParse(found.value).data : undefined
    // Alertmanager has ended what is older.
    if (!before || Math.abs(clock.now() - before.at) > EXPIRY_MS) return
    for (const alert of before.alerts) restored.set(keyOf(alert), alert)
    settledAt = clock.elapsed() + SETTLED_MS
  }

  const current = (): readonly TargetAlert[] => {
    const firing = alertsIn('firing')
    for (const alert of firing) restored.delete(keyOf(alert))
    if (clock.elapsed() >= settledAt) {
      const pending = new Set(alertsIn('pending').map(keyOf))
      for (const key of restored.keys()) if (!pending.has(key)) restored.delete(key)
    }
    return [...firing, ...restored.values()]
  }

  const read = async ({ signal }: Context): Promise<Reading> => {
    const now = clock.now()
    const alerts = current()
    if (alerts.length > 0 || hasSaved) void checkpoint.save({ at: now, alerts })
    hasSaved = alerts.length > 0
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
    run: async (context, report) => {
      await restore()
      await poll(timing, read)(context, report)
    },
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
  const known = new Map<string, { readonly alert: TargetAlert; readonly endedAt: number | null }>()
  return {
    next: (alerts: readonly TargetAlert[], now: number): readonly unknown[] => {
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

const keyOf = ({ labels }: TargetAlert): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))

export const offer: OfferCollector<typeof definition> = (
  settings,
  { alertmanagerAt, alertsOf, checkpoints, clock },
) => ({
  hasWork: settings.urls.length > 0,
  role: 'outbound',
  create: (timing) =>
    alertmanagers({
      endpoints: settings.urls.map((url) => alertmanagerAt(url, requestTimeout(timing, 1))),
      alerts: (state) => alertsOf(settings, state),
      checkpoint: checkpoints.open(definition.name),
      clock,
      timing,
    }),
})
