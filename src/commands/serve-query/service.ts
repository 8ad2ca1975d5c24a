import type { Clock } from '../../core/clock.ts'
import { asError } from '../../core/outcome.ts'
import { abortOf } from './ending.ts'
import type { Recorder } from '../../core/recorder.ts'
import { second } from '../../core/units.ts'
import type { Config } from '../../config/schema.ts'
import type { Handler } from '../../exporter/service-server.ts'
import type { Sample } from '../../metrics.ts'
import { createQueryApi, type QueryApi } from '../../query/service/api/api.ts'
import type { Access } from '../../query/service/api/access-control.ts'
import { readChainId } from '../../query/service/ingest/chain-head.ts'
import { createIngest } from '../../query/service/ingest/ingest.ts'
import type { Ingest } from '../../query/service/ingest/state.ts'
import type { LogStore, StoreRange, StoreSize } from '../../query/store/store.ts'
import { createComplaints } from './complaints.ts'
import { createNarrator, type Log } from './narrator.ts'
import { openFor } from './opening.ts'
import type { OpenStore } from './open-store.ts'
import type { Plan } from './plan.ts'
import { waitingFor } from './readiness.ts'
import { countRequests } from './requests.ts'
import { nodeHeight, samplesOf } from './samples.ts'
import { refuseAll } from './unready.ts'

/** What can be changed while the service runs. */
export interface ServiceSettings {
  readonly access: Access
  readonly readyLag: number
}

export interface Parts {
  readonly config: Config
  readonly plan: Plan
  readonly open: OpenStore
  readonly settings: ServiceSettings
  readonly recorder: Recorder
  readonly clock: Clock
  readonly log: Log
}

/** Ingest, store and API of one query service; its listeners are handed what it says. */
export interface Service {
  readonly handle: Handler
  samples(): readonly Sample[]
  waitingFor(): readonly string[]
  /** Budgets of requests start again where access has changed. */
  apply(settings: ServiceSettings): void
  /** Ends when the signal does. Throws where it could not begin. */
  run(signal: AbortSignal): Promise<void>
  /** Once nobody asks any more, and `run` has ended. */
  close(): Promise<void>
}

interface Running {
  readonly store: LogStore
  readonly ingest: Ingest
  /** What was held at the start. */
  readonly held: StoreRange | null
}

const LOOK_EVERY_MS = second
const MEASURE_EVERY_MS = 15 * second

export const createService = (parts: Parts): Service => {
  const { config, plan, recorder, clock, log } = parts
  const { rpc, serveQuery } = config
  const observer = countRequests(recorder)
  let { settings } = parts
  let api: QueryApi | null = null
  let store: LogStore | null = null
  let running: Running | null = null
  let size: StoreSize | null = null
  let measuredAt = -Infinity
  let handle: Handler = refuseAll('starting', observer, clock)

  const held = () => {
    const state = running?.ingest.state()
    const first = state?.first ?? running?.held?.first
    const last = state?.indexed ?? running?.held?.last
    return first === undefined || last === undefined ? null : { first, last }
  }

  const begin = async (opened: LogStore): Promise<Running> => {
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
      onError: createComplaints(log, clock),
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

  const watch = async ({ store: of, ingest }: Running, signal: AbortSignal): Promise<void> => {
    const narrate = createNarrator(log, clock)
    // Each on its own: a store may take its time.
    const again = async (look: () => Promise<void> | void): Promise<void> => {
      while (!signal.aborted) {
        await look()
        await clock.sleep(LOOK_EVERY_MS, signal)
      }
    }
    await Promise.all([again(() => narrate(ingest.state())), again(() => measure(of))])
  }

  const follow = async (ingest: Ingest, signal: AbortSignal): Promise<void> => {
    try {
      await ingest.run(signal)
    } catch (thrown) {
      if (signal.aborted) return
      // What is held may be of another past than the chain's: nobody is to be told of it.
      log.error(`The ingest has stopped, and queries are refused: ${asError(thrown).message}`)
      handle = refuseAll('stopped', observer, clock)
      await abortOf(signal)
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
      const askChainId = (stop: AbortSignal) => readChainId({ rpcUrl: rpc.url, clock }, stop)
      const opened = await openFor({ ...parts, scope: plan.scope, askChainId }, signal)
      if (!opened) return
      const begun = await begin(opened.store)
      const looking = new AbortController()
      const stop = AbortSignal.any([signal, looking.signal])
      const watching = watch(begun, stop)
      try {
        await opened.isOfChain(signal)
        if (!signal.aborted) await follow(begun.ingest, signal)
      } finally {
        looking.abort()
        await watching
      }
    },
    close: async () => {
      await store?.close()
    },
  }
}
