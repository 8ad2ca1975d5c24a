import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { tryJson, withoutMinus } from '../core/json.ts'

const integer = z.int().overwrite(withoutMinus)

const schema = z.object({
  id: integer.min(0),
  at: z.iso.datetime().transform((text) => Date.parse(text)),
  collector: z.string(),
  subject: z.string().nullable(),
  from: z.string().nullable(),
  to: z.string(),
  /** Earlier versions did not write it. */
  severity: z.enum(['critical', 'warning', 'info']).default('info'),
})

const pageSchema = z.object({
  total: integer,
  oldestAt: z.iso.datetime().nullable(),
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
