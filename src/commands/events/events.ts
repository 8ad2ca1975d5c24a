import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import type { Event } from '../../domain/event.ts'
import { parseEvent, parseEventsPage } from '../../parsers/event.ts'
import { createAgentApi } from '../../sources/endpoints.ts'
import { readEventFile } from '../../sources/event-log.ts'
import { createHttpClient } from '../../sources/http.ts'
import type { SourceOverrides } from '../../terminal/io.ts'

interface Options extends SourceOverrides {
  readonly config: Pick<Config, 'listen' | 'web' | 'state' | 'events'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Milliseconds since the epoch. */
  readonly since?: number
  /** Only events with a greater id. */
  readonly after?: number
}

/** State changes, oldest first. */
export interface Events {
  /** The source: the running agent, or the file of an agent. */
  readonly origin: 'agent' | 'file'
  /** The number of stored events, and the time of the oldest. */
  readonly total: number
  readonly oldestAt: number | null
  /** Undefined if the agent is of an older version that does not report it. */
  readonly newestId: number | null | undefined
  readonly events: readonly Event[]
}

/** Reads events from the running agent, or from its file. Throws a SourceError or a ParseError. */
export const readEvents = async (options: Options): Promise<Events> => {
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
    return { origin: 'agent', total, oldestAt: oldest, newestId, events }
  }
  const all = await readEventFile(config.state.directory, parseEvent)
  const events = all.filter(({ at, id }) => at >= (since ?? -Infinity) && id > (after ?? -Infinity))
  const newestId = all.at(-1)?.id ?? null
  return { origin: 'file', total: all.length, oldestAt: all[0]?.at ?? null, newestId, events }
}
