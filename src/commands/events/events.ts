import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { eventAsJson } from '../../domain/event.ts'
import { iso } from '../../health/sections/fact.ts'
import { parseEvent, parseEventsPage } from '../../parsers/event.ts'
import { createAgentApi } from '../../sources/endpoints.ts'
import { readEventFile } from '../../sources/event-log.ts'
import { createHttpClient } from '../../sources/http.ts'
import type { SourceOverrides } from '../../terminal/io.ts'

export interface EventsHost extends SourceOverrides {
  readonly config: Pick<Config, 'listen' | 'web' | 'state' | 'events'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

interface Options extends EventsHost {
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined
  /** Only events with a greater id. */
  readonly after?: number
}

export type Events = Awaited<ReturnType<typeof readEvents>>

/** Reads state changes, oldest first, from the running agent, or from its file. Throws a SourceError or a ParseError. */
export const readEvents = async (options: Options) => {
  const { config, clock, signal, since, after, ask = createHttpClient(clock) } = options
  const query = new URLSearchParams({
    limit: `${config.events.keep}`,
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(after !== undefined && { after: `${after}` }),
  })
  const text = await createAgentApi(ask, config).get(`/api/v1/events?${query.toString()}`, signal)
  if (text !== null) {
    const { total, oldestAt, newestId, events } = parseEventsPage(text)
    const oldest = oldestAt === null ? null : Date.parse(oldestAt)
    // An agent of an older version does not report `newestId`.
    return { origin: 'agent', total, oldestAt: oldest, newestId, events } as const
  }
  const all = await readEventFile(config.state.directory, parseEvent)
  const events = all.filter(({ at, id }) => at >= (since ?? -Infinity) && id > (after ?? -Infinity))
  const newestId = all.at(-1)?.id ?? null
  return { origin: 'file', total: all.length, oldestAt: all[0]?.at ?? null, newestId, events } as const
}

/** Events as JSON: all of the page, or a part of them. */
export const eventsDocument = ({ origin, total, oldestAt }: Events, events: Events['events']) => ({
  origin,
  total,
  oldestAt: iso(oldestAt),
  events: events.map(eventAsJson),
})
