import type { Config } from '../config/schema.ts'
import type { Collector, Timing } from '../core/collector.ts'
import type { Native } from '../sources/native.ts'
import { consensus } from './consensus.ts'
import { derived } from './derived.ts'
import { heartbeat } from './heartbeat.ts'
import { host } from './host.ts'
import { execution } from './execution.ts'
import { keys } from './keys.ts'
import { ledger } from './ledger.ts'
import { lifecycle } from './lifecycle.ts'
import { logs } from './logs.ts'
import { maintenance } from './maintenance.ts'
import { native } from './native.ts'
import { chooseExaminer } from './parts/keys/report.ts'
import { createLifecycle } from './parts/lifecycle/count.ts'
import { createMainPids } from './parts/main-pids.ts'
import { AGREEMENT_WINDOW } from '../core/agreement.ts'
import { createNames } from './parts/names.ts'
import { createOwnKey } from './parts/own-key.ts'
import { createSlotCount } from './parts/derived/slots.ts'
import { reference } from './reference.ts'
import { requestTimeout } from './parts/request.ts'
import { rpc } from './rpc.ts'
import { services } from './services.ts'
import { status } from './status.ts'
import { storage } from './storage.ts'
import { tokens } from './tokens.ts'
import { version } from './version.ts'
import type { Means } from './means.ts'

/** Everything that collectors are made of; agent.ts hands it in. */
interface Surroundings extends Means {
  readonly config: Config
}

export interface Offered {
  readonly collector: Collector<unknown>
  readonly enabled: boolean
  /** What it does: reads of the node, concludes from what the others have read, or tells somebody outside. */
  readonly role: 'reads' | 'concludes' | 'tells'
}

/** Every collector there is. To add one: its file, a line here, its rows in the catalogue, its keys in the schema. */
export const createCollectors = (around: Surroundings): readonly Offered[] => {
  const { config, clock, recorder, exec, journal, checkpoints, readPrefix, rpcAt, queryAt } = around
  const names = createNames(readPrefix)
  const starts = createLifecycle(recorder, Object.keys(config.services.units))
  const listening = (name: string) => ({ journal, recorder, checkpoint: checkpoints.open(name) })
  const { units, timers, required } = config.services
  const { urlFile } = config.heartbeat
  const ownKey = createOwnKey(config.node.publicKey)
  const mainPids = createMainPids()
  const slots = createSlotCount()
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
          references: config.references.map(({ name, url, kind, apiKeyFile }) =>
            kind === 'rpc'
              ? { name, kind, source: rpcAt(url, timeout) }
              : { name, kind, source: queryAt({ url, apiKeyFile }, timeout) },
          ),
          window: AGREEMENT_WINDOW,
          timing,
        })
      },
    ),
    offer(config.services, (timing) =>
      services({ exec, names, units, timers, required, lifecycle: starts, mainPids, timing }),
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
        slots,
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
    offer(config.execution, (timing) =>
      execution({
        listening: listening('execution'),
        exec,
        clock,
        names,
        unit: config.execution.unit,
        timing,
      }),
    ),
    offer(
      // Without units, journalctl would follow those of the whole host.
      { ...config.logs, enabled: config.logs.enabled && Object.keys(config.logs.units).length > 0 },
      (timing) =>
        logs({ ...around, units: config.logs.units, listening: listening('logs'), names, timing }),
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
    offer(
      config.host,
      (timing) => {
        const { ports, directories } = config.host
        const nodeDirectory = config.node.directory
        const own = { mainPids, ports, directories, nodeDirectory, timing }
        return host({ ...around.host, ...own, exec, clock, names })
      },
      'concludes',
    ),
    offer(config.native, (timing) => {
      const at = (url: string): Native => around.nativeAt(url, requestTimeout(timing, 2))
      return native({ ...config.native, at, readPrefix, recorder, clock, timing })
    }),
    offer(config.keys, (timing) =>
      keys({ examine: chooseExaminer({ ...around, places: config.node }), timing }),
    ),
    offer(
      config.version,
      (timing) => version({ ...around, ...config.version, timing }),
      'concludes',
    ),
    offer(
      config.derived,
      (timing) =>
        derived({
          published: around.published,
          slots,
          ownKey,
          blocksyncWindow: config.derived.blocksyncWindow,
          checkpoint: checkpoints.open('derived'),
          timing,
        }),
      'concludes',
    ),
    offer(
      // Without a token it is off. A history is not read in the moment in which somebody asks once.
      { ...config.tokens, enabled: config.tokens.enabled && config.tokens.watch.length > 0 },
      (timing) => tokens({ watch: config.tokens.watch, feedOf: around.tokenFeed, timing }),
      'tells',
    ),
    offer(config.maintenance, (timing) =>
      maintenance({ checkpoint: checkpoints.open('maintenance'), timing }),
    ),
    offer(
      // To nobody is not a failure: without an address the collector is off.
      { ...config.heartbeat, enabled: config.heartbeat.enabled && urlFile !== null },
      (timing) =>
        heartbeat({
          send: around.heartbeatTo(urlFile ?? '', requestTimeout(timing, 1)),
          published: around.published,
          recorder,
          clock,
          timing,
        }),
      'tells',
    ),
  ]
}

const offer = (
  { enabled, interval, timeout }: Timing & { readonly enabled: boolean },
  create: (timing: Timing) => Collector<unknown>,
  role: Offered['role'] = 'reads',
): Offered => ({ enabled, collector: create({ interval, timeout }), role })
