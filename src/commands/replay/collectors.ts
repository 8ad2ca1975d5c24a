import { createRoundLog } from '../../collectors/consensus/round-log.ts'
import { createRecentRounds } from '../../collectors/ledger/recent-rounds.ts'
import { createRoundFeed } from '../../collectors/schedule/predictions.ts'
import { createSavedCounts } from '../../collectors/shared/saved-counts.ts'
import { consensus } from '../../collectors/consensus/collector.ts'
import { derived } from '../../collectors/derived/collector.ts'
import { execution } from '../../collectors/execution/collector.ts'
import { ledger } from '../../collectors/ledger/collector.ts'
import { lifecycle } from '../../collectors/lifecycle/collector.ts'
import { logs } from '../../collectors/logs/collector.ts'
import { createDuties, createRoundCounter } from '../../collectors/derived/duties.ts'
import { createLifecycleCounters } from '../../collectors/lifecycle/restarts.ts'
import { createOwnBlock, createOwnKey, createUnitNames } from '../../collectors/shared/node-state.ts'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import type { Collector } from '../../core/collector.ts'
import { SourceError } from '../../core/errors.ts'
import type { Recorder, Sample } from '../../core/metric.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import type { Exec } from '../../sources/exec.ts'
import type { Journal } from '../../sources/journal.ts'
import { NO_UNIT_LOGS } from '../../collectors/shared/unit-logs.ts'
import type { ServiceRuns } from './service-runs.ts'

interface ReplayCollectorsOptions {
  readonly config: Config
  readonly clock: Clock
  readonly journal: Journal<JournalEntry>
  /** Returns the samples of the other collectors. */
  readonly published: () => readonly Sample[]
  readonly recorder: Recorder
  readonly serviceRuns: ServiceRuns
  /** The name prefix of the units. */
  readonly prefix: string
  readonly ownKey: string | null
  /** What journalctl prints on stderr for --grep; empty if it can filter by patterns. */
  readonly grepStderr: string
  /** The labels of the services whose journal is read. */
  readonly services: ReadonlySet<string>
}

/** Checkpoints of the running agent are from another time: each collector starts without state. */
const NO_CHECKPOINT: Checkpoint = {
  read: () => Promise.resolve({ state: 'none' }),
  save: () => Promise.resolve(),
}

/** The collectors that read the journal, and the derived one. */
export const createReplayCollectors = (parts: ReplayCollectorsOptions): readonly Collector<unknown>[] => {
  const { config, clock, journal, published, recorder, serviceRuns, services } = parts
  const unitNames = createUnitNames(() => Promise.resolve({ word: parts.prefix, from: 'configuration' }))
  const journalFor = () => ({ journal, recorder, checkpoint: NO_CHECKPOINT, counts: createSavedCounts(recorder) })
  const exec = execWithStderr(parts.grepStderr)
  const ownKey = createOwnKey(parts.ownKey)
  const roundCounter = createRoundCounter()
  const only = (units: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(units).filter(([service]) => services.has(service)))
  const units = only(config.services.units)
  const logged = only(config.logs.units)
  const unitOf = (name: 'ledger' | 'consensus' | 'execution') => ({
    journalDependencies: journalFor(),
    unitNames,
    exec,
    clock,
    unit: config[name].unit,
    timing: config[name],
  })
  return [
    lifecycle({
      journalDependencies: journalFor(),
      unitNames,
      serviceUnits: units,
      lifecycle: serviceRuns.wrap(createLifecycleCounters(recorder, Object.keys(units))),
      timing: config.lifecycle,
    }),
    ...(services.has('ledger-tail')
      ? [
          ledger({
            ...unitOf('ledger'),
            ownKey,
            ownBlock: createOwnBlock(),
            roundCounter,
            roundFeed: createRoundFeed(),
            recentRounds: createRecentRounds(),
          }),
        ]
      : []),
    ...(services.has('bft') ? [consensus({ ...unitOf('consensus'), roundLog: createRoundLog() })] : []),
    ...(services.has('execution') ? [execution(unitOf('execution'))] : []),
    ...(Object.keys(logged).length > 0
      ? [
          logs({
            journalDependencies: journalFor(),
            exec,
            unitNames,
            units: logged,
            alsoExamined: {},
            readOldest: unknown,
            readNewest: () => Promise.resolve(undefined),
            unitLogs: NO_UNIT_LOGS,
            timing: config.logs,
          }),
        ]
      : []),
    derived({
      published,
      roundCounter,
      duties: createDuties(),
      ownKey,
      blocksyncWindow: config.derived.blocksyncWindow,
      readBootId: () => Promise.resolve(null),
      checkpoint: NO_CHECKPOINT,
      timing: config.derived,
    }),
  ]
}

/** Runs no program: the only one that collectors start is the --grep probe, whose result is known already. */
const execWithStderr = (stderr: string): Exec => ({
  run: () => Promise.resolve({ exitCode: 0, stdout: '', stderr }),
  // oxlint-disable-next-line require-yield -- it only throws
  async *stream() {
    await Promise.reject(noProgram())
  },
  killAll: () => undefined,
})

const unknown = (): Promise<never> => Promise.reject(noProgram())

const noProgram = (): SourceError =>
  new SourceError({
    doing: 'run a program',
    happened: 'a replay runs no programs',
  })
