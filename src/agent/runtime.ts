import { isDeepStrictEqual } from 'node:util'
import type { CollectorDependencies, NodeSettings, Offer, Own, Shared } from '../collectors/dependencies.ts'
import { COLLECTORS } from '../collectors/index.ts'
import { createSavedCounts } from '../collectors/shared/saved-counts.ts'
import { createLifecycleCounters } from '../collectors/lifecycle/restarts.ts'
import { createOwnKey, createUnitNames } from '../collectors/shared/node-state.ts'
import { createSharedState, type SharedState } from '../collectors/shared/shared-state.ts'
import type { Collector } from '../core/collector.ts'
import { memoizeLast } from '../core/reload.ts'
import { readForks } from '../config/forks.ts'
import { readEpochLengths, readStakingNetworks } from '../config/staking.ts'
import type { Config } from '../config/schema.ts'
import { Board, type Change } from '../core/board.ts'
import type { Clock } from '../core/clock.ts'
import { createExposition } from '../exporter/exposition.ts'
import { type JournalEntry, parseJournalEntry } from '../parsers/journal.ts'
import type { Checkpoints } from '../sources/checkpoint.ts'
import type { Exec } from '../sources/exec.ts'
import { agentMetrics } from '../metrics.ts'
import { createEndpoints } from '../sources/endpoints.ts'
import { createFileTree } from '../sources/file-tree.ts'
import { createHostSources, type HostSources } from '../sources/host.ts'
import type { SendRequest } from '../sources/http.ts'
import { createNewestEntryReader, createOldestEntryReader, type Journal } from '../sources/journal.ts'
import { createSharedJournal } from '../sources/journal-sharing.ts'
import { createUnitLogs } from '../collectors/shared/unit-logs.ts'
import { keyFiles, rememberAbsent } from '../sources/key-files.ts'
import { createInstalledFiles } from '../sources/packages.ts'
import { createPrefix, type Prefix, type ReadPrefix } from '../sources/prefix.ts'
import { createKeyReport, createStatusTool, createStorageReport, createStorageTool } from '../sources/reports.ts'
import type { WatchUnits } from '../sources/unit-watch.ts'

export interface Offered extends Pick<Offer, 'enabled' | 'role'> {
  readonly collector: Collector<unknown>
}

type CollectorName = keyof typeof COLLECTORS

type OfferFor = (config: Config, dependencies: CollectorDependencies) => Offer

/** The sources that are the same for every collector. */
type Dependencies = Omit<CollectorDependencies, keyof Shared | keyof NodeSettings | keyof Own>

const loadCollectors = async (): Promise<ReadonlyMap<CollectorName, OfferFor>> =>
  new Map(await Promise.all(Object.values(COLLECTORS).map(async ({ name, load }) => [name, await load()] as const)))

const nodeSettings = ({ profile, node, rpc, references, services, health }: Config): NodeSettings => {
  const { publicKey: _, ...keyFolders } = node
  return {
    rpcUrl: rpc.url,
    isRpcOfNode: profile === 'node',
    references,
    hasNoReference: references.length === 0,
    nodeDirectory: node.directory,
    keyFolders,
    serviceUnits: services.units,
    objective: health.objective,
  }
}

/**
 * Creates the collectors for a configuration. Called again with the next configuration, it returns the same collector
 * where nothing that it uses has changed, and a new one where something has. What several collectors share is kept, so
 * that those that keep running and those that are replaced work on the same data.
 */
const createCollectors = (
  offers: ReadonlyMap<CollectorName, OfferFor>,
  ownOf: (name: CollectorName) => Own,
  shared: SharedState,
): ((config: Config, dependencies: Dependencies) => readonly Offered[]) => {
  const unitNamesFor = memoizeLast(createUnitNames)
  const lifecycleFor = memoizeLast(createLifecycleCounters)
  const ownKeyFor = memoizeLast(createOwnKey)
  const collectors = [...offers].map(([name, offer]) => ({ offer, own: ownOf(name), reuse: createReuse() }))

  return (config, dependencies) => {
    const { recorder, readPrefix, unitLogs } = dependencies
    const all = {
      ...dependencies,
      ...shared,
      ...nodeSettings(config),
      unitNames: unitNamesFor(readPrefix, unitLogs),
      lifecycle: lifecycleFor(recorder, Object.keys(config.services.units)),
      ownKey: ownKeyFor(config.node.publicKey),
    }
    return collectors.map(({ offer, own, reuse }) => {
      const offered = offer(config, { ...all, ...own })
      return { enabled: offered.enabled, collector: reuse(offered), role: offered.role }
    })
  }
}

/** Returns the last collector while the values that it has read are the same; otherwise creates another one. */
const createReuse = () => {
  let read: ReadonlyMap<string | symbol, unknown> = new Map()
  let last: Collector<unknown> | undefined
  return ({ uses, create }: Offer): Collector<unknown> => {
    if (last && [...read].every(([key, value]) => isDeepStrictEqual(Reflect.get(uses, key), value))) return last
    const values = new Map<string | symbol, unknown>()
    const get = (target: object, key: string | symbol): unknown => {
      const value: unknown = Reflect.get(target, key)
      values.set(key, value)
      return value
    }
    read = values
    last = create(<Used extends object>(object: Used) => new Proxy<Used>(object, { get }))
    return last
  }
}

interface RuntimeOptions {
  readonly clock: Clock
  readonly path: string
  readonly exec: Exec
  readonly ask: SendRequest
  readonly checkpoints: Checkpoints
  /** Replaces sources of host readings. */
  readonly host?: Partial<HostSources> | undefined
  /** Without it units are polled. */
  readonly watchUnits?: WatchUnits | undefined
  /** Whether this is the only agent of the process. */
  readonly ownsProcess: boolean
  /** Follows the journal; a command that reads once passes one that ends. */
  readonly journal?: Journal<JournalEntry>
  /** Called for bugs of the agent, for changes on the board, and when the prefix changes. */
  readonly complain: (message: string) => void
  readonly notice?: (change: Change) => void
  readonly onPrefix?: (found: Prefix) => void
}

/** What is sent: the health of the node for the heartbeat, and the alerts for Alertmanager, after each evaluation of the rules. */
type Outbound = Pick<CollectorDependencies, 'health' | 'alertsOf' | 'onEvaluation'>

const NOT_SENT: Outbound = {
  health: () => ({ state: 'unknown', causes: [] }),
  alertsOf: () => [],
  onEvaluation: () => () => undefined,
}

/**
 * Connects sources, parsers and collectors, for the agent and for a command that reads the node once: the collectors and the
 * board that they report to. The caller runs the collectors.
 */
export const createRuntime = async (options: RuntimeOptions) => {
  const { clock, path, exec, ask, checkpoints } = options
  const { journal = createSharedJournal({ exec, parse: parseJournalEntry }) } = options
  const board = new Board(clock, options.notice)
  const exposition = createExposition(options.complain, { ...options, catalogue: agentMetrics })
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
  const { recorder } = exposition
  const ownOf = (name: string): Own => {
    const checkpoint = checkpoints.open(name)
    return { checkpoint, journalDependencies: { journal, recorder, checkpoint, counts: createSavedCounts(recorder) } }
  }
  /** The same for every configuration. */
  const sources = {
    clock,
    recorder,
    exec,
    checkpoints,
    readOldest: createOldestEntryReader({ exec, parse: parseJournalEntry }),
    readNewest: createNewestEntryReader({ exec, parse: parseJournalEntry }),
    unitLogs: createUnitLogs({ exec, clock }),
    watchUnits: options.watchUnits ?? null,
    ...createEndpoints(ask, clock),
    nodeFiles: createFileTree('/'),
    stakingNetworks: readStakingNetworks(),
    epochs: readEpochLengths(),
    keyFiles: rememberAbsent(keyFiles, clock),
    published: () => board.samples(),
  }
  const sourcesFor = createConfiguredSources(options, createReadPrefix)
  const shared = createSharedState()
  const collectorsFor = createCollectors(await loadCollectors(), ownOf, shared)
  return {
    board,
    exposition,
    /** The name prefix; null while it is unknown. */
    prefix: (): string | null => prefix?.word ?? null,
    /** The newest rounds of the ledger stream, oldest first. */
    rounds: shared.recentRounds.all,
    /** Takes the heartbeats of a watched node. */
    heartbeatInbox: shared.heartbeatInbox,
    /**
     * The collectors for a configuration. For the next configuration, those that do not change are the same objects.
     * A command that reads once sends nothing. Throws a ConfigError, and changes nothing then, if the file of forks is
     * invalid.
     */
    offer: (config: Config, outbound = NOT_SENT): readonly Offered[] =>
      collectorsFor(config, { ...sources, ...outbound, ...sourcesFor(config) }),
  }
}

/** The sources with settings: those of the next configuration are the same objects unless their settings differ. */
const createConfiguredSources = (
  { clock, path, exec, host }: RuntimeOptions,
  createReadPrefix: (configured: string) => ReadPrefix,
) => {
  const readPrefixFor = memoizeLast(createReadPrefix)
  const tool = (readPrefix: ReadPrefix, name: string) => async (signal: AbortSignal) =>
    `${(await readPrefix(signal)).word}-${name}`
  const storageFor = memoizeLast(
    (readPrefix: ReadPrefix, storage: Config['storage']) =>
      createStorageReport(storage, clock) ??
      createStorageTool({ exec, command: tool(readPrefix, 'mpt'), devices: storage.devices }),
  )
  const statusFor = memoizeLast((readPrefix: ReadPrefix) =>
    createStatusTool({ exec, command: tool(readPrefix, 'status') }),
  )
  const hostFor = memoizeLast((places: Config['host']): HostSources => ({ ...createHostSources(places), ...host }))
  const procfsFor = memoizeLast((procfs: string) => {
    const tree = host?.procfs ?? createFileTree(procfs)
    return {
      readBootId: () => tree.read('sys/kernel/random/boot_id'),
      readUptime: () => tree.read('uptime'),
    }
  })
  const installedFilesFor = memoizeLast((root: string) => createInstalledFiles({ root, path }))
  const keyReportFor = memoizeLast((keys: Config['keys']) => createKeyReport(keys, clock))
  return (config: Config) => {
    const { storage, version } = config
    const { forks, reviewedAt } = readForks(version.forksFile, clock.now())
    const readPrefix = readPrefixFor(config.prefix)
    return {
      forks,
      forksReviewedAt: reviewedAt,
      readPrefix,
      readStorage: storageFor(readPrefix, storage),
      readStatus: statusFor(readPrefix),
      host: hostFor(config.host),
      ...procfsFor(config.host.procfs),
      installedFiles: installedFilesFor(version.rootDirectory),
      readKeyReport: keyReportFor(config.keys),
    }
  }
}
