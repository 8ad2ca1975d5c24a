import type { Clock } from '../../../core/clock.ts'
import type { Secret } from '../../../core/secret.ts'
import { expectIdentity, scopeText } from '../checks.ts'
import { StoreError } from '../errors.ts'
import type { StoreIdentity, WantedIdentity } from '../store.ts'
import { createState, createTables, STATE } from './schema.ts'
import { connect, createServers, type Servers } from './servers.ts'
import { parseClickHouseUrl } from './url.ts'

export interface ClickHouseOptions {
  readonly identity: WantedIdentity
  readonly clock: Clock
  readonly password?: Secret | undefined
  /** Timeout of one statement, in milliseconds. */
  readonly timeout?: number
}

interface OpenedServers {
  readonly servers: Servers
  readonly settings: StoreSettings
}

const TIMEOUT_MS = 60_000
/** First major version with codecs, skip indexes, fsync and parallel quorums. Debian 12 has 18.16. */
const MODERN_VERSION = 21

/** Opens or creates the store. Throws a StoreError for a store with another identity. */
export const openServers = async (url: string, options: ClickHouseOptions): Promise<OpenedServers> => {
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
  await recordServers(servers, settings)
  return { servers, settings }
}

const createStore = async (
  servers: Servers,
  { chainId, scope }: WantedIdentity,
  modern: boolean,
): Promise<StoreSettings> => {
  if (chainId === null)
    throw new StoreError('empty', {
      doing: `open the store in ClickHouse at ${servers.location.hosts[0]}`,
      happened: 'it does not exist yet, and the chain id is unknown',
    })
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

/** The settings that were recorded when the store was created. */
export interface StoreSettings {
  readonly chainId: number
  readonly scope: string
  readonly partition: number
  /** Name of its cluster, and whether it has replicas; empty for a single server. */
  readonly layout: string
  readonly servers: number
}

/** Null if there is no store. */
const readSettings = async (servers: Servers): Promise<StoreSettings | null> => {
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
    layout: text('layout'),
    servers: number('servers'),
  }
}

/** One insert is one part, so it is atomic. */
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
  await servers.insertEverywhere(
    `INSERT INTO ${STATE} (key, value, text) FORMAT TabSeparated`,
    rows.map((row) => `${row}\n`).join(''),
  )
  return settings
}

/** Records added servers: new logs are distributed to them as well. */
const recordServers = async (servers: Servers, settings: StoreSettings): Promise<void> => {
  const { length } = servers.location.hosts
  if (length > settings.servers)
    await servers.insertEverywhere(
      `INSERT INTO ${STATE} (key, value, text) FORMAT TabSeparated`,
      `servers\t${length}\t\n`,
    )
}

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
