import type { Clock } from '../../../core/clock.ts'
import type { Secret } from '../../../core/secret.ts'
import { StoreError } from '../errors.ts'
import { createPost } from './post.ts'
import type { Place } from './url.ts'

/** Statements to the servers of a store. Whatever fails is a StoreError that names the server. */
export interface Servers {
  readonly place: Place
  /** The answer's rows as texts, one array a row. Of the first server where none is named. */
  ask(statement: string, host?: string): Promise<readonly (readonly string[])[]>
  /** By the first server. `statement` ends with a format, `body` is in it. */
  insert(statement: string, body: Buffer | string): Promise<void>
  /** The same, of rows that every server has. */
  insertEverywhere(statement: string, body: Buffer | string): Promise<void>
  /** From the first server, in chunks, until `take` answers false. */
  stream(statement: string, take: (chunk: Buffer) => boolean, signal: AbortSignal): Promise<void>
}

export interface ServersOptions {
  readonly place: Place
  readonly clock: Clock
  readonly password?: Secret | undefined
  /** Milliseconds for one statement. */
  readonly timeout: number
  /** Settings of each insert. */
  readonly inserting: Readonly<Record<string, string>>
  /** How many servers have the same logs; null: there are no replicas. */
  readonly replicas: number | null
}

/** An answer that is not streamed is a few rows, or a row for some thousand blocks. */
const MAX_ANSWER = 64 * 1024 * 1024

/** Ten thousand topics in one filter are 1.3 MB of statement. */
const READING = {
  max_query_size: '67108864',
  max_ast_elements: '1000000',
  max_expanded_ast_elements: '1000000',
  max_bytes_before_external_sort: '1000000000',
  skip_unavailable_shards: '0',
  // Else a failure in the middle of an answer comes as status 200 and a text among the rows.
  wait_end_of_query: '1',
  buffer_size: '67108864',
  // A replica that is behind would bring half of the truth.
  fallback_to_stale_replicas_for_distributed_queries: '0',
  max_replica_delay_for_distributed_queries: '1',
}

export const createServers = (options: ServersOptions): Servers => {
  const { place, clock, password, timeout, inserting, replicas } = options
  const post = createPost(clock)
  const [first] = place.hosts
  const base = { secure: place.secure, user: place.user, password, timeout }
  const settled = new AbortController().signal
  const insert = async (statement: string, body: Buffer | string, copies: number) =>
    post({
      ...base,
      host: first,
      parameters: {
        ...inserting,
        ...(replicas !== null && { insert_quorum: String(copies) }),
        database: place.database,
        query: statement,
      },
      body,
      signal: settled,
      take: () => true,
    })
  return {
    place,
    ask: async (statement, host = first) => {
      const chunks: Buffer[] = []
      let size = 0
      await post({
        ...base,
        host,
        parameters: { ...READING, database: place.database },
        body: statement,
        signal: settled,
        take: (chunk) => {
          chunks.push(chunk)
          size += chunk.length
          if (size > MAX_ANSWER)
            throw new StoreError('unavailable', {
              doing: `ask ClickHouse at ${host}`,
              happened: 'the answer is too large',
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
    insertEverywhere: async (statement, body) => insert(statement, body, place.hosts.length),
    stream: async (statement, take, signal) =>
      post({
        ...base,
        host: first,
        parameters: { ...READING, database: place.database },
        body: statement,
        signal,
        take,
      }),
  }
}
