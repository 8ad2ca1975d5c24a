import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { asError } from '../../core/outcome.ts'
import type { Recorder } from '../../core/recorder.ts'
import { second } from '../../core/units.ts'
import type { Handler } from '../../exporter/server.ts'
import type { Sample } from '../../core/metric.ts'
import type { Access } from '../../query/service/api/access-control.ts'
import { createQueryApi, type QueryApi } from '../../query/service/api/api.ts'
import { readChainId } from '../../query/service/ingest/chain-head.ts'
import { createIngest } from '../../query/service/ingest/ingest.ts'
import type { Ingest } from '../../query/service/ingest/state.ts'
import type { LogStore, StoreRange, StoreSize } from '../../query/store/store.ts'
import { createErrorLog, createProgressLog, type Log } from './logging.ts'
import { openStore, type OpenStore } from './open-store.ts'
import type { StoragePlan } from './plan.ts'
import { waitForAbort } from './shutdown.ts'
import { createRequestMetrics, nodeHeight, samplesOf, waitingFor } from './status.ts'
import { respondUnavailable } from './unavailable.ts'

/** Settings that a reload applies. */
export interface ServiceSettings {
  readonly access: Access
  readonly readyLag: number
}

export interface ServiceDependencies {
  readonly config: Config
  readonly plan: StoragePlan
  readonly open: OpenStore
  readonly settings: ServiceSettings
  readonly recorder: Recorder
  readonly clock: Clock
  readonly log: Log
}

/** Ingest, store and API of one query service; the listeners use it. */
export interface Service {
  readonly handle: Handler
  samples(): readonly Sample[]
  waitingFor(): readonly string[]
  /** Rate limits restart if the access settings have changed. */
  apply(settings: ServiceSettings): void
  /** Runs until the signal aborts. Throws if it cannot start. */
  run(signal: AbortSignal): Promise<void>
  /** Call it after the listeners are closed and `run` has ended. */
  close(): Promise<void>
}

interface Running {
  readonly store: LogStore
  readonly ingest: Ingest
  /** Range of the store at the start. */
  readonly held: StoreRange | null
}

const CHECK_EVERY_MS = second
const MEASURE_EVERY_MS = 15 * second

export const createService = (dependencies: ServiceDependencies): Service => {
  const { config, plan, recorder, clock, log } = dependencies
  const { rpc, serveQuery } = config
  const observer = createRequestMetrics(recorder)
  let { settings } = dependencies
  let api: QueryApi | null = null
  let store: LogStore | null = null
  let running: Running | null = null
  let size: StoreSize | null = null
  let measuredAt = -Infinity
  let handle: Handler = respondUnavailable('starting', observer, clock)

  const held = () => {
    const state = running?.ingest.state()
    const first = state?.first ?? running?.held?.first
    const last = state?.indexed ?? running?.held?.last
    return first === undefined || last === undefined ? null : { first, last }
  }

  const start = async (opened: LogStore): Promise<Running> => {
    store = opened
    const ingest = createIngest({
      rpcUrl: rpc.url,
      store: opened,
      clock,
      scope: plan.scope,
      fromBlock: serveQuery.fromBlock,
      retention: plan.retention,
      behindAfter: serveQuery.behindAfter,
      nodeShare: serveQuery.nodeShare,
      notice: (text) => {
        log.info(text)
      },
    })
    running = { store: opened, ingest, held: await opened.range() }
    api = createQueryApi({
      store: opened,
      scope: plan.scope,
      height: () => held()?.last ?? null,
      dialect: serveQuery.dialect,
      access: settings.access,
      clock,
      observer,
      onError: createErrorLog(log, clock),
    })
    handle = api.handle
    return running
  }

  const measure = async (of: LogStore): Promise<void> => {
    const isStale = size?.blocks === 0 && held() !== null
    if (clock.elapsed() - measuredAt < MEASURE_EVERY_MS && !isStale) return
    size = await of.size().catch(() => null)
    measuredAt = clock.elapsed()
  }

  const monitor = async ({ store: of, ingest }: Running, signal: AbortSignal): Promise<void> => {
    const logProgress = createProgressLog(log, clock)
    // Separate loops, since measuring a store may be slow.
    const everySecond = async (check: () => Promise<void> | void): Promise<void> => {
      while (!signal.aborted) {
        await check()
        await clock.sleep(CHECK_EVERY_MS, signal)
      }
    }
    await Promise.all([everySecond(() => logProgress(ingest.state())), everySecond(() => measure(of))])
  }

  const follow = async (ingest: Ingest, signal: AbortSignal): Promise<void> => {
    try {
      await ingest.run(signal)
    } catch (thrown) {
      if (signal.aborted) return
      // The stored blocks may be of another fork, so queries are rejected.
      log.error(`The ingest has stopped and queries are rejected: ${asError(thrown).message}`)
      handle = respondUnavailable('stopped', observer, clock)
      await waitForAbort(signal)
    }
  }

  return {
    handle: (request, response) => {
      handle(request, response)
    },
    samples: () =>
      samplesOf(
        {
          state: running?.ingest.state() ?? null,
          held: held(),
          size,
          limitBytes: plan.retention === 'unbounded' ? null : (plan.retention.bytes ?? null),
        },
        clock.now(),
      ),
    waitingFor: () =>
      waitingFor({
        phase: running?.ingest.state().phase ?? null,
        nodeHeight: nodeHeight(running?.ingest.state() ?? null, clock.now()),
        height: held()?.last ?? null,
        readyLag: settings.readyLag,
      }),
    apply: (next) => {
      if (next.access !== settings.access) api?.setAccess(next.access)
      settings = next
    },
    run: async (signal) => {
      const readNodeChainId = (stop: AbortSignal) => readChainId({ rpcUrl: rpc.url, clock }, stop)
      const opened = await openStore({ ...dependencies, scope: plan.scope, readNodeChainId }, signal)
      if (!opened) return
      const started = await start(opened.store)
      const monitoring = new AbortController()
      const stop = AbortSignal.any([signal, monitoring.signal])
      const monitorEnd = monitor(started, stop)
      try {
        await opened.isOfChain(signal)
        if (!signal.aborted) await follow(started.ingest, signal)
      } finally {
        monitoring.abort()
        await monitorEnd
      }
    },
    close: async () => {
      await store?.close()
    },
  }
}
