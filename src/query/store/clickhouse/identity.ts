import { StoreError } from '../errors.ts'
import { expectIdentity, scopeText } from '../checks.ts'
import type { StoreIdentity, WantedIdentity } from '../store.ts'
import { STATE } from './schema.ts'
import type { Servers } from './servers.ts'

/** What was written down as the store was made. */
export interface Made {
  readonly chainId: number
  readonly scope: string
  readonly partition: number
  /** Its cluster, and whether there are replicas; empty for a single server. */
  readonly layout: string
  readonly servers: number
}

/** Null where none was made here. */
export const readMade = async (servers: Servers): Promise<Made | null> => {
  const { database } = servers.place
  const tables = await servers.ask(
    `SELECT name FROM system.tables WHERE database = '${database}' AND name = '${STATE}'`,
  )
  if (tables.length === 0) return null
  const rows = await servers.ask(
    `SELECT key, max(value), hex(argMax(text, value)) FROM ${STATE} GROUP BY key`,
  )
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

/** One insert, one part: all of it or nothing. */
export const writeMade = async (
  servers: Servers,
  { chainId, scope }: StoreIdentity,
): Promise<Made> => {
  const { hosts, partition } = servers.place
  const layout = layoutOf(servers)
  const made = { chainId, scope: scopeText(scope), partition, layout, servers: hosts.length }
  const rows = [
    `chain\t${chainId}\t`,
    `scope\t0\t${made.scope}`,
    `partition\t${partition}\t`,
    `layout\t0\t${layout}`,
    `servers\t${hosts.length}\t`,
  ]
  await servers.insertEverywhere(
    `INSERT INTO ${STATE} (key, value, text) FORMAT TabSeparated`,
    rows.map((row) => `${row}\n`).join(''),
  )
  return made
}

/** More servers than before are welcome: new logs go to them, too. */
export const noteServers = async (servers: Servers, made: Made): Promise<void> => {
  const { length } = servers.place.hosts
  if (length > made.servers)
    await servers.insertEverywhere(
      `INSERT INTO ${STATE} (key, value, text) FORMAT TabSeparated`,
      `servers\t${length}\t\n`,
    )
}

/** Throws where the store was made for something else, or lies on servers that are not asked. */
export const expectMade = (servers: Servers, made: Made, wanted: WantedIdentity): void => {
  expectIdentity(wanted, made)
  const { hosts } = servers.place
  if (made.layout === layoutOf(servers) && made.servers <= hosts.length) return
  const layout = made.layout === '' ? 'no cluster' : `cluster ${made.layout}`
  throw new StoreError('identity', {
    doing: `open the store in ClickHouse at ${hosts[0]}`,
    happened: `it was made for ${made.servers} servers and ${layout}: half of it would be missing`,
    advice:
      'name the servers and the cluster as they were when the store was made; servers may be added',
  })
}

const layoutOf = ({ place: { cluster, replicated } }: Servers): string =>
  cluster === null ? '' : `${cluster}${replicated ? ' with replicas' : ''}`
