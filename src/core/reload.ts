import { type Sample, sample } from './metric.ts'
import type { Clock } from './clock.ts'
import { asError, errorText } from './errors.ts'
import { second } from './units.ts'
import { isDeepStrictEqual } from 'node:util'

/** Sections of the configuration that apply only at a start of the agent: a reload keeps the values and logs the changed keys. */
export const RESTART_SECTIONS = ['profile', 'listen', 'web', 'state', 'events', 'health'] as const

/** What a reload of the configuration changed. */
export interface Reloaded {
  /** Keys whose new values are in use. */
  readonly applied: readonly string[]
  /** Keys whose new values need a restart of the process. */
  readonly pending: readonly string[]
  /** Collectors that were started or stopped. */
  readonly collectors?: readonly string[]
}

interface ReloaderOptions {
  readonly clock: Clock
  readonly log: Record<'info' | 'warn' | 'error', (text: string) => void>
  /** What has to be restarted for the keys that cannot be applied: `agent`. */
  readonly program: string
}

export type Reloader = ReturnType<typeof createReloader>

/**
 * Milliseconds between the end of a reload and the next one of the same file. Each reads files and creates collectors on
 * the thread that answers Prometheus.
 */
const PAUSE_MS = second

/** Runs reloads one at a time and records the result of the last. Starting is the first success. */
export const createReloader = ({ clock, log, program }: ReloaderOptions) => {
  const failing = new Set<string>()
  let succeededAt = clock.now()
  let last = Promise.resolve()
  const waiting = new Set<string>()
  const endedAt = new Map<string, number>()
  const stopping = new AbortController()

  const attempt = async (reload: () => Promise<Reloaded>, file: string): Promise<void> => {
    try {
      const reloaded = await reload()
      failing.delete(file)
      succeededAt = clock.now()
      const { pending } = reloaded
      log.info(`Configuration reloaded: ${describe(reloaded)}`)
      if (pending.length > 0) log.warn(`Restart the ${program} to apply: ${pending.join(', ')}`)
    } catch (thrown) {
      failing.add(file)
      log.error(`The configuration cannot be used; the previous one stays in use.\n${errorText(asError(thrown))}`)
    }
  }

  return {
    /**
     * Runs the reload after the one in progress, logs its result and never rejects. `file` is what it loads: the
     * configuration counts as loaded while the last attempt for each file succeeded. Requests during a reload, or in the
     * second after it, lead to one more at the end of that second.
     */
    run: (reload: () => Promise<Reloaded>, file = ''): Promise<void> => {
      // The waiting reload reads everything that was written before it starts.
      if (waiting.has(file)) return last
      waiting.add(file)
      last = last.then(async () => {
        const rest = (endedAt.get(file) ?? -Infinity) + PAUSE_MS - clock.elapsed()
        if (rest > 0) await clock.sleep(rest, stopping.signal)
        waiting.delete(file)
        if (stopping.signal.aborted) return
        await attempt(reload, file)
        endedAt.set(file, clock.elapsed())
      })
      return last
    },
    /** Waiting reloads do not start any more. Resolves when the one in progress has ended. */
    stop: (): Promise<void> => {
      stopping.abort()
      return last
    },
    samples: (): readonly Sample[] => [
      sample('chain_agent_config_last_reload_successful', failing.size === 0),
      sample('chain_agent_config_last_reload_success_timestamp_seconds', succeededAt / 1000),
    ],
  }
}

const describe = ({ applied, pending, collectors = [] }: Reloaded): string =>
  [
    ...(applied.length > 0 ? [`applied ${applied.join(', ')}`] : []),
    ...(collectors.length > 0 ? [`collectors started or stopped: ${collectors.join(', ')}`] : []),
  ].join('; ') || (pending.length > 0 ? 'nothing applied' : 'nothing changed')

/** The same function, which returns its last value while its settings are equal. */
export const memoizeLast = <Settings extends readonly unknown[], Value>(create: (...settings: Settings) => Value) => {
  let last: { readonly settings: Settings; readonly value: Value } | undefined
  return (...settings: Settings): Value => {
    if (!last || !isDeepStrictEqual(last.settings, settings)) last = { settings, value: create(...settings) }
    return last.value
  }
}

/** All calls while one is in progress, or until `keptMs` after its start, get its result. */
export const shared = <T>(make: () => Promise<T>, clock: Clock, keptMs: number): (() => Promise<T>) => {
  let current: { readonly made: Promise<T>; readonly startedAt: number; isDone: boolean } | undefined
  return () => {
    const now = clock.elapsed()
    if (current && (!current.isDone || now - current.startedAt < keptMs)) return current.made
    const next = { made: make(), startedAt: now, isDone: false }
    current = next
    const end = (): void => {
      next.isDone = true
    }
    next.made.then(end, () => {
      current = undefined
    })
    return next.made
  }
}
