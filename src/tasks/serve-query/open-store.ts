import type { Clock } from '../../core/clock.ts'
import { Secret } from '../../core/secret.ts'
import { openClickHouseStore } from '../../query/store/clickhouse/store.ts'
import { parsePlace } from '../../query/store/clickhouse/url.ts'
import { openDuckDbStore } from '../../query/store/duckdb/store.ts'
import type { LogStore, WantedIdentity } from '../../query/store/store.ts'
import { readSecretFile } from '../../sources/secret-file.ts'

interface Place {
  /** A directory, or the address of a server. */
  readonly store: string
  readonly storePasswordFile: string | null
}

export type OpenStore = (identity: WantedIdentity) => Promise<LogStore>

/** Where logs are kept. Throws a ConfigError where that is no place. */
export const storeAt = ({ store, storePasswordFile }: Place, clock: Clock): OpenStore => {
  if (!/^clickhouses?:/i.test(store))
    return (identity) => openDuckDbStore(store, { identity, clock })
  // Before anything is begun.
  parsePlace(store)
  return async (identity) => {
    const password =
      storePasswordFile === null
        ? undefined
        : new Secret(await readSecretFile(storePasswordFile, 'password'))
    return openClickHouseStore(store, { identity, clock, ...(password && { password }) })
  }
}
