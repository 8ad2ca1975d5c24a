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
import {
  createLifecycleCounters,
  createPartialRestart,
  type LifecycleCounters,
} from '../../collectors/lifecycle/restarts.ts'
import { createOwnBlock, createOwnKey, createUnitNames } from '../../collectors/shared/node-state.ts'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import type { Collector } from '../../core/collector.ts'
import { SourceError } from '../../core/errors.ts'
import type { Recorder, Sample } from '../../core/metric.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import type { Exec } from '../../sources/exec.ts'
import type { Journal, JournalBatch } from '../../sources/journal.ts'
import { NO_UNIT_LOGS } from '../../collectors/shared/unit-logs.ts'

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
const NO_CHECKPOINT: Checkpoint = { read: () => Promise.resolve({ state: 'none' }), save: () => Promise.resolve() }

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
    services.has('ledger-tail') &&
      ledger({
        ...unitOf('ledger'),
        ownKey,
        ownBlock: createOwnBlock(),
        roundCounter,
        roundFeed: createRoundFeed(),
        recentRounds: createRecentRounds(),
      }),
    services.has('bft') && consensus({ ...unitOf('consensus'), roundLog: createRoundLog() }),
    services.has('execution') && execution(unitOf('execution')),
    Object.keys(logged).length > 0 &&
      logs({
        journalDependencies: journalFor(),
        exec,
        unitNames,
        units: logged,
        serviceUnits: {},
        readOldest: () => Promise.reject(noProgram()),
        readNewest: () => Promise.resolve(undefined),
        unitLogs: NO_UNIT_LOGS,
        timing: config.logs,
      }),
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
  ].filter((collector) => collector !== false)
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

const noProgram = (): SourceError => new SourceError({ doing: 'run a program', happened: 'a replay runs no programs' })

interface Run {
  readonly invocation: string
  readonly startedAt: number
  hasEnded: boolean
}

export type ServiceRuns = ReturnType<typeof createServiceRuns>

/**
 * The current run of each service, on a clock that only increases, from the start and stop entries of systemd and from
 * its own entries.
 */
export const createServiceRuns = (clock: Pick<Clock, 'now'>) => {
  const runs = new Map<string, Run>()
  const partial = createPartialRestart()
  const recordingStart = clock.now()
  const start = (service: string, invocation: string): void => {
    // A service that runs when the recording begins was started earlier, at an unknown time.
    const startedAt = runs.has(service) || clock.now() > recordingStart ? clock.now() : recordingStart
    runs.set(service, { invocation, startedAt, hasEnded: false })
  }

  return {
    /** Wraps the collector's count of starts and ends, to see them as well. */
    wrap: (counters: LifecycleCounters): LifecycleCounters => ({
      ...counters,
      started: (event) => {
        start(event.service, event.invocation)
        counters.started(event)
      },
      exited: (event) => {
        const { service, invocation } = event
        const run = runs.get(service)
        // The end of an earlier run may be recorded after the start of the next one.
        if (!run || run.invocation === invocation) {
          runs.set(service, { invocation, startedAt: run?.startedAt ?? recordingStart, hasEnded: true })
        }
        counters.exited(event)
      },
    }),
    /** An entry of a service: it runs, whether or not its start was recorded. */
    noteEntry: (service: string, invocation: string): void => {
      const run = runs.get(service)
      if (!run) runs.set(service, { invocation, startedAt: recordingStart, hasEnded: false })
      else if (run.invocation !== invocation) start(service, invocation)
    },
    /** The host was rebooted: all runs have ended. */
    noteReboot: (): void => {
      for (const run of runs.values()) run.hasEnded = true
    },
    /** Whether each service runs; without services that have no entry at all. */
    active: (): ReadonlyMap<string, boolean> =>
      new Map([...runs].map(([service, { hasEnded }]) => [service, !hasEnded])),
    /** Start of each current run, in milliseconds since the epoch; without runs that began before the recording. */
    started: (): ReadonlyMap<string, number> =>
      new Map(
        [...runs].flatMap(([service, { startedAt }]) => (startedAt > recordingStart ? [[service, startedAt]] : [])),
      ),
    /** Null until consensus and execution have been running. */
    isPartialRestart: (): boolean | null => partial(stateOf(runs.get('bft')), stateOf(runs.get('execution'))),
  }
}

const stateOf = (run: Run | undefined) => run && { ...run, activeState: run.hasEnded ? 'inactive' : 'active' }

/** A follower: the journalctl arguments of its entries, and the function that receives them. */
interface Listener {
  readonly match: readonly string[]
  /** A batch without entries is a heartbeat. */
  receive(batch: Pick<JournalBatch<JournalEntry>, 'entries' | 'unreadable'>): void
}

/** A journal whose followers receive the entries that the replay passes to them. */
export const createReplayJournal = (): Journal<JournalEntry> & { readonly listeners: () => readonly Listener[] } => {
  const listeners = new Set<Listener>()
  return {
    listeners: () => [...listeners],
    async *follow({ match }, { signal }) {
      let waiting: JournalBatch<JournalEntry>[] = [{ entries: [], unreadable: 0, gap: false }]
      let wake: () => void = () => undefined
      const listener: Listener = {
        match,
        receive: (batch) => {
          waiting.push({ ...batch, gap: false })
          wake()
        },
      }
      const end = (): void => {
        wake()
      }
      listeners.add(listener)
      signal.addEventListener('abort', end, { once: true })
      try {
        while (!signal.aborted) {
          const batches = waiting
          waiting = []
          yield* batches
          if (waiting.length > 0) continue
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      } finally {
        signal.removeEventListener('abort', end)
        listeners.delete(listener)
      }
    },
  }
}
