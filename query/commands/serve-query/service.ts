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

/** Settings that a reload applies. */
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

interface Running {
  readonly store: LogStore
  readonly ingest: Ingest
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
      warn: (text) => {
        log.warn(text)
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
      onRefusal: createRefusalLog(log, clock),
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
    const followProgress = (): void => {
      logProgress(ingest.state())
      estimate.record(ingest.state())
    }
    await Promise.all([everySecond(followProgress), everySecond(() => measure(of))])
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
    handle: ((request, response) => {
      handle(request, response)
    }) satisfies Handler,
    reject: ((rejection, request, response) => {
      const { status, headers = {} } = rejection
      respond(
        { status, error: { code: REJECTION_CODES[status], message: rejection.message }, headers },
        { observer, clock },
      )(request, response)
    }) satisfies Reject,
    samples: (): readonly Sample[] =>
      samplesOf(
        {
          state: running?.ingest.state() ?? null,
          held: held(),
          size,
          limitBytes: plan.retention === 'unbounded' ? null : (plan.retention.bytes ?? null),
          streams: api?.streams() ?? 0,
        },
        clock.now(),
      ),
    backfillEndsAt: estimate.endsAt,
    waitingFor: (): readonly string[] =>
      waitingFor({
        phase: running?.ingest.state().phase ?? null,
        nodeHeight: recentNodeHeight(running?.ingest.state() ?? null, clock.now()),
        height: held()?.last ?? null,
        readyLag: settings.readyLag,
        trouble: running?.ingest.state().trouble ?? null,
      }),
    /** Rate limits restart if the access settings have changed. */
    apply: (next: ServiceSettings): void => {
      if (next.access !== settings.access) api?.setAccess(next.access)
      settings = next
    },
    /** Runs until the signal aborts. Throws if it cannot start. */
    run: async (signal: AbortSignal): Promise<void> => {
      const readNodeChainId = (stop: AbortSignal) => readChainId({ rpcUrl: rpc.url, clock }, stop)
      const opened = await openStore({ ...dependencies, scope: plan.scope, readNodeChainId }, signal)
      if (!opened) return
      const started = await start(opened.store)
      const monitoring = linkAbort(signal)
      const monitorEnd = monitor(started, monitoring.signal)
      try {
        await opened.isOfChain(signal)
        if (!signal.aborted) await follow(started.ingest, signal)
      } finally {
        monitoring.abort()
        await monitorEnd
      }
    },
    /** Ends the requests that would not end by themselves. */
    end: (): void => {
      api?.end()
    },
    /** Call it after the listeners are closed and `run` has ended. */
    close: async (): Promise<void> => {
      await store?.close()
    },
  }
}

const MESSAGES = {
  starting: 'the service is starting',
  stopped: 'the service no longer follows the chain; see its log',
} as const

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

/** Responds to every request with status 503, in the format of the API. */
const respondUnavailable = (code: keyof typeof MESSAGES, observer: RequestObserver, clock: Clock): Handler =>
  respond(
    {
      status: 503,
      error: { code, message: MESSAGES[code] },
      headers: { 'Retry-After': code === 'starting' ? '1' : '30' },
    },
    { observer, clock },
  )

interface ErrorResponse {
  readonly status: number
  readonly error: { readonly code: string; readonly message: string }
  readonly headers: Readonly<Record<string, string>>
}

/** Responds in the format of the API, without reading the request. */
const respond = (
  { status, error, headers }: ErrorResponse,
  { observer, clock }: { readonly observer: RequestObserver; readonly clock: Clock },
): Handler => {
  const body = Buffer.from(`${JSON.stringify({ error: { ...error, path: null } })}\n`)
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
