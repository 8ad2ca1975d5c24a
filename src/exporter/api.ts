import type { CollectorStatus } from '../core/board.ts'
import { toApiJson } from '../core/json.ts'
import { redact, redactAll } from '../core/redaction/redact.ts'
import { second } from '../core/units.ts'
import type { Health } from '../parsers/agent-status.ts'
import { type Event, eventAsJson } from '../domain/event.ts'
import type { EventsResponse, HealthResponse, StatusResponse } from '../parsers/agent-api.ts'

/** The body of /api/v1/status. */
export const renderStatus = (agent: StatusResponse['agent'], statuses: Iterable<CollectorStatus>): StatusResponse => ({
  agent,
  collectors: Object.fromEntries(
    [...statuses].map(({ name, help, enabled, up, lastSuccessAt, error, reading }) => [
      name,
      {
        help,
        enabled,
        up,
        lastSuccessAt: lastSuccessAt === null ? null : new Date(lastSuccessAt).toISOString(),
        error: error?.message ?? null,
        errorCode: error?.code ?? null,
        advice: error?.advice ?? null,
        // Home directories must not be exposed.
        reading: toApiJson(redactAll(reading)),
      },
    ]),
  ),
})

/** The filter of a request for events. */
type EventsQuery = Exclude<ReturnType<typeof readEventsQuery>, string>

const DEFAULT_LIMIT = 1000
const MAX_LIMIT = 100_000

/**
 * Parses the query parameters: only events since a time in milliseconds since the epoch, or after an id. Returns an error text
 * if they are invalid.
 */
export const readEventsQuery = (query: URLSearchParams) => {
  const limit = numberOf(query.get('limit')) ?? DEFAULT_LIMIT
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    return `limit: expected a number from 1 to ${MAX_LIMIT}`
  const after = numberOf(query.get('after'))
  if (after !== undefined && !Number.isInteger(after)) return 'after: expected the id of an event'
  const text = query.get('since')
  // The formats of Prometheus: seconds since the epoch, or ISO 8601.
  const since = text === null ? undefined : /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text)
  if (since !== undefined && Number.isNaN(since))
    return 'since: expected a time such as 2026-03-01T12:00:00Z, or seconds since the epoch'
  return { limit, ...(since !== undefined && { since }), ...(after !== undefined && { after }) }
}

const numberOf = (text: string | null): number | undefined =>
  text === null ? undefined : /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN

/** The body of /api/v1/events: the newest matching events, oldest first. */
export const renderEvents = (events: readonly Event[], { since, after, limit }: EventsQuery): EventsResponse => {
  const oldest = events[0]
  return {
    total: events.length,
    oldestAt: oldest ? new Date(oldest.at).toISOString() : null,
    newestId: events.at(-1)?.id ?? null,
    events: events
      .filter(({ at, id }) => at >= (since ?? -Infinity) && id > (after ?? -Infinity))
      .slice(-limit)
      .map(eventAsJson),
  }
}

/** The body of /api/v1/health. */
export const renderHealth = ({ state, since, unknownBecause, findings, failures }: Health): HealthResponse => ({
  state,
  since: new Date(since).toISOString(),
  unknownBecause,
  findings: findings.map(({ for: pendingFor, ...finding }) => ({
    ...finding,
    forSeconds: pendingFor / second,
    since: new Date(finding.since).toISOString(),
    description: redact(finding.description),
  })),
  failures,
})
