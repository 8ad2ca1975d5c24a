import { collectorError, type CollectorStatus } from '../core/board.ts'
import { toApiJson } from '../core/json.ts'
import { redactAll } from '../core/redact.ts'

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
    [...statuses].map(({ name, help, enabled, up, lastSuccessAt, error, reading }) => {
      const { message, code, advice } = error ? collectorError(error) : NO_ERROR
      return [
        name,
        {
          help,
          enabled,
          up: up ?? null,
          lastSuccessAt: lastSuccessAt === undefined ? null : new Date(lastSuccessAt).toISOString(),
          error: message,
          errorCode: code,
          advice,
          // Home directories must not be exposed.
          reading: toApiJson(redactAll(reading)),
        },
      ]
    }),
  ),
})

const NO_ERROR = { message: null, code: null, advice: null }
