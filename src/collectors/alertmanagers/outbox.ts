import type { Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import type { TargetAlert } from '../../domain/health.ts'

/** An alert that is not sent again ends after four times this, as with Prometheus (resend_delay): the agent may be gone. */
const RESEND_MS = minute
export const EXPIRY_MS = 4 * RESEND_MS
/** The Date of a response has no fraction of a second. */
const DATE_PRECISION_MS = second

interface SentAlert {
  readonly alert: TargetAlert
  /** When it began, on the clock of the Alertmanager. */
  readonly startsAt: number
  /** When it was over, on the monotonic clock; null while it fires. */
  readonly endedAt: number | null
  /** The end of the last post, on the clock of the Alertmanager. */
  readonly endsAt: number
}

export interface Outbox {
  /** Whether the clock of the Alertmanager is known: until then it is sent no alert. */
  isReady(): boolean
  /** What the Alertmanager must be sent: the firing alerts, and the end of each that it may have. */
  next(alerts: readonly TargetAlert[]): readonly unknown[]
  /** It has accepted that, and its clock was this at that time; null if the response has no Date. */
  accepted(date: number | null): void
}

/**
 * All times that are sent are on the clock of the Alertmanager, by the Date of its responses and the monotonic clock of
 * this host. It ends an alert whose `endsAt` has passed there, and rejects one that ends before it starts: with the clock
 * of this host, one that is wrong by some minutes would end alerts that fire, or keep those that are over.
 */
export const createOutbox = (clock: Pick<Clock, 'now' | 'elapsed'>): Outbox => {
  const known = new Map<string, SentAlert>()
  /** The clock of the Alertmanager less the monotonic clock of this host. */
  let offset: number | undefined

  const post = (sent: SentAlert, now: number): SentAlert => ({
    ...sent,
    endsAt: sent.endedAt === null ? now + EXPIRY_MS : now - (clock.elapsed() - sent.endedAt),
  })

  return {
    isReady: () => offset !== undefined,
    next: (alerts) => {
      const elapsed = clock.elapsed()
      const now = elapsed + (offset ?? 0)
      const firing = new Map(alerts.map((alert) => [keyOf(alert), alert]))
      for (const [key, sent] of known) {
        const endedAt = sent.endedAt ?? elapsed
        if (firing.has(key)) continue
        // It has ended there by itself.
        if (elapsed - endedAt > EXPIRY_MS) known.delete(key)
        else known.set(key, post({ ...sent, endedAt }, now))
      }
      for (const [key, alert] of firing) {
        const sent = known.get(key)
        // The start of an alert that Alertmanager has stays the same when the clock of this host is set.
        const startsAt = sent?.endedAt === null ? sent.startsAt : now - Math.max(0, clock.now() - alert.startsAt)
        known.set(key, post({ alert, startsAt, endedAt: null, endsAt: now }, now))
      }
      return [...known.values()].map(({ alert, startsAt, endedAt, endsAt }) => ({
        labels: alert.labels,
        annotations: alert.annotations,
        startsAt: new Date(Math.min(startsAt, endedAt === null ? now : endsAt)).toISOString(),
        endsAt: new Date(endsAt).toISOString(),
      }))
    },
    accepted: (date) => {
      offset = (date ?? clock.now()) - clock.elapsed()
      for (const [key, { endedAt, endsAt }] of known) {
        // An end is sent once: a second one would end what Prometheus has found again. One that is later than the clock
        // of the Alertmanager, which was set back, is sent again: it has not ended the alert.
        if (endedAt !== null && (date === null || endsAt < date + DATE_PRECISION_MS)) known.delete(key)
      }
    },
  }
}

/** By its labels. */
export const keyOf = ({ labels }: Pick<TargetAlert, 'labels'>): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
