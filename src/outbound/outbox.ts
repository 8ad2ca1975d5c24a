import type { Clock } from '../core/clock.ts'
import { minute, second } from '../core/units.ts'
import type { TargetAlert } from '../domain/health.ts'
import type { AlertmanagerEndpoint } from '../sources/endpoints.ts'
import { describeStatus } from '../collectors/shared/request.ts'
import { errorOf } from '../core/error-body.ts'
import { ParseError, SourceError } from '../core/errors.ts'
import { isObject, tryJson } from '../core/json.ts'

/** Alertmanager ends an alert that is not sent again after this time by default (resolve_timeout). */
export const RESOLVE_TIMEOUT_MS = 5 * minute
/** The Date of a response has no fraction of a second. */
const DATE_PRECISION_MS = second

interface SentAlert {
  readonly alert: TargetAlert
  /** When it began, on the clock of the Alertmanager; undefined if that clock is unknown. */
  readonly startsAt: number | undefined
  /** When it was over, on the monotonic clock; null while it fires. */
  readonly endedAt: number | null
  /** The end of the last post; undefined while it fires. */
  readonly endsAt: number | undefined
}

/**
 * All times that are sent are on the clock of the Alertmanager, by the Date of its responses and the monotonic clock of
 * this host: it rejects an alert that ends before it starts. A firing alert is sent without an end, so that no clock but
 * its own decides whether the alert has ended. In Alertmanager, an end of Prometheus that is later takes precedence.
 */
export const createOutbox = (endpoint: AlertmanagerEndpoint, clock: Pick<Clock, 'now' | 'elapsed'>) => {
  const known = new Map<string, SentAlert>()
  /** The clock of the Alertmanager less the monotonic clock of this host. */
  let offset: number | undefined
  const remoteNow = (): number | undefined => (offset === undefined ? undefined : clock.elapsed() + offset)

  const startOf = ({ startsAt }: TargetAlert, sent: SentAlert | undefined, now: number): number =>
    // The start of an alert that Alertmanager has stays the same when the clock of this host is set.
    sent?.endedAt === null && sent.startsAt !== undefined
      ? Math.min(sent.startsAt, now)
      : now - Math.max(0, clock.now() - startsAt)

  const next = (alerts: readonly TargetAlert[]): readonly unknown[] => {
    const elapsed = clock.elapsed()
    const now = remoteNow()
    const firing = new Map(alerts.map((alert) => [keyOf(alert), alert]))
    for (const [key, sent] of known) {
      if (firing.has(key)) continue
      const endedAt = sent.endedAt ?? elapsed
      const endsAt = (now ?? clock.now()) - (elapsed - endedAt)
      const startsAt = sent.startsAt === undefined ? undefined : Math.min(sent.startsAt, endsAt)
      // It has ended there by itself.
      if (elapsed - endedAt > RESOLVE_TIMEOUT_MS) known.delete(key)
      else known.set(key, { ...sent, startsAt, endedAt, endsAt })
    }
    for (const [key, alert] of firing) {
      const startsAt = now === undefined ? undefined : startOf(alert, known.get(key), now)
      known.set(key, { alert, startsAt, endedAt: null, endsAt: undefined })
    }
    return [...known.values()].map(({ alert: { labels, annotations }, startsAt, endsAt }) => ({
      labels,
      annotations,
      ...(startsAt !== undefined && { startsAt: new Date(startsAt).toISOString() }),
      ...(endsAt !== undefined && { endsAt: new Date(endsAt).toISOString() }),
    }))
  }

  const accepted = (): void => {
    const now = remoteNow() ?? Infinity
    for (const [key, { endsAt }] of known) {
      // An end is sent once: a second one would end what Prometheus has found again. One that is later than the clock of
      // the Alertmanager, which was set back, is sent again: it has not ended the alert.
      if (endsAt !== undefined && endsAt < now + DATE_PRECISION_MS) known.delete(key)
    }
  }

  /**
   * Posts the firing alerts, and the end of each that the Alertmanager may have. Returns `accepted`, or the reason of the
   * failure.
   */
  return async (alerts: readonly TargetAlert[], signal: AbortSignal): Promise<string> => {
    const sending = endpoint.send(next(alerts), signal).then((response) => {
      // Also of a response that rejects the alerts: their times may be the reason.
      if (typeof response.date === 'number') offset = response.date - clock.elapsed()
      return response
    })
    const state = await deliveryState(sending, isAcceptedAlert)
    if (state === 'accepted') accepted()
    return state
  }
}

/** By its labels. */
export const keyOf = ({ labels }: Pick<TargetAlert, 'labels'>): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** Alertmanager answers with an empty body or JSON. Anything else is of another site, as the sign-in page of a proxy. */
export const isAcceptedAlert = (body: string): boolean => {
  const text = body.trim()
  if (text === '') return true
  const value = tryJson(text)
  return value !== undefined && !reportsError(value)
}

/** As of healthchecks.io, which answers `OK (not found)` and `OK (rate limited)`. */
const HEARTBEAT_REFUSAL = /\b(?:not found|rate.?limited)\b/i

/** Services for heartbeats answer with a short text of their own or JSON; a page is of another site. */
export const isAcceptedHeartbeat = (body: string): boolean => {
  const text = body.trim()
  const value = tryJson(text)
  return (
    !text.startsWith('<') &&
    !HEARTBEAT_REFUSAL.test(text) &&
    !(isObject(value) && value['ok'] === false) &&
    !reportsError(value)
  )
}

const reportsError = (value: unknown): boolean => isObject(value) && errorOf(value, Object.keys(value)) !== undefined

/**
 * `accepted`, or why what was sent is not: a status of 2xx with a body that is not accepted is a refusal, too. A failure
 * is a reading, not an error: the rest of the reading is still exported.
 */
export const deliveryState = async (
  response: Promise<{ readonly status: number; readonly text: string }>,
  isAccepted: (body: string) => boolean,
): Promise<string> => {
  try {
    const received = await response
    const isOk = received.status >= 200 && received.status < 300
    return isOk && isAccepted(received.text) ? 'accepted' : `refused: ${describeStatus(received)}`
  } catch (error) {
    if (error instanceof SourceError || error instanceof ParseError) return error.summary
    throw error
  }
}
