import type { Servers } from './servers.ts'

/** The table on each server, and the table that is queried; without a cluster they are the same. */
export const LOCAL_LOGS = 'chain_logs_local'
export const DISTRIBUTED_LOGS = 'chain_logs'
/** On the first server, or replicated on all servers: the list of stored blocks. Written last. */
export const LEDGER = 'chain_blocks'
/** On the same servers: identity, prune floor and writer epoch. The largest value of a key applies. */
export const STATE = 'chain_state'

export const logsTable = ({ location }: Servers): string => (location.cluster === null ? LOCAL_LOGS : DISTRIBUTED_LOGS)

export interface SchemaOptions {
  /** Has codecs, skip indexes and fsync: version 21 and later. Debian 12 has 18.16. */
  readonly modern: boolean
  readonly partition: number
}

/** Creates the state table, which must exist before the others. */
export const createState = async (servers: Servers, modern: boolean): Promise<void> => {
  for (const host of ledgerHosts(servers)) await servers.query(state(servers, modern), host)
}

/** Creates all tables. Every statement is idempotent. */
export const createTables = async (servers: Servers, dialect: SchemaOptions): Promise<void> => {
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
