import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { FINDING_SEVERITIES } from '../domain/health.ts'
import { tryJson, withoutMinus } from '../core/json.ts'

const integer = z.int().overwrite(withoutMinus)

const severity = z.enum(FINDING_SEVERITIES)

export const eventResponse = z
  .object({
    id: integer.min(0).describe('Increasing, also over restarts of the agent.'),
    at: z.iso.datetime().describe('When the agent detected the change.'),
    collector: z.string().describe('The collector that detected it.'),
    subject: z.string().nullable().describe('What changed within the collector; null for the collector itself.'),
    from: z.string().nullable().describe('The previous state; null if there was none.'),
    to: z.string().describe('The new state.'),
    severity: severity.describe('The severity of the new state.'),
  })
  .describe('A state change that the agent detected.')

export const eventsResponse = z
  .object({
    total: integer.describe('The number of stored events.'),
    oldestAt: z.iso.datetime().nullable().describe('The time of the oldest stored event.'),
    newestId: integer.nullable().describe('The id of the newest stored event: the next `after`.'),
    events: z.array(eventResponse).describe('The newest events that match, oldest first.'),
  })
  .describe('Stored state changes.')

const schema = eventResponse.extend({
  at: z.iso.datetime().transform((text) => Date.parse(text)),
  // Earlier versions did not write it.
  severity: severity.default('info'),
})

const pageSchema = eventsResponse.extend({
  // Not in responses of agents before this field.
  newestId: integer.nullable().optional(),
  events: z.array(schema),
})

/** A stored state change. Throws a ParseError. */
export const parseEvent = (line: string): z.output<typeof schema> => {
  const { data } = schema.safeParse(tryJson(line))
  if (data) return data
  throw new ParseError('a stored state change', 'one JSON object with id, at, collector, to', line)
}

/** The response of /api/v1/events. Throws a ParseError. */
export const parseEventsPage = (text: string): z.output<typeof pageSchema> => {
  const { data } = pageSchema.safeParse(tryJson(text))
  if (data) return data
  throw new ParseError('the state changes', 'the JSON of /api/v1/events of this version', text)
}
