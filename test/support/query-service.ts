import type { Clock } from '../../src/core/clock.ts'
import type { LogStore } from '../../query/store/store.ts'
import { eventually } from './eventually.ts'
import { logLines } from './log-lines.ts'
import { scrape } from './scrape.ts'
import { shipped } from './shipped.ts'

const { changedKeys, loadConfig, serveQuery, systemClock } = shipped

/** Time that passes fast: what takes a minute takes a second. */
const hurriedClock = (factor = 60): Clock => ({
  now: () => systemClock.now(),
  elapsed: () => systemClock.elapsed() * factor,
  sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
})

interface QueryServiceOptions {
  readonly rpcUrl: string
  readonly store: LogStore
  readonly settings?: Readonly<Record<string, unknown>>
  /** The section `web`. */
  readonly web?: Readonly<Record<string, unknown>>
  readonly clock?: Clock
}

/** `serve-query` without a process of its own. */
export const startQueryService = async (options: QueryServiceOptions) => {
  const { rpcUrl, store, settings = {}, web = {}, clock = hurriedClock() } = options
  const { log, lines } = logLines()
  const own = { listen: '127.0.0.1:0', metricsListen: '127.0.0.1:0', behindAfter: 'never' }
  const read = (now: Readonly<Record<string, unknown>>) => {
    const given = { rpc: { url: rpcUrl }, web, serveQuery: { ...own, ...now } }
    const file = { name: 'test', value: given, lineOf: () => 1 }
    return loadConfig({ file, env: {}, flags: [] }).config
  }
  let next = settings
  let hangup = (): void => undefined
  const stopping = new AbortController()
  const ended = serveQuery({
    config: read(settings),
    reloads: {
      on: (listener) => {
        hangup = listener
      },
      read: () => read(next),
      changedKeys,
    },
    clock,
    log: { level: 'info', ...log },
    signal: stopping.signal,
    open: () => Promise.resolve(store),
  })
  /** Ends it in good order; throws what it threw. */
  const stop = async (): Promise<void> => {
    stopping.abort()
    await ended
  }
  const urls = await Promise.race([
    ended.then(() => [] as const),
    eventually(
      () => lines.flatMap((line) => line.match(/https?:\/\/[\d.:]+/g) ?? []),
      (found) => found.length === 2,
    ),
  ])
  const [url = '', operations = ''] = urls
  return {
    /** URLs of the query API and of the metrics. */
    url,
    operations,
    /** `level text` of each line of its log. */
    lines,
    /** Reloads with these settings, as on SIGHUP. */
    reload: (changed: Readonly<Record<string, unknown>>): void => {
      next = changed
      hangup()
    },
    stop,
    look: () => scrape(`${operations}/metrics`),
    /** The status and body of /-/ready. */
    ready: async (): Promise<string> => {
      const response = await fetch(`${operations}/-/ready`)
      return `${response.status} ${(await response.text()).trim()}`
    },
  }
}

export type QueryService = Awaited<ReturnType<typeof startQueryService>>
