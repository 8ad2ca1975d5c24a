import type { CollectorStatus } from '../core/board.ts'
import type { Health } from '../health/monitor.ts'
import { toApiJson } from '../core/json.ts'
import { redact, redactAll } from '../core/redact.ts'

/**
 * The body of /api/v1/status. Timestamps are RFC 3339, durations are in seconds, 64-bit values are decimal strings,
 * unknown is null.
 */
export const renderStatus = (
  agent: { readonly version: string; readonly startedAt: number; readonly prefix: string | null },
  statuses: Iterable<CollectorStatus>,
) => ({
  agent: {
    version: agent.version,
    prefix: agent.prefix,
    startedAt: new Date(agent.startedAt).toISOString(),
  },
  collectors: Object.fromEntries(
    [...statuses].map(({ name, help, enabled, up, lastSuccessAt, error, reading }) => [
      name,
      {
        help,
        enabled,
        up: up ?? null,
        lastSuccessAt: lastSuccessAt === undefined ? null : new Date(lastSuccessAt).toISOString(),
        error: error ? redact(error.message) : null,
        // Home directories must not be exposed.
        reading: redactAll(toApiJson(reading)),
      },
    ]),
  ),
})

/** The body of /api/v1/health. */
export const renderHealth = ({ state, since, findings }: Health) => ({
  state,
  since: new Date(since).toISOString(),
  findings: findings.map(
    ({ alert, severity, component, state: phase, since: began, labels, summary, description }) => ({
      alert,
      severity,
      component,
      state: phase,
      since: new Date(began).toISOString(),
      labels,
      summary,
      description: redact(description),
    }),
  ),
})
