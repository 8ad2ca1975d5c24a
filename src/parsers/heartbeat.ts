import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { HEALTH_STATES } from '../domain/health.ts'
import type { Heartbeat } from '../domain/heartbeat.ts'
import { MAINTENANCE_REASONS } from '../domain/maintenance.ts'

const MAX_CAUSES = 100
const MAX_CAUSE_LENGTH = 2000

/** What one agent posts to another; a file of the agent's own may have it too. */
export const heartbeatSchema: z.ZodType<Heartbeat> = z.object({
  at: z.iso.datetime(),
  health: z.enum(HEALTH_STATES),
  causes: z.array(z.string().max(MAX_CAUSE_LENGTH)).max(MAX_CAUSES).readonly(),
  maintenance: z.enum(MAINTENANCE_REASONS).nullable(),
  height: z.number().nullable(),
  blockTime: z.iso.datetime().nullable(),
  blockDifference: z.number().nullable(),
})

/** Throws a ParseError that names the first field that is wrong. */
export const parseHeartbeat = (text: string): Heartbeat => {
  const what = 'the heartbeat'
  const parsed = heartbeatSchema.safeParse(parseJson(what, text))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ParseError(what, `the document of an agent (${issue?.path.join('.')}: ${issue?.message})`, text)
}
