import type { Context, Clock } from '../core/clock.ts'
import { type Collector, metadataOf, poll, type Subscribe } from '../core/collector.ts'
import { sample } from '../core/metric.ts'
import { minute, second } from '../core/units.ts'
import type { TargetAlert } from '../domain/health.ts'
import type { AlertmanagerEndpoint } from '../sources/endpoints.ts'
import type { ReadingOf, Settings, Uses } from '../collectors/dependencies.ts'
import { requestTimeout } from '../collectors/shared/request.ts'
import { alertmanagers as definition } from './definitions.ts'
import { createOutbox, keyOf, RESOLVE_TIMEOUT_MS } from './outbox.ts'
import { z } from 'zod'
import { LIMITS } from '../core/limits.ts'
import type { Checkpoint } from '../sources/checkpoint.ts'

type BootUses = 'readBootId' | 'readUptime'
type AlertmanagersUses = Uses<
  'alertmanagerAt' | 'alertsOf' | 'onEvaluation' | 'checkpoint' | 'clock' | BootUses,
  Settings<typeof definition, 'urls' | 'job' | 'instance' | 'labels' | 'runbooks' | 'dashboards'>
>

type Reading = ReadingOf<typeof definition>

/** After a start, each collector has a reading by then, and a rate has its two samples: a condition that holds is pending. */
const SETTLED_MS = 3 * minute

/**
 * Sends all firing alerts to each Alertmanager when they change, and at each poll: one that was away has them at the next
 * one. Each has a poll of its own: one that hangs delays no other.
 */
export const alertmanagers = (uses: AlertmanagersUses): Collector<Reading> => {
  const { urls, alertmanagerAt, alertsOf, onEvaluation, checkpoint, clock, timing } = uses
  const { job, instance, labels, runbooks, dashboards, readBootId, readUptime } = uses
  const target = { job, instance, labels, runbooks, dashboards }
  const endpoints = urls.map((url) => alertmanagerAt(url, requestTimeout(timing, 1)))
  /** What fired before the start and has not fired since. */
  const restored = new Map<string, TargetAlert>()
  let settledAt = -Infinity
  let isSaveNeeded = false
  const states = new Map<string, string>()
  const lastAlertAt = new Map<string, number>()

  const current = (): readonly TargetAlert[] => {
    const firing = alertsOf(target, 'firing')
    for (const alert of firing) restored.delete(keyOf(alert))
    if (restored.size > 0 && clock.elapsed() >= settledAt) {
      const pending = new Set(alertsOf(target, 'pending').map(keyOf))
      for (const key of restored.keys()) if (!pending.has(key)) restored.delete(key)
    }
    return [...firing, ...restored.values()]
  }

  const createPoll = (endpoint: AlertmanagerEndpoint, save: (alerts: readonly TargetAlert[]) => void) => {
    const send = createOutbox(endpoint, clock)
    /** The keys of the alerts of the last attempt. */
    let attempted = ''

    const read = async ({ signal }: Context): Promise<Reading> => {
      const alerts = current()
      if (alerts.length > 0 || isSaveNeeded) save(alerts)
      isSaveNeeded = alerts.length > 0
      attempted = keysOf(alerts)
      // Without alerts, too: whether Alertmanager accepts them is known before there is one.
      const state = await send(alerts, signal)
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
      const saved = createSavedAlerts(checkpoint, clock, await readBootTime({ readBootId, readUptime }))
      const before = await saved.read()
      for (const alert of before.alerts) restored.set(keyOf(alert), alert)
      for (const [name, at] of Object.entries(before.lastAlertAt))
        if (at !== undefined && endpoints.some((endpoint) => endpoint.name === name)) lastAlertAt.set(name, at)
      settledAt = clock.elapsed() + SETTLED_MS
      const save = (alerts: readonly TargetAlert[]): void => saved.save(alerts, lastAlertAt)
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

type BootTime = NonNullable<Awaited<ReturnType<typeof readBootTime>>>

/** The boot of the host, and the time since then, in milliseconds, by /proc/uptime; null if one of them is unknown. */
const readBootTime = async ({ readBootId, readUptime }: Pick<AlertmanagersUses, BootUses>) => {
  const [id, uptime] = await Promise.all([readBootId(), readUptime()]).catch(() => [null, null])
  const [, seconds] = /^(\d{1,12}(?:\.\d+)?) /.exec(uptime ?? '') ?? []
  return id === null || seconds === undefined ? null : { id: id.trim(), since: Number(seconds) * second }
}

const { alerts: MAX_ALERTS, alertTexts, alertTextLength } = LIMITS.state
/** Year 9999: Alertmanager parses no later time. */
const time = z.number().min(0).max(253_402_300_799_999)
const text = z.string().max(alertTextLength)
const isFew = (texts: object): boolean => Object.keys(texts).length <= alertTexts

const alertSchema = z.object({
  labels: z
    .record(z.string().regex(/^[a-zA-Z_]\w*$/), text)
    .refine((labels) => Boolean(labels['alertname']) && isFew(labels)),
  annotations: z.record(z.string().regex(/^[a-zA-Z_]\w*$/), text).refine(isFew),
  startsAt: time,
})
const savedSchema = z.object({
  at: time,
  boot: z.object({ id: z.string(), since: z.number() }).nullable().catch(null),
  alerts: z.array(z.unknown()).catch([]),
  lastAlertAt: z.record(z.string(), time.optional().catch(undefined)).catch({}),
})

/** What fires, over restarts of the agent: after one it takes as long as the `for` of a rule until it fires again. */
const createSavedAlerts = (checkpoint: Checkpoint, clock: Clock, boot: BootTime | null) => {
  const readAt = clock.elapsed()
  const bootNow = (): BootTime | null => boot && { id: boot.id, since: boot.since + clock.elapsed() - readAt }

  return {
    /** Without alerts if Alertmanager has ended them by itself. */
    read: async () => {
      const { data: saved } = savedSchema.safeParse((await checkpoint.read()).value)
      if (saved === undefined) return { alerts: [], lastAlertAt: {} }
      const now = clock.now()
      const since = bootNow()
      // Within one boot by the monotonic clock: the clock of the host may have been set in the meantime.
      const age = since !== null && saved.boot?.id === since.id ? since.since - saved.boot.since : now - saved.at
      const alerts = saved.alerts.slice(0, MAX_ALERTS).flatMap((one) => alertSchema.safeParse(one).data ?? [])
      return {
        alerts:
          Math.abs(age) > RESOLVE_TIMEOUT_MS
            ? []
            : alerts.map((alert) => {
                const firingFor = Math.max(0, saved.at - alert.startsAt) + Math.max(0, age)
                return { ...alert, startsAt: Math.max(0, now - firingFor) }
              }),
        lastAlertAt: saved.lastAlertAt,
      }
    },
    save: (alerts: readonly TargetAlert[], lastAlertAt: ReadonlyMap<string, number>): void => {
      void checkpoint.save({ at: clock.now(), boot: bootNow(), alerts: alerts.slice(0, MAX_ALERTS), lastAlertAt })
    },
  }
}
