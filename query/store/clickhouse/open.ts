import type { Clock } from '../../../src/core/clock.ts'
import type { Secret } from '../../../src/core/redaction/secret.ts'
import { expectIdentity, scopeText } from '../checks.ts'
import { missingStore, StoreError } from '../errors.ts'
import type { StoreIdentity, WantedIdentity } from '../store.ts'
import { connect, createServers, parseClickHouseUrl, type Servers } from './servers.ts'

export interface ClickHouseOptions {
  readonly identity: WantedIdentity
  readonly clock: Clock
  readonly password?: Secret | undefined
  /** Timeout of one statement, in milliseconds. */
  readonly timeout?: number
}

const TIMEOUT_MS = 60_000
/** First major version with codecs, skip indexes, fsync and parallel quorums. Debian 12 has 18.16. */
const MODERN_VERSION = 21

/** Opens or creates the store. Throws a StoreError for a store with another identity. */
export const openServers = async (url: string, options: ClickHouseOptions) => {
  const { identity, clock, password, timeout = TIMEOUT_MS } = options
  const location = parseClickHouseUrl(url)
  const send = await connect({ location, clock, password, timeout })
  const plain = createServers(location, send, { settings: {}, replicas: null })
  const versions: number[] = []
  for (const host of location.hosts) {
    const [[version = ''] = []] = await plain.query('SELECT version()', host)
    versions.push(Number.parseInt(version, 10))
  }
  const modern = Math.min(...versions) >= MODERN_VERSION
  const replicas = await replicasOf(plain)
  const servers = createServers(location, send, {
    settings: insertSettingsFor(modern),
    replicas: location.replicated ? replicas : null,
  })
  const before = await readSettings(servers)
  if (before !== null) expectSettings(servers, before, identity)
  const settings = before ?? (await createStore(servers, identity, modern))
  await createTables(servers, { modern, partition: settings.partition })
  const { length } = location.hosts
  // Added servers: new logs are distributed to them as well.
  if (length > settings.servers) await writeState(servers, `servers\t${length}\t`)
  return { servers, settings }
}

const createStore = async (
  servers: Servers,
  { chainId, scope }: WantedIdentity,
  modern: boolean,
): Promise<StoreSettings> => {
  if (chainId === null) throw missingStore()
  await createState(servers, modern)
  return writeSettings(servers, { chainId, scope })
}

/** Number of replicas per shard. Throws a StoreError if the cluster does not match the URL. */
const replicasOf = async (servers: Servers): Promise<number> => {
  const { cluster, hosts } = servers.location
  if (cluster === null) return 1
  const [row = []] = await servers.query(
    `SELECT count(), max(replica_num) FROM system.clusters WHERE cluster = '${cluster}'`,
  )
  const [count, replicas] = row.map(Number)
  if (count === hosts.length && replicas !== undefined) return replicas
  throw new StoreError('broken', {
    doing: `open the store in ClickHouse at ${hosts[0]}`,
    happened: `its cluster ${cluster} has ${count} servers, but the URL of the store names ${hosts.length}`,
    advice: 'name every server of the cluster in the URL, each with its HTTP port',
  })
}

/**
 * An acknowledged insert is on all its servers and replicas, so every replica returns all of it. While a replica is
 * down, inserts fail and reads use the others.
 */
const insertSettingsFor = (modern: boolean) => ({
  insert_distributed_sync: '1',
  insert_distributed_timeout: '0',
  ...(modern && { async_insert: '0', insert_quorum_parallel: '0' }),
})

type StoreSettings = NonNullable<Awaited<ReturnType<typeof readSettings>>>

/** The settings that were recorded when the store was created; null if there is no store. */
const readSettings = async (servers: Servers) => {
  const { database } = servers.location
  const tables = await servers.query(
    `SELECT name FROM system.tables WHERE database = '${database}' AND name = '${STATE}'`,
  )
  if (tables.length === 0) return null
  const rows = await servers.query(`SELECT key, max(value), hex(argMax(text, value)) FROM ${STATE} GROUP BY key`)
  const known = new Map(rows.map(([key = '', value, text = '']) => [key, { value, text }] as const))
  if (!known.has('scope')) return null
  const number = (key: string): number => Number(known.get(key)?.value)
  const text = (key: string): string => Buffer.from(known.get(key)?.text ?? '', 'hex').toString()
  return {
    chainId: number('chain'),
    scope: text('scope'),
    partition: number('partition'),
    /** Name of its cluster, and whether it has replicas; empty for a single server. */
    layout: text('layout'),
    servers: number('servers'),
  }
}

const writeSettings = async (servers: Servers, { chainId, scope }: StoreIdentity): Promise<StoreSettings> => {
  const { hosts, partition } = servers.location
  const layout = layoutOf(servers)
  const settings = { chainId, scope: scopeText(scope), partition, layout, servers: hosts.length }
  const rows = [
    `chain\t${chainId}\t`,
    `scope\t0\t${settings.scope}`,
    `partition\t${partition}\t`,
    `layout\t0\t${layout}`,
    `servers\t${hosts.length}\t`,
  ]
  await writeState(servers, ...rows)
  return settings
}

/** Rows of the state table: key, value, text. One insert is one part, so it is atomic. */
export const writeState = async (servers: Servers, ...rows: readonly string[]): Promise<void> =>
  servers.insertEverywhere(
    `INSERT INTO ${STATE} (key, value, text) FORMAT TabSeparated`,
    rows.map((row) => `${row}\n`).join(''),
  )

/**
 * Throws StoreError('identity') if the store was created for another chain or scope, or on servers that the URL does
 * not name.
 */
const expectSettings = (servers: Servers, settings: StoreSettings, wanted: WantedIdentity): void => {
  expectIdentity(wanted, settings)
  const { hosts } = servers.location
  if (settings.layout === layoutOf(servers) && settings.servers <= hosts.length) return
  const layout = settings.layout === '' ? 'no cluster' : `cluster ${settings.layout}`
  throw new StoreError('identity', {
    doing: `open the store in ClickHouse at ${hosts[0]}`,
    happened: `it was created with ${settings.servers} servers and ${layout}, so a part of it would be missing`,
    advice: 'name the servers and the cluster as at the creation of the store; servers may be added',
  })
}

const layoutOf = ({ location: { cluster, replicated } }: Servers): string =>
  cluster === null ? '' : `${cluster}${replicated ? ' with replicas' : ''}`

/** The table on each server, and the table that is queried; without a cluster they are the same. */
export const LOCAL_LOGS = 'chain_logs_local'
export const DISTRIBUTED_LOGS = 'chain_logs'
/** On the first server, or replicated on all servers: the list of stored blocks. Written last. */
export const LEDGER = 'chain_blocks'
/** On the same servers: identity, prune floor and writer epoch. The largest value of a key applies. */
export const STATE = 'chain_state'

export const logsTable = ({ location }: Servers): string => (location.cluster === null ? LOCAL_LOGS : DISTRIBUTED_LOGS)

interface SchemaOptions {
  /** Has codecs, skip indexes and fsync: version 21 and later. Debian 12 has 18.16. */
  readonly modern: boolean
  readonly partition: number
}

/** Creates the state table, which must exist before the others. */
const createState = async (servers: Servers, modern: boolean): Promise<void> => {
  for (const host of ledgerHosts(servers)) await servers.query(state(servers, modern), host)
}

/** Creates all tables. Every statement is idempotent. */
const createTables = async (servers: Servers, dialect: SchemaOptions): Promise<void> => {
  const { hosts, cluster } = servers.location
  for (const host of hosts) {
    await servers.query(localLogs(servers, dialect), host)
    if (cluster !== null) await servers.query(distributedLogs(servers), host)
  }
  await createState(servers, dialect.modern)
  for (const host of ledgerHosts(servers)) await servers.query(ledger(servers, dialect), host)
}

/** The servers with ledger and state. */
const ledgerHosts = ({ location }: Servers): readonly string[] =>
  location.replicated ? location.hosts : location.hosts.slice(0, 1)

const localLogs = ({ location }: Servers, { modern, partition }: SchemaOptions): string => {
  const packed = modern ? ' CODEC(ZSTD(1))' : ''
  const rising = modern ? ' CODEC(Delta, ZSTD(1))' : ''
  const hash = `FixedString(32)${packed}`
  const skip = (column: string): string => `INDEX skip_${column} ${column} TYPE bloom_filter(0.01) GRANULARITY 4`
  return `CREATE TABLE IF NOT EXISTS ${LOCAL_LOGS} (
    block UInt64${rising}, log_index UInt32${packed}, transaction_index UInt32${packed},
    address FixedString(20)${packed}, topic0 ${hash}, topic1 ${hash}, topic2 ${hash}, topic3 ${hash},
    topics UInt8${packed}, transaction_hash ${hash}, data String${packed}, epoch UInt64${packed}
    ${modern ? `, ${['topic1', 'topic2', 'topic3'].map(skip).join(', ')}` : ''}
  ) ENGINE = ${mergeTree(location.replicated ? [`'${pathOf(location.database, '{shard}', LOCAL_LOGS)}'`, `'{replica}'`] : [])}
  PARTITION BY intDiv(block, ${partition}) ORDER BY (address, topic0, block, log_index)${durable(modern)}`
}

const distributedLogs = ({ location }: Servers): string =>
  `CREATE TABLE IF NOT EXISTS ${DISTRIBUTED_LOGS} AS ${LOCAL_LOGS}
  ENGINE = Distributed('${location.cluster ?? ''}', '${location.database}', ${LOCAL_LOGS}, cityHash64(address))`

/** Without partitions, so that the blocks of one insert become visible as one part. */
const ledger = ({ location }: Servers, { modern }: SchemaOptions): string =>
  `CREATE TABLE IF NOT EXISTS ${LEDGER} (
    number UInt64, hash FixedString(32), parent FixedString(32), timestamp UInt64,
    kept UInt32, bytes UInt64, epoch UInt64
  ) ENGINE = ${mergeTree(replicaArguments(location, LEDGER))} ORDER BY number${durable(modern)}`

const state = ({ location }: Servers, modern: boolean): string =>
  `CREATE TABLE IF NOT EXISTS ${STATE} (key String, value UInt64, text String)
  ENGINE = ${mergeTree(replicaArguments(location, STATE), 'value')} ORDER BY key${durable(modern)}`

const mergeTree = (replica: readonly string[], version?: string): string => {
  const name = `${replica.length > 0 ? 'Replicated' : ''}${version === undefined ? '' : 'Replacing'}MergeTree`
  return `${name}(${[...replica, ...(version === undefined ? [] : [version])].join(', ')})`
}

/** Replication arguments for a table with all rows on every server of the cluster. */
const replicaArguments = (location: Servers['location'], table: string): readonly string[] =>
  location.replicated ? [`'${pathOf(location.database, 'all', table)}'`, `'{shard}-{replica}'`] : []

const pathOf = (database: string, shard: string, table: string): string =>
  `/clickhouse/tables/${shard}/${database}/${table}`

/** Without these settings an acknowledged insert is in the page cache only, not on disk. */
const durable = (modern: boolean): string =>
  modern ? ' SETTINGS fsync_after_insert = 1, fsync_part_directory = 1' : ''
