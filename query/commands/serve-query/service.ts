import type { Config } from '../../../src/config/schema.ts'
import { type Clock, linkAbort, waitForAbort } from '../../../src/core/clock.ts'
import type { Recorder, Sample } from '../../../src/core/metric.ts'
import { asError } from '../../../src/core/errors.ts'
import { second } from '../../../src/core/units.ts'
import type { Handler } from '../../../src/exporter/connections.ts'
import type { Reject } from '../../../src/exporter/web.ts'
import type { Access } from '../../service/api/admission.ts'
import { createQueryApi, type QueryApi } from '../../service/api/api.ts'
import type { RequestObserver } from '../../service/api/send.ts'
import { readChainId } from '../../service/ingest/headers.ts'
import { createIngest, type Ingest } from '../../service/ingest/ingest.ts'
import { QUERY_PATHS } from '../../service/metrics.ts'
import type { LogStore, StoreRange, StoreSize } from '../../store/store.ts'
import { openStore, type OpenStore, type StoragePlan } from './open-store.ts'
import {
  createBackfillEstimate,
  createErrorLog,
  createProgressLog,
  createRefusalLog,
  createRequestMetrics,
  type Log,
  recentNodeHeight,
  samplesOf,
  waitingFor,
} from './status.ts'

interface ServiceSettings {
  readonly access: Access
  readonly readyLag: number
}

interface ServiceDependencies {
  readonly config: Config
  readonly plan: StoragePlan
  readonly open: OpenStore
  readonly settings: ServiceSettings
  readonly recorder: Recorder
  readonly clock: Clock
  readonly log: Log
}

/** Until the store is open there is nothing else; after the ingest has failed, queries are rejected. */
type ServiceState = { readonly phase: 'starting' } | (Running & { readonly phase: 'running' | 'stopped' })

interface Running {
  readonly store: LogStore
  readonly ingest: Ingest
  readonly api: QueryApi
  /** Range of the store at the start. */
  readonly held: StoreRange | null
}

const CHECK_EVERY_MS = second
const MEASURE_EVERY_MS = 15 * second

/** Ingest, store and API of one query service; the listeners use it. */
export const createService = (dependencies: ServiceDependencies) => {
  const { config, plan, recorder, clock, log } = dependencies
  const { rpc, serveQuery } = config
  const observer = createRequestMetrics(recorder)
  const estimate = createBackfillEstimate(clock)
  const unavailable = { starting: respond(STARTING, observer, clock), stopped: respond(STOPPED, observer, clock) }
  let { settings } = dependencies
  let state: ServiceState = { phase: 'starting' }
  let measured: { readonly size: StoreSize | null; readonly at: number } = { size: null, at: -Infinity }

  const ingestState = () => (state.phase === 'starting' ? null : state.ingest.state())

  const held = () => {
    if (state.phase === 'starting') return null
    const { first: firstNow, indexed } = state.ingest.state()
    const [first, last] = [firstNow ?? state.held?.first, indexed ?? state.held?.last]
    return first === undefined || last === undefined ? null : { first, last }
  }

  const start = async (store: LogStore): Promise<Running> => {
    const ingest = createIngest({
      rpcUrl: rpc.url,
      store,
      clock,
      scope: plan.scope,
      fromBlock: serveQuery.fromBlock,
      retention: plan.retention,
      behindAfter: serveQuery.behindAfter,
      nodeShare: serveQuery.nodeShare,
      notice: (text) => log.info(text),
      warn: (text) => log.warn(text),
    })
    const api = createQueryApi({
      store,
      scope: plan.scope,
      height: () => held()?.last ?? null,
      dialect: serveQuery.dialect,
      access: settings.access,
      clock,
      observer,
      onError: createErrorLog(log, clock),
      onRefusal: createRefusalLog(log, clock),
    })
    return { store, ingest, api, held: await store.range() }
  }

  const measure = async (store: LogStore): Promise<void> => {
    const isStale = measured.size?.blocks === 0 && held() !== null
    if (clock.elapsed() - measured.at < MEASURE_EVERY_MS && !isStale) return
    const size = await store.size().catch(() => null)
    measured = { size, at: clock.elapsed() }
  }

  const monitor = async ({ store, ingest }: Running, signal: AbortSignal): Promise<void> => {
    const logProgress = createProgressLog(log, clock)
    // Separate loops, since measuring a store may be slow.
    const everySecond = async (check: () => Promise<void> | void): Promise<void> => {
      while (!signal.aborted) {
        await check()
        await clock.sleep(CHECK_EVERY_MS, signal)
      }
    }
    const followProgress = (): void => {
      logProgress(ingest.state())
      estimate.record(ingest.state())
    }
    await Promise.all([everySecond(followProgress), everySecond(() => measure(store))])
  }

  const follow = async (running: Running, signal: AbortSignal): Promise<void> => {
    try {
      await running.ingest.run(signal)
    } catch (thrown) {
      if (signal.aborted) return
      // The stored blocks may be of another fork, so queries are rejected.
      log.error(`The ingest has stopped and queries are rejected: ${asError(thrown).message}`)
      state = { ...running, phase: 'stopped' }
      await waitForAbort(signal)
    }
  }

  return {
    handle: ((request, response) => {
      const handle = state.phase === 'running' ? state.api.handle : unavailable[state.phase]
      handle(request, response)
    }) satisfies Handler,
    reject: (({ status, message, headers = {} }, request, response) => {
      respond({ status, code: REJECTION_CODES[status], message, headers }, observer, clock)(request, response)
    }) satisfies Reject,
    samples: (): readonly Sample[] =>
      samplesOf(
        {
          state: ingestState(),
          held: held(),
          size: measured.size,
          limitBytes: plan.retention.bytes,
          streams: state.phase === 'starting' ? 0 : state.api.streams(),
        },
        clock.now(),
      ),
    backfillEndsAt: estimate.endsAt,
    waitingFor: (): readonly string[] =>
      waitingFor({
        phase: ingestState()?.phase ?? null,
        nodeHeight: recentNodeHeight(ingestState(), clock.now()),
        height: held()?.last ?? null,
        readyLag: settings.readyLag,
        trouble: ingestState()?.trouble ?? null,
      }),
    /** Rate limits restart if the access settings have changed. */
    apply: (next: ServiceSettings): void => {
      if (next.access !== settings.access && state.phase !== 'starting') state.api.setAccess(next.access)
      settings = next
    },
    /** Runs until the signal aborts. Throws if it cannot start. */
    run: async (signal: AbortSignal): Promise<void> => {
      const readNodeChainId = (stop: AbortSignal) => readChainId({ rpcUrl: rpc.url, clock }, stop)
      const opened = await openStore({ ...dependencies, scope: plan.scope, readNodeChainId }, signal)
      if (!opened) return
      const running = await start(opened.store).catch(async (error: unknown) => {
        await opened.store.close()
        throw error
      })
      state = { ...running, phase: 'running' }
      const monitoring = linkAbort(signal)
      const monitorEnd = monitor(running, monitoring.signal)
      try {
        await opened.isOfChain(signal)
        if (!signal.aborted) await follow(running, signal)
      } finally {
        monitoring.abort()
        await monitorEnd
      }
    },
    /** Ends the requests that would not end by themselves. */
    end: (): void => {
      if (state.phase !== 'starting') state.api.end()
    },
    /** Call it after the listeners are closed and `run` has ended. */
    close: async (): Promise<void> => {
      if (state.phase !== 'starting') await state.store.close()
    },
  }
}

/** A response without the work of the API, in its format. */
interface ErrorResponse {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly headers: Readonly<Record<string, string>>
}

const retryAfter = (seconds: number, code: string, message: string): ErrorResponse => ({
  status: 503,
  code,
  message,
  headers: { 'Retry-After': `${seconds}` },
})

const STARTING = retryAfter(1, 'starting', 'the service is starting')
const STOPPED = retryAfter(30, 'stopped', 'the service no longer follows the chain; see its log')

/** Codes of requests that do not reach the API. */
const REJECTION_CODES: Readonly<Record<Parameters<Reject>[0]['status'], string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  417: 'bad_request',
  421: 'misdirected',
  500: 'internal',
  503: 'busy',
}

/** Responds without reading the request. */
const respond = (
  { status, code, message, headers }: ErrorResponse,
  observer: RequestObserver,
  clock: Clock,
): Handler => {
  const body = Buffer.from(`${JSON.stringify({ error: { code, message, path: null } })}\n`)
  return (request, response) => {
    const startedAt = clock.elapsed()
    const [pathname = ''] = (request.url ?? '').split('?')
    response.once('close', () => {
      observer.requestFinished({
        path: QUERY_PATHS.find((path) => path === pathname) ?? 'other',
        code: status,
        seconds: (clock.elapsed() - startedAt) / second,
        bytes: body.length,
        logs: 0,
      })
    })
    response.writeHead(status, {
      ...headers,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
      // An unread request body would be parsed as the next request.
      Connection: 'close',
    })
    response.end(body)
  }
}
