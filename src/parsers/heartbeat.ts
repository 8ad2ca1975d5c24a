import { z } from 'zod'
import { withinBounds } from '../core/bounds.ts'
import { ParseError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { redactDocument } from '../core/redaction/redact-log.ts'
import { HEALTH_STATES } from '../domain/health.ts'
import { MAINTENANCE_REASONS } from '../domain/maintenance.ts'

const WHAT = 'the heartbeat'
const MAX_CAUSES = 100
const MAX_CAUSE_LENGTH = 2000

/** What one agent posts to another; a file of the agent's own may have it too. A value that is unknown is null. */
export const heartbeatSchema = z.object({
  /** By the clock of the sender. */
  at: z.iso.datetime(),
  health: z.enum(HEALTH_STATES),
  /** The sentences of the diagnosis, the first cause first. */
  causes: z.array(z.string().max(MAX_CAUSE_LENGTH)).max(MAX_CAUSES).readonly(),
  maintenance: z.enum(MAINTENANCE_REASONS).nullable(),
  height: z
    .number()
    .nullable()
    .transform((height) => withinBounds('metric', height)),
  blockTime: z.iso
    .datetime()
    .nullable()
    .transform((time) => (withinBounds('unixMilliseconds', Date.parse(time ?? '')) === null ? null : time)),
  blockDifference: z
    .number()
    .nullable()
    .transform((difference) => withinBounds('i64', difference)),
})

export type Heartbeat = Readonly<z.output<typeof heartbeatSchema>>

const testSchema = z.object({ at: z.iso.datetime(), test: z.literal(true) })

/** Whether it is what `chain-agent alert test` posts. Throws a ParseError if it is not JSON. */
export const isTestHeartbeat = (text: string): boolean => testSchema.safeParse(parseJson(WHAT, text)).success

/** Secrets in its causes are redacted: every client that reaches the port can post. Throws a ParseError that names the first field that is wrong. */
export const parseHeartbeat = (text: string): Heartbeat => {
  const parsed = heartbeatSchema.safeParse(parseJson(WHAT, text))
  if (parsed.success) {
    const { data } = parsed
    return { ...data, causes: data.causes.map((cause) => redactDocument(cause)) }
  }
  const [issue] = parsed.error.issues
  throw new ParseError(WHAT, `the document of an agent (${issue?.path.join('.')}: ${issue?.message})`, text)
}
