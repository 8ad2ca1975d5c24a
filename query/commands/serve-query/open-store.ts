import type { Config } from '../../../src/config/schema.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { asError, ConfigError, SourceError, summaryOf } from '../../../src/core/errors.ts'
import { figure, size } from '../../../src/core/format.ts'
import { attempt } from '../../../src/core/collector.ts'
import { Secret } from '../../../src/core/redaction/secret.ts'
import { second } from '../../../src/core/units.ts'
import { trimTopics } from '../../service/api/parse-query.ts'
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
  // Canonical form: the store compares the scope with the recorded one.
  const scope = {
    addresses: [...new Set(contracts)].toSorted(),
    topics: trimTopics(topics.map((values) => [...new Set(values)].toSorted())),
  }
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
 * Opens the store for the chain of the node. If the node is unreachable, an existing store is opened for its own chain;
 * without one the node is polled until it responds. Undefined if the signal aborts before. `isOfChain` resolves once the
 * node has reported the chain id of the store, and rejects if it is of another chain.
 */
export const openStore = async (dependencies: OpenStoreDependencies, signal: AbortSignal) => {
  const { scope, open, clock, readNodeChainId } = dependencies
  const first = await attempt(clock, () => readNodeChainId(signal))
  if (signal.aborted) return undefined
  if (!first.ok) {
    dependencies.log.warn(`${summaryOf(first.error)}; serving the existing store and retrying`)
    const store = await openWithoutNode(dependencies)
    const isOfChain = async (stop: AbortSignal) => store && expectChain(store, await pollChainId(dependencies, stop))
    if (store) return { store, isOfChain }
  }
  const chainId = first.ok ? first.value : await pollChainId(dependencies, signal)
  if (chainId === undefined) return undefined
  const store = await open({ chainId, scope })
  // A store that was opened for a chain id belongs to that chain.
  return { store, isOfChain: () => Promise.resolve() }
}

const openWithoutNode = async ({ open, scope, log }: OpenStoreDependencies): Promise<LogStore | undefined> => {
  try {
    return await open({ chainId: null, scope })
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'empty') throw error
    log.info('The store does not exist yet; waiting for the chain id of the node')
    return undefined
  }
}

/** Polls the node until it responds; undefined if the signal aborts before. */
const pollChainId = async (dependencies: OpenStoreDependencies, signal: AbortSignal): Promise<number | undefined> => {
  const { readNodeChainId, clock, log } = dependencies
  let logged = ''
  for (let wait: number = second; !signal.aborted; wait = Math.min(2 * wait, MAX_WAIT_MS)) {
    await clock.sleep(wait, signal)
    if (signal.aborted) break
    try {
      const chainId = await readNodeChainId(signal)
      log.info('The node is reachable')
      return chainId
    } catch (thrown) {
      const summary = summaryOf(asError(thrown))
      if (summary !== logged && logged !== '') log.warn(summary)
      logged = summary
    }
  }
  return undefined
}

const expectChain = ({ chainId }: LogStore, nodeChainId: number | undefined): void => {
  if (nodeChainId === undefined || nodeChainId === chainId) return
  throw new SourceError({
    doing: 'follow the node',
    happened: `the node is of chain ${nodeChainId}, but the store is of chain ${chainId}`,
    advice: 'use a node of the chain of the store with --rpc-url, or another store with --store',
  })
}
