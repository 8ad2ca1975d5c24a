import type { CollectorDependencies, OfferCollector, Role, Shared } from '../collectors/dependencies.ts'
import { createDuties, createRoundCounter } from '../collectors/derived/duties.ts'
import { COLLECTORS } from '../collectors/index.ts'
import { createSavedCounts, type SavedCounts } from '../collectors/shared/saved-counts.ts'
import { createLifecycleCounters, type LifecycleCounters } from '../collectors/lifecycle/restarts.ts'
import {
  createChainSets,
  createMainPids,
  createOwnBlock,
  createOwnKey,
  createUnitNames,
  type OwnKey,
  type UnitNames,
} from '../collectors/shared/node-state.ts'
import type { Collector } from '../core/collector.ts'
import { createMemoizeLast } from '../core/reload.ts'
import { createRoundFeed } from '../collectors/schedule/predictions.ts'
import { readForks } from '../config/forks.ts'
import { readEpochLengths, readStakingNetworks } from '../config/staking.ts'
import type { Config } from '../config/schema.ts'
import { Board, type Change } from '../core/board.ts'
import type { Clock } from '../core/clock.ts'
import { createExposition, type Exposition } from '../exporter/exposition.ts'
import { type JournalEntry, parseJournalEntry } from '../parsers/journal.ts'
import type { Checkpoints } from '../sources/checkpoint.ts'
import type { Exec } from '../sources/exec.ts'
import type { HealthSummary } from '../domain/health.ts'
import type { Recorder } from '../core/metric.ts'
import { createHeartbeat, createMetricsEndpoint, createQueryEndpoint, createRpcEndpoint } from '../sources/endpoints.ts'
import { createFileTree } from '../sources/file-tree.ts'
import { createHostSources, type HostSources } from '../sources/host.ts'
import type { SendRequest } from '../sources/http.ts'
import { createJournal, createOldestEntryReader, type Journal } from '../sources/journal.ts'
import { keyFiles } from '../sources/key-files.ts'
import { createPrefix, type Prefix, type ReadPrefix } from '../sources/prefix.ts'
import { createKeyReport, createStatusTool, createStorageReport, createStorageTool } from '../sources/reports.ts'
import { type Connect, createTokenFeeds } from './token-feed.ts'

export interface Offered {
  readonly collector: Collector<unknown>
  readonly enabled: boolean
  readonly role: Role
}

type CollectorName = keyof typeof COLLECTORS
type Dependencies = Omit<CollectorDependencies, keyof Shared | 'journalFor'>

/** Loads every collector. */
const loadCollectors = async (): Promise<ReadonlyMap<CollectorName, OfferCollector<unknown>>> =>
  new Map(
    await Promise.all(
      Object.values(COLLECTORS).map(
        async ({ name, load }): Promise<readonly [CollectorName, OfferCollector<unknown>]> => [name, await load()],
      ),
    ),
  )

/**
 * Creates the collectors for a configuration. Called again with the next configuration, it returns the same collector
 * where nothing that it uses has changed, and a new one where something has. What several collectors share is kept, so
 * that those that keep running and those that are replaced work on the same data.
 */
const createCollectors = (
  offers: ReadonlyMap<CollectorName, OfferCollector<unknown>>,
): ((dependencies: Dependencies) => readonly Offered[]) => {
  const unitNamesFor = createMemoizeLast<UnitNames>()
  const lifecycleFor = createMemoizeLast<LifecycleCounters>()
  const ownKeyFor = createMemoizeLast<OwnKey>()
  const collectorsFor = new Map<string, ReturnType<typeof createMemoizeLast<Collector<unknown>>>>()
  const savedCounts = new Map<string, SavedCounts>()
  const countsFor = (name: string, recorder: Recorder): SavedCounts => {
    const counts = savedCounts.get(name) ?? createSavedCounts(recorder)
    savedCounts.set(name, counts)
    return counts
  }
  const mainPids = createMainPids()
  const roundCounter = createRoundCounter()
  const roundFeed = createRoundFeed()
  const chainSets = createChainSets()
  const ownBlock = createOwnBlock()
  const duties = createDuties()

  return (dependencies) => {
    const { config, recorder, journal, checkpoints, readPrefix } = dependencies
    const { publicKey } = config.node
    const labels = Object.keys(config.services.units)
    const all: CollectorDependencies = {
      ...dependencies,
      unitNames: unitNamesFor([readPrefix], () => createUnitNames(readPrefix)),
      lifecycle: lifecycleFor([labels], () => createLifecycleCounters(recorder, labels)),
      ownKey: ownKeyFor([publicKey], () => createOwnKey(publicKey)),
      mainPids,
      roundCounter,
      roundFeed,
      chainSets,
      ownBlock,
      duties,
      journalFor: (name) => ({
        journal,
        recorder,
        checkpoint: checkpoints.open(name),
        counts: countsFor(name, recorder),
      }),
    }
    return [...offers].map(([name, offer]) => {
      const { uses = [], hasWork = true, role = 'source', create } = offer(all)
      const { enabled, interval, timeout } = config[name]
      const reuse = collectorsFor.get(name) ?? createMemoizeLast<Collector<unknown>>()
      collectorsFor.set(name, reuse)
      return {
        enabled: enabled && hasWork,
        collector: reuse([config[name], ...uses], () => create({ interval, timeout })),
        role,
      }
    })
  }
}

export type { Connect } from './token-feed.ts'

interface RuntimeOptions {
  readonly clock: Clock
  /** The search path for programs. */
  readonly path: string
  readonly exec: Exec
  readonly ask: SendRequest
  readonly checkpoints: Checkpoints
  /** Replaces sources of host readings. */
  readonly host?: Partial<HostSources> | undefined
  /** Replaces the client of the query service for balances. */
  readonly connect?: Connect | undefined
  /** Whether this is the only agent of the process. */
  readonly ownsProcess: boolean
  /** Follows the journal; a command that reads once passes one that ends. */
  readonly journal?: Journal<JournalEntry>
  /** The health of the node by its diagnosis, for the heartbeat, which a command that reads once does not send. */
  readonly health?: () => HealthSummary
  /** Called for bugs of the agent, for changes on the board, and when the prefix changes. */
  readonly complain: (message: string) => void
  readonly notice?: (change: Change) => void
  readonly onPrefix?: (found: Prefix) => void
}

/** Collectors and the board that they report to. The caller runs the collectors. */
interface CollectorRuntime {
  readonly board: Board
  readonly exposition: Exposition
  /**
   * The collectors for a configuration. For the next configuration, those that do not change are the same objects.
   * Throws a ConfigError, and changes nothing then, if the file of forks is invalid.
   */
  offer(config: Config): readonly Offered[]
  /** The name prefix; null while it is unknown. */
  prefix(): string | null
}

const NOT_SENT: HealthSummary = { state: 'unknown', causes: [] }

/** Connects sources, parsers and collectors, for the agent and for a command that reads the node once. */
export const createRuntime = async (options: RuntimeOptions): Promise<CollectorRuntime> => {
  const { clock, path, exec, ask, checkpoints } = options
  const { journal = createJournal({ exec, parse: parseJournalEntry }), health = () => NOT_SENT } = options
  const board = new Board(clock, options.notice)
  const exposition = createExposition(options.complain, options)
  let prefix: Prefix | undefined
  const createReadPrefix = (configured: string): ReadPrefix => {
    const findPrefix = createPrefix({ exec, path, configured })
    return async (signal) => {
      const found = await findPrefix(signal)
      if (found.word !== prefix?.word || found.from !== prefix.from) options.onPrefix?.(found)
      prefix = found
      return found
    }
  }
  const readPrefixFor = createMemoizeLast<ReadPrefix>()
  const stakingNetworks = readStakingNetworks()
  const collectorsFor = createCollectors(await loadCollectors())
  return {
    board,
    exposition,
    prefix: () => prefix?.word ?? null,
    offer: (config) => {
      const forks = readForks(config.version.forksFile)
      const readPrefix = readPrefixFor([config.prefix], () => createReadPrefix(config.prefix))
      const tool = (name: string) => async (signal: AbortSignal) => `${(await readPrefix(signal)).word}-${name}`
      return collectorsFor({
        config,
        clock,
        recorder: exposition.recorder,
        exec,
        journal,
        readOldest: createOldestEntryReader({ exec, parse: parseJournalEntry }),
        checkpoints,
        readPrefix,
        rpcAt: (url, timeout) => createRpcEndpoint(ask, url, timeout),
        queryAt: (service, timeout) => createQueryEndpoint(ask, service, timeout),
        tokenFeed: createTokenFeeds({
          ...config.tokens,
          directory: config.state.directory,
          clock,
          connect: options.connect,
        }),
        nativeAt: (url, timeout) => createMetricsEndpoint(ask, url, timeout),
        readStorage:
          createStorageReport(config.storage, clock) ??
          createStorageTool({ exec, command: tool('mpt'), devices: config.storage.devices }),
        readStatus: createStatusTool({ exec, command: tool('status') }),
        host: { ...createHostSources(config.host), ...options.host },
        nodeFiles: createFileTree('/'),
        epochs: readEpochLengths(config.staking),
        forks,
        stakingNetworks,
        keyFiles,
        readKeyReport: createKeyReport(config.keys, clock),
        published: () => board.samples(),
        health,
        heartbeatTo: (urlFile, timeout) => createHeartbeat({ ask, urlFile, timeout }),
      })
    },
  }
}
