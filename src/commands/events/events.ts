import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import type { Event } from '../../core/event.ts'
import { parseEvent, parseEventsPage } from '../../parsers/event.ts'
import { createAgentApi } from '../../sources/agent-api.ts'
import { readEventFile } from '../../sources/event-log.ts'
import { createHttpClient } from '../../sources/http.ts'
import type { StandIns } from '../shared/stand-ins.ts'

interface Options extends StandIns {
  readonly config: Pick<Config, 'listen' | 'state' | 'events'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** Milliseconds since the epoch. */
  readonly since?: number
  /** Those behind this one alone. */
  readonly after?: number
}

/** What has changed, oldest first. */
export interface Events {
  /** Who told it: the running agent, or the file that one has left. */
  readonly origin: 'agent' | 'file'
  /** How many are kept, and how far they reach back. */
  readonly total: number
  readonly oldestAt: number | null
  /** Undefined where an older agent does not tell it. */
  readonly newestId: number | null | undefined
  readonly events: readonly Event[]
}

/** By the agent that runs here; where none does, what one has kept. Throws a SourceError or a ParseError. */
export const readEvents = async (options: Options): Promise<Events> => {
  const { config, clock, signal, since, after, ask = createHttpClient(clock) } = options
  const query = new URLSearchParams({
    limit: `${config.events.keep}`,
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(after !== undefined && { after: `${after}` }),
  })
  const text = await createAgentApi(ask, config.listen).get(
    `/api/v1/events?${query.toString()}`,
    signal,
  )
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
