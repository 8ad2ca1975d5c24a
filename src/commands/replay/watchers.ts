import { consensus } from '../../collectors/consensus/collector.ts'
import { derived } from '../../collectors/derived/collector.ts'
import { execution } from '../../collectors/execution/collector.ts'
import { ledger } from '../../collectors/ledger/collector.ts'
import { lifecycle } from '../../collectors/lifecycle/collector.ts'
import { logs } from '../../collectors/logs/collector.ts'
import { createDuties, createRoundCounter } from '../../collectors/derived/duties.ts'
import { createLifecycleCounters } from '../../collectors/lifecycle/restarts.ts'
import { createUnitNames } from '../../collectors/shared/unit-names.ts'
import { createOwnKey } from '../../collectors/shared/node-state.ts'
import type { Config } from '../../config/schema.ts'
import type { Board } from '../../core/board.ts'
import type { Clock } from '../../core/clock.ts'
import type { Collector } from '../../core/collector.ts'
import { SourceError } from '../../core/errors.ts'
import type { Recorder } from '../../core/recorder.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import type { Checkpoint } from '../../sources/checkpoint.ts'
import type { Exec } from '../../sources/exec.ts'
import type { Journal } from '../../sources/journal.ts'
import type { Running } from './running.ts'

interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly journal: Journal<JournalEntry>
  readonly board: Board
  readonly recorder: Recorder
  readonly running: Running
  /** The maker's word. */
  readonly prefix: string
  readonly ownKey: string | null
  /** Whether journalctl can filter by pattern: what it said when it was asked to. */
  readonly grepSays: string
  /** The labels of the services whose journal is looked at. */
  readonly services: ReadonlySet<string>
}

/** What was remembered is of another time: each begins anew. */
const NOTHING: Checkpoint = {
  read: () => Promise.resolve({ state: 'none' }),
  save: () => undefined,
}

/** The collectors that live by the journal, and the one that thinks about what they found. */
export const createWatchers = (parts: Parts): readonly Collector<unknown>[] => {
  const { config, clock, journal, board, recorder, running, services } = parts
  const unitNames = createUnitNames(() =>
    Promise.resolve({ word: parts.prefix, from: 'configuration' }),
  )
  const journalDependencies = { journal, recorder, checkpoint: NOTHING }
  const exec = execThatSays(parts.grepSays)
  const ownKey = createOwnKey(parts.ownKey)
  const roundCounter = createRoundCounter()
  const only = (units: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(units).filter(([service]) => services.has(service)))
  const units = only(config.services.units)
  const logged = only(config.logs.units)
  const unitOf = (name: 'ledger' | 'consensus' | 'execution') => ({
    journalDependencies,
    unitNames,
    exec,
    clock,
    unit: config[name].unit,
    timing: config[name],
  })
  return [
    lifecycle({
      journalDependencies,
      unitNames,
      units,
      lifecycle: running.wrap(createLifecycleCounters(recorder, Object.keys(units))),
      timing: config.lifecycle,
    }),
    ...(services.has('ledger-tail') ? [ledger({ ...unitOf('ledger'), ownKey, roundCounter })] : []),
    ...(services.has('bft') ? [consensus(unitOf('consensus'))] : []),
    ...(services.has('execution') ? [execution(unitOf('execution'))] : []),
    ...(Object.keys(logged).length > 0
      ? [
          logs({
            journalDependencies,
            exec,
            unitNames,
            units: logged,
            readOldest: unknown,
            timing: config.logs,
          }),
        ]
      : []),
    derived({
      published: () => board.samples(),
      rounds: roundCounter,
      duties: createDuties(),
      ownKey,
      blocksyncWindow: config.derived.blocksyncWindow,
      checkpoint: NOTHING,
      timing: config.derived,
    }),
  ]
}

/** Nobody is asked for anything: what the one question there is was answered with is known already. */
const execThatSays = (stderr: string): Exec => ({
  run: () => Promise.resolve({ exitCode: 0, stdout: '', stderr }),
  // oxlint-disable-next-line require-yield -- there is nothing to come
  async *stream() {
    await Promise.reject(noProgram())
  },
  killAll: () => undefined,
})

const unknown = (): Promise<never> => Promise.reject(noProgram())

const noProgram = (): SourceError =>
  new SourceError({
    doing: 'run a program',
    happened: 'none is run while a recording is looked at',
  })
