import type { Standing } from '../core/board.ts'
import { toApiJson } from '../core/json.ts'
import { redact, redactAll } from '../core/redact.ts'

/**
 * The body of /api/v1/status. Moments are RFC 3339, durations are numbers of seconds, 64-bit values are
 * decimal strings, unknown is null.
 */
export const renderStatus = (
  agent: { readonly version: string; readonly startedAt: number; readonly prefix: string | null },
  standings: Iterable<Standing>,
) => ({
  agent: {
    version: agent.version,
    prefix: agent.prefix,
    startedAt: new Date(agent.startedAt).toISOString(),
  },
  collectors: Object.fromEntries(
    [...standings].map(({ name, help, enabled, up, lastSuccessAt, error, reading }) => [
      name,
      {
        help,
        enabled,
        up: up ?? null,
        lastSuccessAt: lastSuccessAt === undefined ? null : new Date(lastSuccessAt).toISOString(),
        error: error ? redact(error.message) : null,
        // A directory of somebody's home is nobody else's business.
        reading: redactAll(toApiJson(reading)),
      },
    ]),
  ),
})
