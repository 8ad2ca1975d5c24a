import type { Config } from '../config/schema.ts'
import type { Clock } from '../core/clock.ts'
import type { Collector, Timing } from '../core/collector.ts'
import type { Recorder } from '../core/recorder.ts'
import type { JournalEntry } from '../parsers/journal.ts'
import type { Checkpoints } from '../sources/checkpoint.ts'
import type { Exec } from '../sources/exec.ts'
import type { Journal } from '../sources/journal.ts'
import type { ReadPrefix } from '../sources/prefix.ts'
import type { Query } from '../sources/query.ts'
import type { Rpc } from '../sources/rpc.ts'
import type { ReadStatus } from '../sources/status.ts'
import type { ReadStorage } from '../sources/storage.ts'
import { consensus } from './consensus.ts'
import { ledger } from './ledger.ts'
import { lifecycle } from './lifecycle.ts'
import { createLifecycle } from './parts/lifecycle-count.ts'
import { createNames } from './parts/names.ts'
import { createOwnKey } from './parts/own-key.ts'
import { reference } from './reference.ts'
import { requestTimeout } from './parts/request.ts'
import { rpc } from './rpc.ts'
import { services } from './services.ts'
import { status } from './status.ts'
import { storage } from './storage.ts'

/** Everything that collectors are made of; agent.ts hands it in. */
export interface Surroundings {
  readonly config: Config
  readonly clock: Clock
  readonly recorder: Recorder
  readonly exec: Exec
  readonly journal: Journal<JournalEntry>
  readonly checkpoints: Checkpoints
  readonly readPrefix: ReadPrefix
  /** Endpoints that answer within so many milliseconds. */
  rpcAt(url: string, timeout: number): Rpc
  queryAt(url: string, timeout: number): Query
  /** The report of the database tool of that name, or from the file that is configured. */
  readonly readStorage: ReadStorage
  readonly readStatus: ReadStatus
}

export interface Offered {
  readonly collector: Collector<unknown>
  readonly enabled: boolean
}

/** Every collector there is. To add one: its file, a line here, its rows in the catalogue, its keys in the schema. */
export const createCollectors = (around: Surroundings): readonly Offered[] => {
  const { config, clock, recorder, exec, journal, checkpoints, readPrefix, rpcAt, queryAt } = around
  const names = createNames(readPrefix)
  const starts = createLifecycle(recorder, Object.keys(config.services.units))
  const listening = (name: string) => ({ journal, recorder, checkpoint: checkpoints.open(name) })
  const { units, timers, required } = config.services
  const ownKey = createOwnKey(config.node.publicKey)
  return [
    offer(config.rpc, (timing) =>
      rpc({ node: rpcAt(config.rpc.url, requestTimeout(timing, 2)), recorder, clock, timing }),
    ),
    offer(
      // Nothing to look at is not a failure: without references the collector is off.
      { ...config.reference, enabled: config.reference.enabled && config.references.length > 0 },
      (timing) => {
        const timeout = requestTimeout(timing, 1)
        return reference({
          node: rpcAt(config.rpc.url, timeout),
          references: config.references.map(({ name, url, kind }) =>
            kind === 'rpc'
              ? { name, kind, source: rpcAt(url, timeout) }
              : { name, kind, source: queryAt(url, timeout) },
          ),
          window: 10n,
          timing,
        })
      },
    ),
    offer(config.services, (timing) =>
      services({ exec, names, units, timers, required, lifecycle: starts, timing }),
    ),
    offer(config.lifecycle, (timing) =>
      lifecycle({ listening: listening('lifecycle'), names, units, lifecycle: starts, timing }),
    ),
    offer(config.ledger, (timing) =>
      ledger({
        listening: listening('ledger'),
        names,
        unit: config.ledger.unit,
        ownKey,
        timing,
      }),
    ),
    offer(config.consensus, (timing) =>
      consensus({
        listening: listening('consensus'),
        exec,
        clock,
        names,
        unit: config.consensus.unit,
        timing,
      }),
    ),
    offer(config.storage, (timing) =>
      storage({ read: around.readStorage, recorder, clock, timing }),
    ),
    offer(config.status, (timing) =>
      status({
        read: around.readStatus,
        recorder,
        ownKey,
        servesAsReference: config.references.length === 0,
        timing,
      }),
    ),
  ]
}

const offer = (
  { enabled, interval, timeout }: Timing & { readonly enabled: boolean },
  create: (timing: Timing) => Collector<unknown>,
): Offered => ({ enabled, collector: create({ interval, timeout }) })
