import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ConfigurationReader } from '../../../src/config/load.ts'
import type { Config } from '../../../src/config/schema.ts'
import { type Clock, endsWithin, waitForAbort, watchEventLoop } from '../../../src/core/clock.ts'
import { asError, SourceError } from '../../../src/core/errors.ts'
import type { Recorder, Sample } from '../../../src/core/metric.ts'
import { version } from '../../../src/core/package.ts'
import { createReloader, memoizeLast, type Reloaded } from '../../../src/core/reload.ts'
import { Secret } from '../../../src/core/redaction/secret.ts'
import { second } from '../../../src/core/units.ts'
import type { Handler } from '../../../src/exporter/connections.ts'
import { createExposition } from '../../../src/exporter/exposition.ts'
import type { ListeningServer } from '../../../src/exporter/listen.ts'
import { serveOperations, serveRequests } from '../../../src/exporter/monitoring.ts'
import { type Address, type Reject, startWeb, UNAUTHENTICATED } from '../../../src/exporter/web.ts'
import { readSecretLines } from '../../../src/sources/credential-file.ts'
import type { Access } from '../../service/api/admission.ts'
import { createQueryApi, errorReply, type QueryApi } from '../../service/api/api.ts'
import { HttpError, retryLater } from '../../service/api/http-error.ts'
import { API_MAX_CONNECTIONS, apiServerOptions, QUERY_LIMITS } from '../../service/api/limits.ts'
import { createSenders, type Reply } from '../../service/api/send.ts'
import { readChainId } from '../../service/ingest/headers.ts'
import { createIngest, type Ingest } from '../../service/ingest/ingest.ts'
import { QUERY_PATHS, serviceMetrics } from '../../service/metrics.ts'
import type { LogStore, StoreSize } from '../../store/store.ts'
import {
  checkStore,
  createOpenStore,
  describePlan,
  type OpenStore,
  openStore,
  planOf,
  type StoragePlan,
} from './open-store.ts'
import { renderServicePage } from './page.ts'
import {
  createBackfillEstimate,
  createErrorLog,
  createProgressLog,
  createRefusalLog,
  createRequestMetrics,
  type Log,
  samplesOf,
  waitingFor,
} from './status.ts'

interface ServeQueryOptions {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log & { level: string }
  readonly reloads?: Reloads
  readonly signal: AbortSignal
  /** Replaces the configured store in tests. */
  readonly open?: OpenStore
}

interface Reloads extends Pick<ConfigurationReader, 'changedKeys'> {
  /** Registers a callback for each request to reload the configuration. */
  readonly on: (listener: () => void) => void
  readonly read: () => Config
}

/** Indexes the chain of the node and serves queries until the signal aborts. Throws if it cannot start. */
export const serveQuery = async (options: ServeQueryOptions): Promise<void> => {
  const { config, clock, log, signal, reloads } = options
  const { listen, metricsListen } = config.serveQuery
  const plan = planOf(config)
  const readAccess = createReadAccess()
  const access = await readAccess(config.serveQuery)
  const exposition = createExposition(
    (message) => {
      log.error(message)
    },
    { catalogue: serviceMetrics },
  )
  const service = createService({
    config,
    plan,
    settings: { access, readyLag: config.serveQuery.readyLag },
    clock,
    log,
    recorder: exposition.recorder,
    open: options.open ?? createOpenStore(config.serveQuery, clock),
  })
  const reloader = createReloader({ clock, log, program: 'query service' })
  const web = await startWeb({ config: config.web, clock, log, reloader })
  const warnIfOpen = ({ keys }: Access): void => {
    if (keys.length > 0 || web.exposure(listen) !== UNAUTHENTICATED) return
    log.warn('This listener is unauthenticated; use --api-keys-file to require API keys')
  }
  let current = { config, access }
  const apply = async ({ changedKeys }: Reloads, next: Config): Promise<Reloaded> => {
    planOf(next)
    const { apiKeysFile, rateLimit, readyLag } = next.serveQuery
    const effective = {
      ...current.config,
      log: next.log,
      serveQuery: { ...current.config.serveQuery, apiKeysFile, rateLimit, readyLag },
    }
    const nextAccess = await readAccess(effective.serveQuery)
    log.level = effective.log.level
    service.apply({ access: nextAccess, readyLag })
    if (nextAccess !== current.access) warnIfOpen(nextAccess)
    const changed = changedKeys(current.config, effective)
    // Only the content of the key file has changed, not its path.
    const hasOtherKeys = nextAccess !== current.access && !changed.some((key) => ACCESS_KEYS.test(key))
    current = { config: effective, access: nextAccess }
    return {
      applied: [...changed, ...(hasOtherKeys ? ['serveQuery.apiKeysFile'] : [])],
      pending: changedKeys(effective, next).filter((key) => SERVICE_KEYS.test(key)),
    }
  }
  reloads?.on(() => {
    void reloader.run(async () => apply(reloads, reloads.read())).then(web.reload)
  })

  const operations = await serveOperations(
    {
      contentType: exposition.contentType,
      clock,
      metrics: () => exposition.render([...service.samples(), ...reloader.samples()]),
      waitingFor: service.waitingFor,
      page: async () =>
        renderServicePage({
          version,
          now: clock.now(),
          service: service.state(),
          values: await exposition.values(service.samples()),
          waitingFor: service.waitingFor(),
          backfillEndsAt: service.backfillEndsAt(),
        }),
      complain: (error) => {
        log.error(error.stack ?? error.message)
      },
    },
    metricsListen,
    web,
  )
  const api = await serveRequests({
    address: listen,
    options: apiServerOptions,
    maxConnections: API_MAX_CONNECTIONS,
    handler: service.handle,
    reject: service.reject,
    // A client cannot send a key and a password in one header.
    isAuthenticated: () => current.access.keys.length > 0,
    web,
  }).catch(async (error: unknown) => {
    await operations.close()
    throw error
  })
  const urlOf = ({ host, port }: Address): string =>
    `${web.scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
  try {
    if (!options.open) await checkStore(config.serveQuery)
  } catch (error) {
    await Promise.all([api.close(), operations.close()])
    throw error
  }
  log.info(
    `Serving ${urlOf(api.address)}/query, /query/arrow-ipc and /height, ${urlOf(operations.address)}/metrics; ` +
      `keeping ${describePlan(plan)}`,
  )
  warnIfOpen(access)
  web.warnIfExposed(metricsListen)

  const stop = new AbortController()
  const watching = [
    web.watch(stop.signal),
    watchEventLoop(stop.signal, (seconds) => {
      exposition.recorder.observe('chain_agent_event_loop_delay_seconds', seconds)
    }),
  ]
  const running = service.run(stop.signal)
  const end = async (): Promise<void> => {
    stop.abort()
    service.end()
    await Promise.all([drain(api, clock), running.catch(() => undefined), ...watching, reloader.stop()])
    await service.close()
    await operations.close()
  }
  try {
    await Promise.race([running, waitForAbort(signal)])
  } finally {
    if (signal.aborted) log.info('Stopping')
    await withShutdownTimeout(clock, end())
  }
}

const ACCESS_KEYS = /^serveQuery\.(?:apiKeysFile|rateLimit)$/
/** Keys that the service uses, in addition to those that it applies. */
const SERVICE_KEYS = /^(?:serveQuery\.|web\.|rpc\.url$)/

/** Characters that an HTTP header can carry, and a length that prevents guessing. */
const KEY = /^[\x21-\x7e]{16,512}$/

/**
 * Reads API keys, one per line; lines with `#` are comments. Throws a SourceError that names the line but not its
 * content.
 */
export const readApiKeys = async (file: string): Promise<readonly Secret[]> => {
  const refuse = (happened: string): SourceError =>
    new SourceError({
      doing: `read the API keys in ${file}`,
      happened,
      advice:
        'write one key per line, for example the output of `openssl rand -hex 32`; lines that begin with # are comments',
    })
  const lines = await readSecretLines(file, 'API keys')
  const keys = lines.flatMap((line, index) => {
    if (line === '' || line.startsWith('#')) return []
    if (KEY.test(line)) return [line]
    throw refuse(`line ${index + 1} is not a valid key: use 16 to 512 printable ASCII characters without spaces`)
  })
  if (keys.length === 0) throw refuse('the file has no keys')
  return [...new Set(keys)].map((key) => new Secret(key))
}

/** Reads the API keys; returns the same object as long as keys and rate limit are unchanged. */
const createReadAccess = () => {
  const accessFor = memoizeLast((keys: readonly string[], requestsPerMinute: Access['requestsPerMinute']): Access => ({
    keys: keys.map((key) => new Secret(key)),
    requestsPerMinute,
  }))
  return async ({
    apiKeysFile,
    rateLimit,
  }: Pick<Config['serveQuery'], 'apiKeysFile' | 'rateLimit'>): Promise<Access> => {
    const keys = apiKeysFile === null ? [] : await readApiKeys(apiKeysFile)
    return accessFor(
      keys.map((key) => key.reveal()),
      rateLimit,
    )
  }
}

/** Time for open requests to finish before they are closed, in milliseconds. */
const DRAIN_TIMEOUT_MS = 5 * second
/** Time limit of the whole shutdown, in milliseconds; systemd waits longer before it kills the process. */
const SHUTDOWN_TIMEOUT_MS = 20 * second

/** Waits for open requests, up to the limit, and closes the listener. */
const drain = async (listener: ListeningServer, clock: Clock): Promise<void> => {
  await endsWithin(clock, DRAIN_TIMEOUT_MS, listener.drain())
  await listener.close()
}

/** Throws a SourceError if the shutdown takes too long. */
export const withShutdownTimeout = async (clock: Clock, ending: Promise<void>): Promise<void> => {
  if (await endsWithin(clock, SHUTDOWN_TIMEOUT_MS, ending)) return
  throw new SourceError({
    doing: 'stop gracefully',
    happened: `it took longer than ${SHUTDOWN_TIMEOUT_MS / second} s`,
    advice: 'acknowledged blocks are in the store; unfinished writes are not',
  })
}

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
  readonly ingest: Ingest
  readonly api: QueryApi
}

const CHECK_EVERY_MS = second
const MEASURE_EVERY_MS = 15 * second

/** Ingest, store and API of one query service; the listeners use it. */
const createService = (dependencies: ServiceDependencies) => {
  const { config, plan, recorder, clock, log } = dependencies
  const observer = createRequestMetrics(recorder)
  const estimate = createBackfillEstimate(clock)
  const createSender = createSenders(QUERY_LIMITS, observer, clock)
  let { settings } = dependencies
  let store: LogStore | undefined
  /** Undefined until the store is open. */
  let running: Running | undefined
  /** The ingest has failed: queries are rejected. */
  let hasStopped = false
  let measured: { readonly size: StoreSize | null; readonly at: number } = { size: null, at: -Infinity }

  const ingestState = () => running?.ingest.state() ?? null
  /** Measured while the store was empty, it is outdated once the store has blocks. */
  const isOutdated = () => measured.size?.blocks === 0 && (ingestState()?.indexed ?? null) !== null
  const serviceState = () => ({
    state: ingestState(),
    size: isOutdated() ? null : measured.size,
    limitBytes: plan.retention.bytes,
    streams: running?.api.streams() ?? 0,
  })

  const start = async (opened: LogStore): Promise<Running> => {
    const ingest = createIngest({
      ...config.serveQuery,
      ...plan,
      rpcUrl: config.rpc.url,
      store: opened,
      held: await opened.range(),
      clock,
      notice: (text) => log.info(text),
      warn: (text) => log.warn(text),
    })
    const api = createQueryApi({
      store: opened,
      scope: plan.scope,
      height: () => ingest.state().indexed,
      dialect: config.serveQuery.dialect,
      access: settings.access,
      clock,
      observer,
      onError: createErrorLog(log, clock),
      onRefusal: createRefusalLog(log, clock),
    })
    return { ingest, api }
  }

  const measure = async (opened: LogStore): Promise<void> => {
    if (clock.elapsed() - measured.at < MEASURE_EVERY_MS && !isOutdated()) return
    const size = await opened.size().catch(() => null)
    measured = { size, at: clock.elapsed() }
  }

  const monitor = async (opened: LogStore, ingest: Ingest, signal: AbortSignal): Promise<void> => {
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
    await Promise.all([everySecond(followProgress), everySecond(() => measure(opened))])
  }

  const follow = async (ingest: Ingest, signal: AbortSignal): Promise<void> => {
    try {
      await ingest.run(signal)
    } catch (thrown) {
      if (signal.aborted) return
      // The stored blocks may be of another fork, so queries are rejected.
      log.error(`The ingest has stopped and queries are rejected: ${asError(thrown).message}`)
      hasStopped = true
      await waitForAbort(signal)
    }
  }

  /** Responds without reading the request. */
  const respond = (reply: Reply, request: IncomingMessage, response: ServerResponse): void => {
    const [pathname = ''] = (request.url ?? '').split('?')
    const path = QUERY_PATHS.find((one) => one === pathname) ?? 'other'
    // An unread request body would be parsed as the next request.
    const headers = { ...reply.headers, connection: 'close' }
    void createSender(path, request, response).send({ ...reply, headers })
  }

  return {
    handle: ((request, response) => {
      if (running && !hasStopped) running.api.handle(request, response)
      else respond(running ? STOPPED : STARTING, request, response)
    }) satisfies Handler,
    reject: (({ status, message, headers = {} }, request, response) => {
      const reply = errorReply(new HttpError(REJECTION_CODES[status], message, { headers }))
      respond({ ...reply, status }, request, response)
    }) satisfies Reject,
    state: serviceState,
    samples: (): readonly Sample[] => samplesOf(serviceState(), clock.now()),
    backfillEndsAt: estimate.endsAt,
    waitingFor: () => waitingFor(ingestState(), settings.readyLag, clock.now()),
    /** Rate limits restart if the access settings have changed. */
    apply: (next: ServiceSettings): void => {
      if (next.access !== settings.access) running?.api.setAccess(next.access)
      settings = next
    },
    /** Runs until the signal aborts. Throws if it cannot start. */
    run: async (signal: AbortSignal): Promise<void> => {
      const readNodeChainId = (stop: AbortSignal) => readChainId({ rpcUrl: config.rpc.url, clock }, stop)
      store = await openStore({ ...dependencies, scope: plan.scope, readNodeChainId }, signal)
      if (!store) return
      running = await start(store)
      await Promise.all([monitor(store, running.ingest, signal), follow(running.ingest, signal)])
    },
    /** Ends the requests that would not end by themselves. */
    end: (): void => running?.api.end(),
    /** Call it after the listeners are closed and `run` has ended. */
    close: async (): Promise<void> => store?.close(),
  }
}

const STARTING = errorReply(retryLater('starting', 'the service is starting', 1))
const STOPPED = errorReply(retryLater('stopped', 'the service no longer follows the chain; see its log', 30))

/** Codes of requests that do not reach the API. */
const REJECTION_CODES = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  417: 'bad_request',
  421: 'misdirected',
  500: 'internal',
  503: 'busy',
} as const
