import { systemClock } from '../../src/core/clock.ts'
import { openClickHouseStore } from '../../src/query/store/clickhouse/store.ts'
import type { LogStore, WantedIdentity } from '../../src/query/store/store.ts'
import type { Answering } from './clickhouse.ts'

/** A database of its own on every server. */
export interface ClickHousePlace {
  readonly url: string
  open(identity: WantedIdentity): Promise<LogStore>
  remove(): Promise<void>
}

let count = 0

/** Partitions of few blocks, so that pruning has some to drop. */
export const clickHousePlace = async (
  servers: Answering,
  partition = 10,
): Promise<ClickHousePlace> => {
  count += 1
  const name = `place_${count}`
  const everywhere = async (statement: string): Promise<void> => {
    for (const index of servers.addresses.keys()) await servers.ask(statement, index)
  }
  await everywhere(`CREATE DATABASE ${name}`)
  const separator = servers.url.includes('?') ? '&' : '?'
  const url = `${servers.url.replace('/default', `/${name}`)}${separator}partition=${partition}`
  return {
    url,
    open: async (identity) =>
      openClickHouseStore(url, { identity, clock: systemClock, password: servers.password }),
    remove: async () => everywhere(`DROP DATABASE ${name}`),
  }
}
