import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { parseJson } from '../core/json.ts'
import { HEALTH_STATES } from './health.ts'
import { MAINTENANCE_REASONS } from './maintenance.ts'

const MAX_CAUSES = 100
const MAX_CAUSE_LENGTH = 2000

/** The document that an agent posts as its heartbeat. A value that is unknown is null. */
export const heartbeatSchema = z.object({
  /** By the clock of the sender. */
  at: z.iso.datetime(),
  health: z.enum(HEALTH_STATES),
  /** The sentences of the diagnosis, the first cause first. */
  causes: z.array(z.string().max(MAX_CAUSE_LENGTH)).max(MAX_CAUSES).readonly(),
  maintenance: z.enum(MAINTENANCE_REASONS).nullable(),
  height: z.number().nullable(),
  blockTime: z.iso.datetime().nullable(),
  blockDifference: z.number().nullable(),
})

export type Heartbeat = Readonly<z.output<typeof heartbeatSchema>>

/** Throws a ParseError that names the first field that is wrong. */
export const parseHeartbeat = (text: string): Heartbeat => {
  const what = 'the heartbeat'
  const parsed = heartbeatSchema.safeParse(parseJson(what, text))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ParseError(what, `the document of an agent (${issue?.path.join('.')}: ${issue?.message})`, text)
}

/** The last heartbeat of the watched node, and when it was received, in milliseconds since the epoch. */
export interface ReceivedHeartbeat {
  readonly receivedAt: number
  readonly heartbeat: Heartbeat
}

/** Where the listener puts heartbeats, and the collector finds them. */
export interface HeartbeatInbox {
  /** Whether heartbeats are expected: the collector runs. */
  isOpen: boolean
  latest(): ReceivedHeartbeat | null
  put(received: ReceivedHeartbeat): void
}

export const createHeartbeatInbox = (): HeartbeatInbox => {
  let current: ReceivedHeartbeat | null = null
  return {
    isOpen: false,
    latest: () => current,
    put: (received) => {
      current = received
    },
  }
}
