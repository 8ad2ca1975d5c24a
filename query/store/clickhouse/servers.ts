import { addAbortSignal, Readable } from 'node:stream'
import type { ClickHouseClient } from '@clickhouse/client'
import { type Clock, withDeadline } from '../../../src/core/clock.ts'
import { asError, ConfigError, SourceError } from '../../../src/core/errors.ts'
import type { Secret } from '../../../src/core/redaction/secret.ts'
import { StoreError } from '../errors.ts'

const FORM = 'clickhouse://[USER@]HOST[:PORT][,HOST[:PORT]…]/[DATABASE][?cluster=NAME]'

/** In blocks, about a day: 288,000 with a block every 300 ms (MIP-12, mainnet since 23 July 2026), 216,000 with 400 ms. */
const PARTITION = 250_000

/**
 * The URL may name several hosts, which the URL parser of Node does not support. The part after the hosts must not
 * contain `@`, since it would be the end of a password.
 */
const URL_FORM =
  /^clickhouse(?<tls>s?):\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<database>[^@?#]*))?(?:\?(?<query>[^@#]*))?$/i
const NAME = /^[A-Za-z_][\w-]{0,63}$/

/** The location of a store in ClickHouse. */
export const parseClickHouseUrl = (text: string) => {
  const { tls, user = '', hosts = '', database = '', query = '' } = URL_FORM.exec(text)?.groups ?? {}
  if (tls === undefined) throw new ConfigError(`A ClickHouse store must have the form ${FORM}.`)
  if (user.includes(':'))
    throw new ConfigError('The URL of the store must not contain a password: use a password file.')
  const options = new URLSearchParams(query)
  for (const name of options.keys())
    if (!['cluster', 'replicated', 'partition'].includes(name))
      throw new ConfigError(`The URL of the store has an unknown option: ${JSON.stringify(name)}.`)
  const secure = tls !== ''
  const [first, ...others] = hosts.split(',').map((host) => withPort(host, secure ? 8443 : 8123))
  if (first === undefined) throw new ConfigError(`A ClickHouse store must have the form ${FORM}.`)
  const cluster = options.get('cluster')
  if (cluster === null && others.length > 0)
    throw new ConfigError('The URL of the store names several servers, but no cluster.')
  return {
    secure,
    /** All servers of the cluster as HOST:PORT. The first one receives the queries and has the ledger. */
    hosts: [first, ...others] as const,
    user: userOf(user),
    database: nameOf('database', database === '' ? 'default' : database),
    cluster: cluster === null ? null : nameOf('cluster', cluster),
    replicated: replicatedOf(options.get('replicated'), cluster),
    /** Blocks per partition, the unit of pruning. Fixed when the store is created. */
    partition: partitionOf(options.get('partition')),
  }
}

type ClickHouseLocation = ReturnType<typeof parseClickHouseUrl>

const userOf = (text: string): string => {
  if (text === '') return 'default'
  try {
    const user = decodeURIComponent(text)
    // The user is sent with HTTP basic authentication, where a colon ends the name.
    if (/^[\x21-\x39\x3b-\x7e]+$/.test(user)) return user
  } catch {
    // Reported below.
  }
  throw new ConfigError(`The URL of the store has an invalid user name: ${JSON.stringify(text)}.`)
}

const withPort = (host: string, port: number): string => {
  const full = /:\d{1,5}$/.test(host) ? host : `${host}:${port}`
  if (!URL.canParse(`http://${full}`))
    throw new ConfigError(`The URL of the store has an invalid server: ${JSON.stringify(host)}.`)
  return full
}

const nameOf = (what: string, text: string): string => {
  if (NAME.test(text)) return text
  throw new ConfigError(`The URL of the store has an invalid ${what} name: ${JSON.stringify(text)}.`)
}

const replicatedOf = (text: string | null, cluster: string | null): boolean => {
  if (text !== null && (text !== '1' || cluster === null))
    throw new ConfigError('replicated must be 1 and requires cluster=NAME in the URL of the store.')
  return text === '1'
}

const partitionOf = (text: string | null): number => {
  if (text === null) return PARTITION
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new ConfigError(`partition must be a number of blocks: ${JSON.stringify(text)}.`)
}

export type Servers = ReturnType<typeof createServers>

interface ConnectionOptions {
  readonly location: ClickHouseLocation
  readonly clock: Clock
  readonly password?: Secret | undefined
  /** Timeout of one statement with its complete response, in milliseconds. */
  readonly timeout: number
}

type Settings = Readonly<Record<string, string>>

interface InsertOptions {
  readonly settings: Settings
  /** Number of replicas per shard; null without replicas. */
  readonly replicas: number | null
}

/** Sends one statement to one server and passes each chunk of the response to `take`, until it returns false. */
type SendStatement = (statement: {
  readonly host: string
  readonly query: string
  readonly settings: Settings
  /** The rows of an insert. */
  readonly values?: Buffer | string
  readonly take: (chunk: Buffer) => boolean
  readonly signal?: AbortSignal
}) => Promise<void>

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

/** Runs statements on the servers of a store. Failures are StoreErrors that name the server. */
export const createServers = (location: ClickHouseLocation, send: SendStatement, inserts: InsertOptions) => {
  const [first] = location.hosts
  const insert = async (query: string, values: Buffer | string, copies: number): Promise<void> => {
    const quorum = inserts.replicas === null ? {} : { insert_quorum: `${copies}` }
    await send({ host: first, query, values, settings: { ...inserts.settings, ...quorum }, take: () => true })
  }
  return {
    location,
    /** Returns the rows as strings, one array per row. */
    query: async (query: string, host: string = first): Promise<readonly (readonly string[])[]> => {
      const chunks: Buffer[] = []
      let size = 0
      const take = (chunk: Buffer): boolean => {
        chunks.push(chunk)
        size += chunk.length
        if (size <= MAX_ANSWER) return true
        throw new StoreError('unavailable', {
          doing: `query ClickHouse at ${host}`,
          happened: 'the response is too large',
        })
      }
      await send({ host, query, settings: READ_SETTINGS, take })
      const text = Buffer.concat(chunks).toString('utf8').trimEnd()
      return text === '' ? [] : text.split('\n').map((row) => row.split('\t'))
    },
    /** Inserts by way of the first server. `query` ends with a format, and `values` are in this format. */
    insert: (query: string, values: Buffer | string) => insert(query, values, inserts.replicas ?? 1),
    /** The same for rows that every server has. */
    insertEverywhere: (query: string, values: Buffer | string) => insert(query, values, location.hosts.length),
    /** Streams the response of the first server until `take` returns false. */
    stream: (query: string, take: (chunk: Buffer) => boolean, signal: AbortSignal): Promise<void> =>
      send({ host: first, query, settings: READ_SETTINGS, take, signal }),
  }
}

/** Connects to the servers of a location. */
export const connect = async ({ location, clock, password, timeout }: ConnectionOptions): Promise<SendStatement> => {
  // Only this store needs the client.
  const { createClient, ClickHouseLogLevel } = await import('@clickhouse/client')
  const clients = new Map<string, ClickHouseClient>()
  for (const host of location.hosts) {
    const client = createClient({
      url: `${location.secure ? 'https' : 'http'}://${host}`,
      username: location.user,
      password: password?.reveal() ?? '',
      // The client's own timeout is of an idle connection. The deadline below is of the complete response.
      request_timeout: 0,
      // Each statement has its own connection, so that an interrupted statement is never sent twice.
      keep_alive: { enabled: false },
      max_open_connections: Number.POSITIVE_INFINITY,
      // Errors are reported by the caller, without the statement.
      log: { level: ClickHouseLogLevel.OFF },
    })
    clients.set(host, client)
  }
  return async ({ host, query, settings, values, take, signal = new AbortController().signal }) => {
    const doing = `query ClickHouse at ${host}`
    try {
      await withDeadline({ clock, signal }, timeout, async ({ signal: cancel }) => {
        if (signal.aborted) throw new Error('aborted')
        const client = clients.get(host)
        if (client === undefined) throw new Error(`no client for ${host}`)
        const { stream } = await client.exec({
          query,
          // A parameter of its own: the client omits the database `default`, which a user profile may replace.
          clickhouse_settings: { ...settings, database: location.database },
          abort_signal: cancel,
          ...(values !== undefined && { values: Readable.from([values], { objectMode: false }) }),
        })
        // From here on the client ignores its signal.
        const chunks: AsyncIterable<Buffer> = addAbortSignal(cancel, stream)
        for await (const chunk of chunks) if (!take(chunk)) return
      })
    } catch (thrown) {
      const error = asError(thrown)
      if (error instanceof StoreError) throw error
      if (signal.aborted) throw new StoreError('aborted', { doing, happened: 'the operation was aborted' })
      if (error instanceof SourceError && error.timeout)
        throw new StoreError('unavailable', { doing, happened: 'request timed out' })
      throw storeErrorOf(error, doing, password)
    }
  }
}

/**
 * Error codes for which a retry fails as well: unknown column, identifier, function, table, database, setting, cluster;
 * wrong user or password; no permission; read-only.
 */
const PERMANENT_CODES = ['16', '46', '47', '60', '81', '115', '164', '170', '192', '193', '194', '497', '516']

/**
 * Errors of a connection have a code of Node.js. Those of a server have a number, which the client reads only from
 * servers that name the error in their text, too: ClickHouse 20 and later.
 */
const storeErrorOf = (error: Error, doing: string, password: Secret | undefined): StoreError => {
  const known = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  if (known !== undefined && !/^\d+$/.test(known))
    return new StoreError('unavailable', { doing, happened: `connection failed (${known})` })
  const code = known ?? /\bCode: (\d+)/.exec(error.message)?.[1]
  const evidence = password?.redactFrom(error.message) ?? error.message
  const happened = code === undefined ? 'the server returned an error' : `the server returned error code ${code}`
  return new StoreError(code !== undefined && PERMANENT_CODES.includes(code) ? 'broken' : 'unavailable', {
    doing,
    happened,
    evidence,
  })
}
