import type { Config } from '../config/schema.ts'
import type { Collector, Timing } from '../core/collector.ts'
import type { MetricsEndpoint } from '../sources/endpoints.ts'
import { consensus } from './consensus/collector.ts'
import { derived } from './derived/collector.ts'
import { heartbeat } from './heartbeat/collector.ts'
import { host } from './host/collector.ts'
import { execution } from './execution/collector.ts'
import { keys } from './keys/collector.ts'
import { ledger } from './ledger/collector.ts'
import { lifecycle } from './lifecycle/collector.ts'
import { logs } from './logs/collector.ts'
import { maintenance } from './maintenance/collector.ts'
import { native } from './native/collector.ts'
import { chooseExaminer } from './keys/report.ts'
import { createLifecycle, type Lifecycle } from './lifecycle/count.ts'
import { createMainPids } from './shared/main-pids.ts'
import { AGREEMENT_WINDOW } from '../core/agreement.ts'
import { createMemoizeLast } from '../core/memoize-last.ts'
import { createNames, createReadPath, type Names } from './shared/names.ts'
import { createOwnKey, type OwnKey } from './shared/own-key.ts'
import { createDuties } from './derived/duties.ts'
import { createSlotCount } from './derived/slots.ts'
import { reference } from './reference/collector.ts'
import { requestTimeout } from './shared/request.ts'
import { rpc } from './rpc/collector.ts'
import { services } from './services/collector.ts'
import { status } from './status/collector.ts'
import { storage } from './storage/collector.ts'
import { tokens } from './tokens/collector.ts'
import { version } from './version/collector.ts'
import type { Means } from './dependencies.ts'

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

type CollectorName = {
  [Key in keyof Config]: Config[Key] extends Timing & { readonly enabled: boolean } ? Key : never
}[keyof Config]

interface Offer {
  /** What it uses besides its own section of the configuration and what is the same in every configuration. */
  readonly uses?: readonly unknown[]
  /** Whether there is anything to do. A collector without work is off, not failing. */
  readonly hasWork?: boolean
  readonly role?: Offered['role']
}

/**
 * Every collector there is. To add one: its file, an entry here, its rows in the catalogue, its keys in the schema.
 *
 * The function that it returns can be called again for another configuration. It returns the same collector
 * where nothing that the collector uses has changed, and a new one where something has. What several collectors
 * share is kept, so that those that keep running and those that are replaced still work on the same data.
 */
export const createCollectors = (): ((around: Surroundings) => readonly Offered[]) => {
  const namesFor = createMemoizeLast<Names>()
  const startsFor = createMemoizeLast<Lifecycle>()
  const ownKeyFor = createMemoizeLast<OwnKey>()
  const collectorsFor = new Map<string, ReturnType<typeof createMemoizeLast<Collector<unknown>>>>()
  const mainPids = createMainPids()
  const slots = createSlotCount()
  const duties = createDuties()

  return (around) => {
    const { config, clock, recorder, exec, journal, checkpoints, readPrefix, rpcAt, queryAt } =
      around
    const { units, timers, required } = config.services
    const { urlFile } = config.heartbeat
    const { publicKey, ...places } = config.node
    const labels = Object.keys(units)
    const names = namesFor([readPrefix], () => createNames(readPrefix))
    const starts = startsFor([labels], () => createLifecycle(recorder, labels))
    const ownKey = ownKeyFor([publicKey], () => createOwnKey(publicKey))
    const servesAsReference = config.references.length === 0
    const listening = (name: string) => ({ journal, recorder, checkpoint: checkpoints.open(name) })

    const offer = (
      name: CollectorName,
      create: (timing: Timing) => Collector<unknown>,
      { uses = [], hasWork = true, role = 'reads' }: Offer = {},
    ): Offered => {
      const { enabled, interval, timeout } = config[name]
      const reuse = collectorsFor.get(name) ?? createMemoizeLast<Collector<unknown>>()
      collectorsFor.set(name, reuse)
      return {
        enabled: enabled && hasWork,
        collector: reuse([config[name], ...uses], () => create({ interval, timeout })),
        role,
      }
    }

    return [
      offer('rpc', (timing) =>
        rpc({ node: rpcAt(config.rpc.url, requestTimeout(timing, 2)), recorder, clock, timing }),
      ),
      offer(
        'reference',
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
        { uses: [config.references, config.rpc.url], hasWork: config.references.length > 0 },
      ),
      offer(
        'services',
        (timing) =>
          services({ exec, names, units, timers, required, lifecycle: starts, mainPids, timing }),
        { uses: [names, starts] },
      ),
      offer(
        'lifecycle',
        (timing) =>
          lifecycle({ listening: listening('lifecycle'), names, units, lifecycle: starts, timing }),
        { uses: [names, starts, units] },
      ),
      offer(
        'ledger',
        (timing) =>
          ledger({
            listening: listening('ledger'),
            names,
            unit: config.ledger.unit,
            ownKey,
            slots,
            timing,
          }),
        { uses: [names, ownKey] },
      ),
      offer(
        'consensus',
        (timing) =>
          consensus({
            listening: listening('consensus'),
            exec,
            clock,
            names,
            unit: config.consensus.unit,
            timing,
          }),
        { uses: [names] },
      ),
      offer(
        'execution',
        (timing) =>
          execution({
            listening: listening('execution'),
            exec,
            clock,
            names,
            unit: config.execution.unit,
            timing,
          }),
        { uses: [names] },
      ),
      offer(
        'logs',
        (timing) =>
          logs({
            ...around,
            units: config.logs.units,
            listening: listening('logs'),
            names,
            timing,
          }),
        // Without units, journalctl would follow those of the whole host.
        { uses: [names], hasWork: Object.keys(config.logs.units).length > 0 },
      ),
      offer('storage', (timing) => storage({ read: around.readStorage, recorder, clock, timing }), {
        uses: [readPrefix],
      }),
      offer(
        'status',
        (timing) =>
          status({ read: around.readStatus, recorder, ownKey, servesAsReference, timing }),
        { uses: [readPrefix, ownKey, servesAsReference] },
      ),
      offer(
        'host',
        (timing) => {
          const { ports, directories } = config.host
          const own = { mainPids, ports, directories, nodeDirectory: places.directory, timing }
          const readPath = createReadPath(readPrefix, around.keyFiles)
          return host({ ...around.host, ...own, exec, clock, readPath })
        },
        { uses: [readPrefix, places.directory], role: 'concludes' },
      ),
      offer(
        'native',
        (timing) => {
          const at = (url: string): MetricsEndpoint =>
            around.nativeAt(url, requestTimeout(timing, 2))
          return native({ ...config.native, at, readPrefix, recorder, clock, timing })
        },
        { uses: [readPrefix] },
      ),
      offer('keys', (timing) => keys({ examine: chooseExaminer({ ...around, places }), timing }), {
        uses: [readPrefix, places],
      }),
      offer('version', (timing) => version({ ...around, ...config.version, timing }), {
        uses: [readPrefix, around.forks],
        role: 'concludes',
      }),
      offer(
        'derived',
        (timing) =>
          derived({
            published: around.published,
            slots,
            duties,
            ownKey,
            blocksyncWindow: config.derived.blocksyncWindow,
            checkpoint: checkpoints.open('derived'),
            timing,
          }),
        { uses: [ownKey], role: 'concludes' },
      ),
      offer(
        'tokens',
        (timing) => tokens({ watch: config.tokens.watch, feedOf: around.tokenFeed, timing }),
        // A single check does not read a history.
        { hasWork: config.tokens.watch.length > 0, role: 'tells' },
      ),
      offer('maintenance', (timing) =>
        maintenance({ checkpoint: checkpoints.open('maintenance'), timing }),
      ),
      offer(
        'heartbeat',
        (timing) =>
          heartbeat({
            send: around.heartbeatTo(urlFile ?? '', requestTimeout(timing, 1)),
            published: around.published,
            recorder,
            clock,
            timing,
          }),
        { hasWork: urlFile !== null, role: 'tells' },
      ),
    ]
  }
}
