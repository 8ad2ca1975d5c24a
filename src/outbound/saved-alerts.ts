import { z } from 'zod'
import type { Clock } from '../core/clock.ts'
import { LIMITS } from '../core/limits.ts'
import { second } from '../core/units.ts'
import type { TargetAlert } from '../domain/health.ts'
import type { Checkpoint } from '../sources/checkpoint.ts'
import { RESOLVE_TIMEOUT_MS } from './outbox.ts'

/** The boot of the host, and the time since then, in milliseconds. */
interface BootTime {
  readonly id: string
  readonly since: number
}

/** Reads the boot id and /proc/uptime; null if one of them is unknown. */
export type ReadBootTime = () => Promise<BootTime | null>

export const createReadBootTime =
  (readBootId: () => Promise<string | null>, readUptime: () => Promise<string | null>): ReadBootTime =>
  async () => {
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
  lastAlertAt: z.record(z.string(), z.unknown()).catch({}),
})

interface SavedAlerts {
  /** Empty if Alertmanager has ended them by itself. */
  readonly alerts: readonly TargetAlert[]
  readonly lastAlertAt: ReadonlyMap<string, number>
}

/** What fires, over restarts of the agent: after one it takes as long as the `for` of a rule until it fires again. */
export const createSavedAlerts = async (checkpoint: Checkpoint, clock: Clock, readBootTime: ReadBootTime) => {
  const boot = await readBootTime()
  const readAt = clock.elapsed()
  const bootNow = (): BootTime | null => boot && { id: boot.id, since: boot.since + clock.elapsed() - readAt }

  return {
    read: async (): Promise<SavedAlerts> => {
      const found = await checkpoint.read()
      const { data: saved } = savedSchema.safeParse(found.state === 'saved' ? found.value : undefined)
      if (saved === undefined) return { alerts: [], lastAlertAt: new Map() }
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
        lastAlertAt: new Map(
          Object.entries(saved.lastAlertAt).flatMap(([name, at]) => {
            const { data } = time.safeParse(at)
            return data === undefined ? [] : [[name, data]]
          }),
        ),
      }
    },
    save: (alerts: readonly TargetAlert[], lastAlertAt: ReadonlyMap<string, number>): void => {
      void checkpoint.save({ at: clock.now(), boot: bootNow(), alerts: alerts.slice(0, MAX_ALERTS), lastAlertAt })
    },
  }
}
