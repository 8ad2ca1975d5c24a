import { z } from 'zod'
import { ParseError } from '../core/errors.ts'

const schema = z.object({
  id: z.int().min(0),
  at: z.iso.datetime().transform((text) => Date.parse(text)),
  collector: z.string(),
  subject: z.string().nullable(),
  from: z.string().nullable(),
  to: z.string(),
  /** Agents before this one did not write it. */
  severity: z.enum(['critical', 'warning', 'info']).default('info'),
})

const pageSchema = z.object({
  total: z.int(),
  oldestAt: z.iso.datetime().nullable(),
  newestId: z.int().nullable().optional(),
  events: z.array(schema),
})

/** One kept change of state. Throws a ParseError. */
export const parseEvent = (line: string): z.output<typeof schema> => {
  const { data } = schema.safeParse(fromJson(line))
  if (data) return data
  throw new ParseError('a kept change of state', 'one JSON object with id, at, collector, to', line)
}

/** What the agent tells at /api/v1/events. Throws a ParseError. */
export const parseEventsPage = (text: string): z.output<typeof pageSchema> => {
  const { data } = pageSchema.safeParse(fromJson(text))
  if (data) return data
  throw new ParseError('the changes of state', 'the JSON of /api/v1/events of this version', text)
}

const fromJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
