import type { Servers } from './servers.ts'

/** What lies on each server, and what is asked: the same where there is no cluster. */
export const LOCAL_LOGS = 'chain_logs_local'
export const DISTRIBUTED_LOGS = 'chain_logs'
/** On the first server alone, or on all as replicas: which blocks there are. Written last. */
export const LEDGER = 'chain_blocks'
/** The same: what the store is for, up to where it is pruned, and who writes. The largest value of a key counts. */
export const STATE = 'chain_state'

export const logsTable = ({ place }: Servers): string =>
  place.cluster === null ? LOCAL_LOGS : DISTRIBUTED_LOGS

export interface Dialect {
  /** Since codecs, skip indexes and fsync: from 21 on. Debian 12 has 18.16. */
  readonly modern: boolean
  readonly partition: number
}

/** What has to be there before anything else is made. */
export const createState = async (servers: Servers, modern: boolean): Promise<void> => {
  for (const host of keepers(servers)) await servers.ask(state(servers, modern), host)
}

/** Every statement can be repeated. */
export const createTables = async (servers: Servers, dialect: Dialect): Promise<void> => {
  const { hosts, cluster } = servers.place
  for (const host of hosts) {
    await servers.ask(localLogs(servers, dialect), host)
    if (cluster !== null) await servers.ask(distributedLogs(servers), host)
  }
  await createState(servers, dialect.modern)
  for (const host of keepers(servers)) await servers.ask(ledger(servers, dialect), host)
}

/** Who has ledger and state. */
const keepers = ({ place }: Servers): readonly string[] =>
  place.replicated ? place.hosts : place.hosts.slice(0, 1)

const localLogs = ({ place }: Servers, { modern, partition }: Dialect): string => {
  const packed = modern ? ' CODEC(ZSTD(1))' : ''
  const rising = modern ? ' CODEC(Delta, ZSTD(1))' : ''
  const hash = `FixedString(32)${packed}`
  const skip = (column: string): string =>
    `INDEX skip_${column} ${column} TYPE bloom_filter(0.01) GRANULARITY 4`
  return `CREATE TABLE IF NOT EXISTS ${LOCAL_LOGS} (
    block UInt64${rising}, log_index UInt32${packed}, transaction_index UInt32${packed},
    address FixedString(20)${packed}, topic0 ${hash}, topic1 ${hash}, topic2 ${hash}, topic3 ${hash},
    topics UInt8${packed}, transaction_hash ${hash}, data String${packed}, epoch UInt64${packed}
    ${modern ? `, ${['topic1', 'topic2', 'topic3'].map(skip).join(', ')}` : ''}
  ) ENGINE = ${mergeTree(place.replicated ? [`'${pathOf(place.database, '{shard}', LOCAL_LOGS)}'`, `'{replica}'`] : [])}
  PARTITION BY intDiv(block, ${partition}) ORDER BY (address, topic0, block, log_index)${durable(modern)}`
}

const distributedLogs = ({ place }: Servers): string =>
  `CREATE TABLE IF NOT EXISTS ${DISTRIBUTED_LOGS} AS ${LOCAL_LOGS}
  ENGINE = Distributed('${place.cluster ?? ''}', '${place.database}', ${LOCAL_LOGS}, cityHash64(address))`

/** No partitions: the blocks of one insert become visible as one part, all or none. */
const ledger = ({ place }: Servers, { modern }: Dialect): string =>
  `CREATE TABLE IF NOT EXISTS ${LEDGER} (
    number UInt64, hash FixedString(32), parent FixedString(32), timestamp UInt64,
    kept UInt32, bytes UInt64, epoch UInt64
  ) ENGINE = ${mergeTree(everywhere(place, LEDGER))} ORDER BY number${durable(modern)}`

const state = ({ place }: Servers, modern: boolean): string =>
  `CREATE TABLE IF NOT EXISTS ${STATE} (key String, value UInt64, text String)
  ENGINE = ${mergeTree(everywhere(place, STATE), 'value')} ORDER BY key${durable(modern)}`

const mergeTree = (replica: readonly string[], version?: string): string => {
  const name = `${replica.length > 0 ? 'Replicated' : ''}${version === undefined ? '' : 'Replacing'}MergeTree`
  return `${name}(${[...replica, ...(version === undefined ? [] : [version])].join(', ')})`
}

/** One table, whole on every server of the cluster. */
const everywhere = (place: Servers['place'], table: string): readonly string[] =>
  place.replicated ? [`'${pathOf(place.database, 'all', table)}'`, `'{shard}-{replica}'`] : []

const pathOf = (database: string, shard: string, table: string): string =>
  `/clickhouse/tables/${shard}/${database}/${table}`

/** Without it an insert is with the kernel when it is acknowledged, not yet on the disk. */
const durable = (modern: boolean): string =>
  modern ? ' SETTINGS fsync_after_insert = 1, fsync_part_directory = 1' : ''
