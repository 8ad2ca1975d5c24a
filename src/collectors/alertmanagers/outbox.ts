import type { Clock } from '../../core/clock.ts'
import { minute, second } from '../../core/units.ts'
import type { TargetAlert } from '../../domain/health.ts'
import type { AlertmanagerEndpoint } from '../../sources/alertmanager.ts'
import { deliveryState, isAcceptedAlert } from '../shared/request.ts'

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

/** What became of a post. */
interface Post {
  /** `accepted`, or the reason of the failure. */
  readonly state: string
  /** Firing ones and ends. */
  readonly alerts: number
}

/**
 * All times that are sent are on the clock of the Alertmanager, by the Date of its responses and the monotonic clock of
 * this host. It ends an alert whose `endsAt` has passed there, and rejects one that ends before it starts: with the clock
 * of this host, one that is wrong by some minutes would end alerts that fire, or keep those that are over.
 */
export const createOutbox = (endpoint: AlertmanagerEndpoint, clock: Pick<Clock, 'now' | 'elapsed'>) => {
  const known = new Map<string, SentAlert>()
  /** The clock of the Alertmanager less the monotonic clock of this host. */
  let offset: number | undefined

  const post = (sent: SentAlert, now: number): SentAlert => ({
    ...sent,
    endsAt: sent.endedAt === null ? now + EXPIRY_MS : now - (clock.elapsed() - sent.endedAt),
  })

  const next = (alerts: readonly TargetAlert[]): readonly unknown[] => {
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
  }

  /** `date` is null if the response has none. */
  const accepted = (date: number | null): void => {
    offset = (date ?? clock.now()) - clock.elapsed()
    for (const [key, { endedAt, endsAt }] of known) {
      // An end is sent once: a second one would end what Prometheus has found again. One that is later than the clock of
      // the Alertmanager, which was set back, is sent again: it has not ended the alert.
      if (endedAt !== null && (date === null || endsAt < date + DATE_PRECISION_MS)) known.delete(key)
    }
  }

  return {
    /** Whether the clock of the Alertmanager is known: until then a post has no alerts. */
    isReady: (): boolean => offset !== undefined,
    /** Posts the firing alerts, and the end of each that the Alertmanager may have. */
    send: async (alerts: readonly TargetAlert[], signal: AbortSignal): Promise<Post> => {
      const posted = offset === undefined ? [] : next(alerts)
      let date: number | null = null
      const sending = endpoint.send(posted, signal).then((response) => {
        date = response.date ?? null
        return response
      })
      const state = await deliveryState(sending, isAcceptedAlert)
      if (state === 'accepted') accepted(date)
      return { state, alerts: posted.length }
    },
  }
}

/** By its labels. */
export const keyOf = ({ labels }: Pick<TargetAlert, 'labels'>): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
