import type { Clock } from '../../../core/clock.ts'
import type { Secret } from '../../../core/secret.ts'
import { StoreError } from '../errors.ts'
import { createSendStatement } from './http.ts'
import type { ClickHouseLocation } from './url.ts'

/** Runs statements on the servers of a store. Failures are StoreErrors that name the server. */
export interface Servers {
  readonly location: ClickHouseLocation
  /** Returns the rows as strings, one array per row. Uses the first server by default. */
  query(statement: string, host?: string): Promise<readonly (readonly string[])[]>
  /** Inserts by way of the first server. `statement` ends with a format, and `body` is in this format. */
  insert(statement: string, body: Buffer | string): Promise<void>
  /** The same for rows that every server has. */
  insertEverywhere(statement: string, body: Buffer | string): Promise<void>
  /** Streams the response of the first server until `take` returns false. */
  stream(statement: string, take: (chunk: Buffer) => boolean, signal: AbortSignal): Promise<void>
}

export interface ServersOptions {
  readonly location: ClickHouseLocation
  readonly clock: Clock
  readonly password?: Secret | undefined
  /** Timeout of one statement, in milliseconds. */
  readonly timeout: number
  /** Settings for inserts. */
  readonly insertSettings: Readonly<Record<string, string>>
  /** Number of replicas per shard; null without replicas. */
  readonly replicas: number | null
}

/** Limit for responses that are not streamed, in bytes: they have few rows, or one row per thousand blocks. */
const MAX_ANSWER = 64 * 1024 * 1024

/** Settings for reads. A filter with ten thousand topics is a statement of 1.3 MB. */
const READ_SETTINGS = {
  max_query_size: '67108864',
  max_ast_elements: '1000000',
  max_expanded_ast_elements: '1000000',
  max_bytes_before_external_sort: '1000000000',
  skip_unavailable_shards: '0',
  // Otherwise an error in the middle of a response has status 200 and is a text among the rows.
  wait_end_of_query: '1',
  buffer_size: '67108864',
  // A lagging replica would return incomplete data.
  fallback_to_stale_replicas_for_distributed_queries: '0',
  max_replica_delay_for_distributed_queries: '1',
}

export const createServers = (options: ServersOptions): Servers => {
  const { location, clock, password, timeout, insertSettings, replicas } = options
  const send = createSendStatement(clock)
  const [first] = location.hosts
  const base = { secure: location.secure, user: location.user, password, timeout }
  const settled = new AbortController().signal
  const insert = async (statement: string, body: Buffer | string, copies: number) =>
    send({
      ...base,
      host: first,
      parameters: {
        ...insertSettings,
        ...(replicas !== null && { insert_quorum: String(copies) }),
        database: location.database,
        query: statement,
      },
      body,
      signal: settled,
      take: () => true,
    })
  return {
    location,
    query: async (statement, host = first) => {
      const chunks: Buffer[] = []
      let size = 0
      await send({
        ...base,
        host,
        parameters: { ...READ_SETTINGS, database: location.database },
        body: statement,
        signal: settled,
        take: (chunk) => {
          chunks.push(chunk)
          size += chunk.length
          if (size > MAX_ANSWER)
            throw new StoreError('unavailable', {
              doing: `query ClickHouse at ${host}`,
              happened: 'the response is too large',
            })
          return true
        },
      })
      const text = Buffer.concat(chunks).toString('utf8')
      return text === ''
        ? []
        : text
            .trimEnd()
            .split('\n')
            .map((row) => row.split('\t'))
    },
    insert: async (statement, body) => insert(statement, body, replicas ?? 1),
    insertEverywhere: async (statement, body) => insert(statement, body, location.hosts.length),
    stream: async (statement, take, signal) =>
      send({
        ...base,
        host: first,
        parameters: { ...READ_SETTINGS, database: location.database },
        body: statement,
        signal,
        take,
      }),
  }
}
