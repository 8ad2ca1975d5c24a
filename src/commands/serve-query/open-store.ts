import type { Clock } from '../../core/clock.ts'
import { Secret } from '../../core/secret.ts'
import { openClickHouseStore } from '../../query/store/clickhouse/store.ts'
import { parsePlace } from '../../query/store/clickhouse/url.ts'
import { checkDirectory } from '../../query/store/duckdb/make.ts'
import { openDuckDbStore } from '../../query/store/duckdb/store.ts'
import type { LogStore, WantedIdentity } from '../../query/store/store.ts'
import { readSecretFile } from '../../sources/credential-file.ts'

interface Place {
  /** A directory, or the address of a server. */
  readonly store: string
  readonly storePasswordFile: string | null
}

export type OpenStore = (identity: WantedIdentity) => Promise<LogStore>

const isServer = (store: string): boolean => /^clickhouses?:/i.test(store)

/** Throws a StoreError where no store can be opened or made in the directory. A server is checked when it is opened. */
export const checkStore = async ({ store }: Place): Promise<void> => {
  if (!isServer(store)) await checkDirectory(store)
}

/** Where logs are kept. Throws a ConfigError for an address that cannot be one. */
export const storeAt = ({ store, storePasswordFile }: Place, clock: Clock): OpenStore => {
  if (!isServer(store)) return (identity) => openDuckDbStore(store, { identity, clock })
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
