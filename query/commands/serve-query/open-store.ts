import type { Config } from '../../../src/config/schema.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { ConfigError, summaryOf } from '../../../src/core/errors.ts'
import { figure, size } from '../../../src/core/format.ts'
import { attempt } from '../../../src/core/collector.ts'
import { Secret } from '../../../src/core/redaction/secret.ts'
import { second } from '../../../src/core/units.ts'
import { canonicalScope } from '../../store/checks.ts'
import { openClickHouseStore } from '../../store/clickhouse/store.ts'
import { parseClickHouseUrl } from '../../store/clickhouse/servers.ts'
import { checkDirectory } from '../../store/duckdb/database.ts'
import { loadEngine } from '../../store/duckdb/engine.ts'
import { openDuckDbStore } from '../../store/duckdb/store.ts'
import { StoreError } from '../../store/errors.ts'
import type { Filter, LogStore, WantedIdentity } from '../../store/store.ts'
import { readSecretFile } from '../../../src/sources/credential-file.ts'
import type { Log } from './status.ts'

export type StoragePlan = ReturnType<typeof planOf>

/** Which logs are kept, and for how long. Throws a ConfigError if nothing limits the size of the store. */
export const planOf = ({ serveQuery }: Config) => {
  const { contracts, topics, retentionBlocks, retentionBytes, unbounded } = serveQuery
  const scope = canonicalScope({ addresses: contracts, topics })
  const isFiltered = scope.addresses.length > 0 || scope.topics.length > 0
  const isBounded = retentionBlocks !== null || retentionBytes !== null
  if (!isFiltered && !isBounded && !unbounded) throw new ConfigError(UNBOUNDED)
  return { scope, retention: { blocks: retentionBlocks, bytes: retentionBytes } }
}

/** The plan as text for the log. */
export const describePlan = ({ scope, retention: { blocks, bytes } }: StoragePlan): string => {
  const { addresses, topics } = scope
  const contracts =
    addresses.length === 0
      ? 'all contracts'
      : addresses.length === 1
        ? `the contract ${addresses[0]}`
        : `${figure(addresses.length)} contracts`
  const withTopics = topics.length === 0 ? '' : ' with the given topics'
  if (blocks === null && bytes === null) return `all logs of ${contracts}${withTopics}`
  const bounds = [
    ...(blocks === null ? [] : [`the newest ${figure(blocks)} blocks`]),
    ...(bytes === null ? [] : [`the newest blocks within ${size(bytes)}`]),
  ]
  return `logs of ${contracts}${withTopics}, ${bounds.join(' and ')}`
}

const UNBOUNDED = `serveQuery: the store would keep all logs of all contracts without a limit; a busy chain fills a disk in days
  what to do: limit the logs with --contract or --topic, or the blocks with --retention-blocks or --retention-bytes,
  or use --unbounded to keep everything`

/** The store is a directory or a ClickHouse URL. */
type StoreSettings = Pick<Config['serveQuery'], 'store' | 'storePasswordFile'>

export type OpenStore = (identity: WantedIdentity) => Promise<LogStore>

const isServer = (store: string): boolean => /^clickhouses?:/i.test(store)

/**
 * Throws a StoreError if DuckDB is missing, or no store can be opened or created in the directory. A server is checked when the store is
 * opened.
 */
export const checkStore = async ({ store }: StoreSettings): Promise<void> => {
  if (isServer(store)) return
  await checkDirectory(store)
  await loadEngine()
}

/** Returns the function that opens the configured store. Throws a ConfigError for an invalid URL. */
export const createOpenStore = ({ store, storePasswordFile }: StoreSettings, clock: Clock): OpenStore => {
  if (!isServer(store)) return (identity) => openDuckDbStore(store, { identity, clock })
  // Invalid URLs are reported before the service starts.
  parseClickHouseUrl(store)
  return async (identity) => {
    const password =
      storePasswordFile === null ? undefined : new Secret(await readSecretFile(storePasswordFile, 'password'))
    return openClickHouseStore(store, { identity, clock, ...(password && { password }) })
  }
}

interface OpenStoreDependencies {
  readonly scope: Filter
  readonly open: OpenStore
  readonly readNodeChainId: (signal: AbortSignal) => Promise<number>
  readonly clock: Clock
  readonly log: Log
}

const MAX_WAIT_MS = 10 * second

/**
 * Opens the store for the chain of the node. While the node is unreachable, an existing store is opened for its own chain: the
 * ingest rejects a node of another one. Without a store the node is polled until it responds. Undefined if the signal aborts before.
 */
export const openStore = async (
  { scope, open, clock, readNodeChainId, log }: OpenStoreDependencies,
  signal: AbortSignal,
): Promise<LogStore | undefined> => {
  let logged: string | undefined
  for (let wait: number = second; ; wait = Math.min(2 * wait, MAX_WAIT_MS)) {
    const reply = await attempt(clock, () => readNodeChainId(signal))
    if (signal.aborted) return undefined
    if (reply.ok) return open({ chainId: reply.value, scope })
    const summary = summaryOf(reply.error)
    if (logged === undefined) {
      log.warn(`${summary}; serving the existing store and retrying`)
      const store = await open({ chainId: null, scope }).catch(ifEmpty)
      if (store) return store
      log.info('The store does not exist yet; waiting for the chain id of the node')
    } else if (summary !== logged) log.warn(summary)
    logged = summary
    await clock.sleep(wait, signal)
  }
}

const ifEmpty = (error: unknown): undefined => {
  if (!(error instanceof StoreError) || error.kind !== 'empty') throw error
}
