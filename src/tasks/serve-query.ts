import type { Config } from '../config/schema.ts'
import type { Clock } from '../core/clock.ts'
import type { Address } from '../exporter/listening.ts'
import { createExposition } from '../exporter/registry.ts'
import { serveOperations, serveRequests } from '../exporter/service-server.ts'
import { serviceMetrics } from '../metrics.ts'
import { API_MAX_CONNECTIONS, apiServerOptions } from '../query/service/api/limits.ts'
import { abortOf, drained, inTime } from './serve-query/ending.ts'
import { readApiKeys } from './serve-query/keys-file.ts'
import type { Log } from './serve-query/narrator.ts'
import { type OpenStore, storeAt } from './serve-query/open-store.ts'
import { planOf, wordsOf } from './serve-query/plan.ts'
import { createService } from './serve-query/service.ts'

interface Options {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly signal: AbortSignal
  /** Another store than the one that is configured: in a test. */
  readonly open?: OpenStore
}

/** Indexes the chain of the node and answers queries until the signal aborts. Throws where it cannot begin. */
export const serveQuery = async (options: Options): Promise<void> => {
  const { config, clock, log, signal } = options
  const { listen, metricsListen, apiKeysFile } = config.serveQuery
  const plan = planOf(config)
  const keys = apiKeysFile === null ? [] : await readApiKeys(apiKeysFile)
  const exposition = createExposition(
    (message) => {
      log.error(message)
    },
    { catalogue: serviceMetrics },
  )
  const service = createService({
    config,
    plan,
    keys,
    clock,
    log,
    recorder: exposition.recorder,
    open: options.open ?? storeAt(config.serveQuery, clock),
  })
  const operations = await serveOperations(
    {
      contentType: exposition.contentType,
      metrics: () => exposition.render(service.samples()),
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
  log.info(
    `Serving ${httpOf(api.address)}/query and /height, ${httpOf(operations.address)}/metrics; ` +
      `keeping ${wordsOf(plan)}`,
  )
  if (keys.length === 0 && !isLoopback(api.address)) {
    log.warn('Whoever reaches this address is answered: --api-keys-file has keys asked for')
  }

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

const httpOf = ({ host, port }: Address): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`

const isLoopback = ({ host }: Address): boolean =>
  host === 'localhost' || host === '::1' || host.startsWith('127.')
