import type { z } from 'zod'
import type { Collector, Subscribe, Timing } from '../core/collector.ts'
import type { LifecycleCounters } from './lifecycle/restarts.ts'
import type { JournalDependencies } from './shared/journal-follower.ts'
import type { OwnKey, UnitNames } from './shared/node-state.ts'
import type { SharedState } from './shared/shared-state.ts'
import type { Checkpoint, Checkpoints } from '../sources/checkpoint.ts'
import type { Clock } from '../core/clock.ts'
import type { EpochLengths } from '../domain/epoch.ts'
import type { KeyFolders } from '../domain/key-paths.ts'
import type { reference } from '../core/settings.ts'
import type { FileTree } from '../sources/file-tree.ts'
import type { Exec } from '../sources/exec.ts'
import type { AlertState, AlertTarget, HealthSummary, TargetAlert } from '../domain/health.ts'
import type { Forks } from '../config/forks.ts'
import type { StakingNetworks } from '../config/staking.ts'
import type { HostSources } from '../sources/host.ts'
import type { createNewestEntryReader, createOldestEntryReader } from '../sources/journal.ts'
import type { JournalEntry } from '../parsers/journal.ts'
import type { KeyFiles } from '../sources/key-files.ts'
import type { Endpoints } from '../sources/endpoints.ts'
import type { InstalledFiles } from '../sources/packages.ts'
import type { ReadPrefix } from '../sources/prefix.ts'
import type { ReadReport } from '../sources/reports.ts'
import type { Recorder, Sample } from '../core/metric.ts'
import type { WatchUnits } from '../sources/unit-watch.ts'
import type { UnitLogs } from './shared/unit-logs.ts'

/** The sources of collectors: the same for every configuration, or created again when the keys that they use change. */
interface Sources extends Readonly<Endpoints> {
  readonly clock: Clock
  readonly recorder: Recorder
  readonly exec: Exec
  readonly readOldest: ReturnType<typeof createOldestEntryReader<JournalEntry>>
  readonly readNewest: ReturnType<typeof createNewestEntryReader<JournalEntry>>
  readonly unitLogs: UnitLogs
  /** Null for a command that reads once, and in a simulation. */
  readonly watchUnits: WatchUnits | null
  readonly checkpoints: Checkpoints
  readonly readPrefix: ReadPrefix
  /** The report of the database tool of that name, or from the file that is configured. */
  readonly readStorage: ReadReport
  readonly readStatus: ReadReport
  readonly host: HostSources
  readonly readBootId: () => Promise<string | null>
  /** /proc/uptime: seconds since the boot, also while the host was suspended. */
  readonly readUptime: () => Promise<string | null>
  /** Files of the node that contain no secrets. */
  readonly nodeFiles: FileTree
  readonly installedFiles: InstalledFiles
  /** The length of the epochs of each network. */
  readonly epochs: EpochLengths
  /** The forks and mandatory releases of each network. */
  readonly forks: Forks
  /** The time up to which that list is complete, in milliseconds. */
  readonly forksReviewedAt: number | null
  /** Epochs and limits of the staking precompile of each network. */
  readonly stakingNetworks: StakingNetworks
  readonly keyFiles: KeyFiles
  /** Null: the agent examines the key files itself. */
  readonly readKeyReport: ReadReport | null
  /** The samples of all collectors, for derived ones. */
  readonly published: () => readonly Sample[]
  /** The health of the node by its diagnosis. */
  readonly health: () => HealthSummary
  /** The alerts in that state, with the labels of that target. */
  readonly alertsOf: (target: AlertTarget, state: AlertState) => readonly TargetAlert[]
  /** Calls the function after each evaluation of the rules. Returns the end of the subscription. */
  readonly onEvaluation: Subscribe
}

/** What several collectors share; it is kept when a reload replaces one of them. */
export interface Shared extends SharedState {
  readonly unitNames: UnitNames
  readonly lifecycle: LifecycleCounters
  readonly ownKey: OwnKey
}

/** Settings that are not of one collector. */
export interface NodeSettings {
  readonly rpcUrl: string
  /** Whether that is the RPC of the node of this host; a watcher uses that of another node, for the chain. */
  readonly isRpcOfNode: boolean
  readonly references: readonly z.output<typeof reference>[]
  /** Whether the node's own status report is the only other view of the chain. */
  readonly hasNoReference: boolean
  readonly nodeDirectory: string
  readonly keyFolders: KeyFolders
  /** Service → unit. */
  readonly serviceUnits: Readonly<Record<string, string>>
  /** The part of a week in which the node should be up. */
  readonly objective: number
}

/** What one collector has for itself; it is kept when a reload replaces the collector. */
export interface Own {
  readonly checkpoint: Checkpoint
  /** Of a follower of the journal. */
  readonly journalDependencies: JournalDependencies
}

/** What collectors use in addition to their own settings: a collector is created again when a value that it read has changed. */
export interface CollectorDependencies extends Sources, Shared, NodeSettings, Own {}

/** What a collector is created from: the dependencies of these names, some of its settings, and its timing. */
export type Uses<Name extends keyof CollectorDependencies, Others = unknown> = Pick<CollectorDependencies, Name> &
  Others & { readonly timing: Timing }

/** The setting of a collector that follows the log of one unit. */
export interface UnitSetting {
  /** With `{prefix}` for the name prefix. */
  readonly unit: string
}

/** What a collector does: reads a source, derives from other collectors, or sends to an outside receiver. */
type Role = 'source' | 'derived' | 'outbound'

/** The parts of a definition that decide the types of the collector. */
interface Definition {
  readonly name: string
  /** Without `enabled` it is on if it has work. */
  readonly settings: z.ZodType<Timing & { readonly enabled?: boolean }>
}

type SettingsOf<Of extends Definition> = Of['settings']['_zod']['output']

/** The settings with these names. */
export type Settings<Of extends Definition, Name extends keyof SettingsOf<Of>> = {
  readonly [Key in Name]: SettingsOf<Of>[Key] extends readonly (infer One)[] ? readonly One[] : SettingsOf<Of>[Key]
}

interface CollectorOptions<Of extends Definition> {
  /** Whether there is anything to do. A collector without work is disabled, not failing. */
  readonly hasWork?: (settings: SettingsOf<Of>, dependencies: NodeSettings) => boolean
  readonly role?: Role
}

/** Reads what it uses by name, at once. Its readings have the type of the schema in the definition, if it has one. */
type CreateCollector<Of extends Definition> = (
  uses: Uses<keyof CollectorDependencies, SettingsOf<Of>>,
) => Collector<ReadingOf<Of>>

/** The configuration of a collector: its section, by its name. */
type SectionOf<Of extends Definition> = { readonly [Name in Of['name']]: SettingsOf<Of> }

/** A collector for a configuration. */
export interface Offer {
  readonly role: Role
  readonly enabled: boolean
  /** Dependencies, settings and timing. */
  readonly uses: object
  /** `record` returns the object that it is given, and records what the collector reads of it. */
  create(record: <Used extends object>(uses: Used) => Used): Collector<unknown>
}

/** An entry of the list of collectors. */
export const collector = <const Of extends Definition>(
  definition: Of,
  load: () => Promise<CreateCollector<Of>>,
  { hasWork = () => true, role = 'source' }: CollectorOptions<Of> = {},
) => {
  const { name }: Pick<Of, 'name'> = definition
  return {
    ...definition,
    /** Loads its code. */
    load: async () => {
      const create = await load()
      return (config: SectionOf<Of>, dependencies: CollectorDependencies): Offer => {
        const settings = config[name]
        const { interval, timeout, enabled = true } = settings
        const uses = { ...dependencies, ...settings, timing: { interval, timeout } }
        return {
          role,
          enabled: enabled && hasWork(settings, dependencies),
          uses,
          create: (record) => create(record(uses)),
        }
      }
    },
  }
}

/** What the readings of a collector are to other parts. */
export type ReadingOf<Of> = Of extends { readonly reading: z.ZodType<infer Reading> } ? Reading : unknown
