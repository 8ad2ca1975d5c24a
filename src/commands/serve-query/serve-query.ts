import { changedKeys } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { createReloader, type Reloaded } from '../../core/reload.ts'
import { createMemoizeLast } from '../../core/memoize-last.ts'
import type { Address } from '../../exporter/listen.ts'
import { createExposition } from '../../exporter/exposition.ts'
import { serveOperations, serveRequests } from '../../exporter/service-server.ts'
import { serviceMetrics } from '../../metrics.ts'
import type { Access } from '../../query/service/api/api.ts'
import { API_MAX_CONNECTIONS, apiServerOptions } from '../../query/service/api/limits.ts'
import { abortOf, drained, inTime } from './ending.ts'
import { readApiKeys } from './keys-file.ts'
import type { Log } from './narrator.ts'
import { checkStore, type OpenStore, storeAt } from './open-store.ts'
import { planOf, wordsOf } from './plan.ts'
import { createService } from './service.ts'

interface Options {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log & { level: string }
  readonly reloads?: Reloads
  readonly signal: AbortSignal
  /** Another store than the one that is configured: in a test. */
  readonly open?: OpenStore
}

interface Reloads {
  /** Registers what runs on each request to reload the configuration. */
  readonly on: (listener: () => void) => void
  readonly read: () => Config
}

/** Indexes the chain of the node and answers queries until the signal aborts. Throws where it cannot begin. */
export const serveQuery = async (options: Options): Promise<void> => {
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
    open: options.open ?? storeAt(config.serveQuery, clock),
  })
  const reloader = createReloader({ clock, log, program: 'query service' })
  const warnIfOpen = ({ keys }: Access): void => {
    if (keys.length > 0 || isLoopback(listen)) return
    log.warn('This listener is unauthenticated; use --api-keys-file to require API keys')
  }
  let current = { config, access }
  const apply = async (next: Config): Promise<Reloaded> => {
    planOf(next)
    const { apiKeysFile, rateLimit, readyLag } = next.serveQuery
    const inForce = {
      ...current.config,
      log: next.log,
      serveQuery: { ...current.config.serveQuery, apiKeysFile, rateLimit, readyLag },
    }
    const nextAccess = await readAccess(inForce.serveQuery)
    log.level = inForce.log.level
    service.apply({ access: nextAccess, readyLag })
    if (nextAccess !== current.access) warnIfOpen(nextAccess)
    const changed = changedKeys(current.config, inForce)
    // The keys in the file have changed, and its path has not.
    const hasOtherKeys = nextAccess !== current.access && !changed.some((key) => ACCESS.test(key))
    current = { config: inForce, access: nextAccess }
    return {
      applied: [...changed, ...(hasOtherKeys ? ['serveQuery.apiKeysFile'] : [])],
      pending: changedKeys(inForce, next).filter((key) => OF_SERVICE.test(key)),
    }
  }
  reloads?.on(() => {
    void reloader.run(async () => apply(reloads.read()))
  })

  const operations = await serveOperations(
    {
      contentType: exposition.contentType,
      metrics: () => exposition.render([...service.samples(), ...reloader.samples()]),
      waitingFor: service.waitingFor,
      complain: (error) => {
        log.error(error.stack ?? error.message)
      },
    },
    metricsListen,
  )
  const api = await serveRequests({
    address: listen,
    options: apiServerOptions,
    maxConnections: API_MAX_CONNECTIONS,
    handler: service.handle,
  }).catch(async (error: unknown) => {
    await operations.close()
    throw error
  })
  try {
    if (!options.open) await checkStore(config.serveQuery)
  } catch (error) {
    await Promise.all([api.close(), operations.close()])
    throw error
  }
  log.info(
    `Serving ${httpOf(api.address)}/query and /height, ${httpOf(operations.address)}/metrics; ` +
      `keeping ${wordsOf(plan)}`,
  )
  warnIfOpen(access)

  const stop = new AbortController()
  const running = service.run(stop.signal)
  const end = async (): Promise<void> => {
    stop.abort()
    await Promise.all([drained(api, clock), running.catch(() => undefined)])
    await service.close()
    await operations.close()
  }
  try {
    await Promise.race([running, abortOf(signal)])
  } finally {
    if (signal.aborted) log.info('Stopping')
    await inTime(clock, end())
  }
}

const ACCESS = /^serveQuery\.(?:apiKeysFile|rateLimit)$/
/** The keys that the service uses, besides those that it applies. */
const OF_SERVICE = /^(?:serveQuery\.|rpc\.url$)/

/** Reads the API keys; the result is another object only where keys or rate limit are others. */
const createReadAccess = () => {
  const accessFor = createMemoizeLast<Access>()
  return async ({
    apiKeysFile,
    rateLimit,
  }: Pick<Config['serveQuery'], 'apiKeysFile' | 'rateLimit'>): Promise<Access> => {
    const keys = apiKeysFile === null ? [] : await readApiKeys(apiKeysFile)
    const settings = [keys.map((key) => key.reveal()), rateLimit]
    return accessFor(settings, () => ({ keys, requestsPerMinute: rateLimit }))
  }
}

const httpOf = ({ host, port }: Address): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

const isLoopback = ({ host }: Address): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.')
