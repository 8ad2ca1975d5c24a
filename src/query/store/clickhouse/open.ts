import type { Clock } from '../../../core/clock.ts'
import type { Secret } from '../../../core/secret.ts'
import { StoreError } from '../errors.ts'
import type { WantedIdentity } from '../store.ts'
import { expectMade, noteServers, readMade, writeMade, type Made } from './identity.ts'
import { createState, createTables } from './schema.ts'
import { createServers, type Servers } from './servers.ts'
import { parsePlace } from './url.ts'

export interface ClickHouseOptions {
  readonly identity: WantedIdentity
  readonly clock: Clock
  readonly password?: Secret | undefined
  /** Milliseconds for one statement. */
  readonly timeout?: number
}

interface Opened {
  readonly servers: Servers
  readonly made: Made
}

const TIMEOUT = 60_000
/** Codecs, skip indexes, fsync, parallel quorums. Debian 12 has 18.16. */
const MODERN = 21

/** Finds the store, or makes it; refuses one that was made for something else. */
export const openServers = async (url: string, options: ClickHouseOptions): Promise<Opened> => {
  const { identity, clock, password, timeout = TIMEOUT } = options
  const place = parsePlace(url)
  const base = { place, clock, password, timeout }
  const plain = createServers({ ...base, inserting: {}, replicas: null })
  const versions: number[] = []
  for (const host of place.hosts) {
    const [[version = ''] = []] = await plain.ask('SELECT version()', host)
    versions.push(Number.parseInt(version, 10))
  }
  const modern = Math.min(...versions) >= MODERN
  const replicas = await replicasOf(plain)
  const servers = createServers({
    ...base,
    inserting: insertingOf(modern),
    replicas: place.replicated ? replicas : null,
  })
  const before = await readMade(servers)
  if (before !== null) expectMade(servers, before, identity)
  const made = before ?? (await make(servers, identity, modern))
  await createTables(servers, { modern, partition: made.partition })
  await noteServers(servers, made)
  return { servers, made }
}

const make = async (
  servers: Servers,
  { chainId, scope }: WantedIdentity,
  modern: boolean,
): Promise<Made> => {
  if (chainId === null)
    throw new StoreError('empty', {
      doing: `open the store in ClickHouse at ${servers.place.hosts[0]}`,
      happened: 'there is none, and of which chain it would be is not known',
    })
  await createState(servers, modern)
  return writeMade(servers, { chainId, scope })
}

/** How many servers hold the same; throws where the cluster is another than the URL says. */
const replicasOf = async (servers: Servers): Promise<number> => {
  const { cluster, hosts } = servers.place
  if (cluster === null) return 1
  const [row = []] = await servers.ask(
    `SELECT count(), max(replica_num) FROM system.clusters WHERE cluster = '${cluster}'`,
  )
  const [count, replicas] = row.map(Number)
  if (count === hosts.length && replicas !== undefined) return replicas
  throw new StoreError('broken', {
    doing: `open the store in ClickHouse at ${hosts[0]}`,
    happened: `its cluster ${cluster} has ${count} servers, and the URL of the store names ${hosts.length}`,
    advice: 'name every server of the cluster in the URL, each with its port for HTTP',
  })
}

/**
 * An insert that is answered is on its servers, and on every replica of each: whichever is asked then has all of it.
 * While a replica is away nothing is added, and what is there is read from the others.
 */
const insertingOf = (modern: boolean) => ({
  insert_distributed_sync: '1',
  insert_distributed_timeout: '0',
  ...(modern && { async_insert: '0', insert_quorum_parallel: '0' }),
})
