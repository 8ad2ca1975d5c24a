import { createWebConfigFile, NO_WEB_CONFIG, type WebConfigFile } from '../config/web-config.ts'
import type { Clock } from '../core/clock.ts'
import type { Reloader } from '../core/reload.ts'
import { second } from '../core/units.ts'
import { type Address, createWeb, type Web } from './web.ts'

interface StartWebOptions {
  readonly config: {
    readonly configFile: string | null
    readonly hosts: readonly string[]
  }
  readonly clock: Clock
  readonly log: { warn(text: string): void; error(text: string): void }
  readonly reloader: Reloader
}

export interface ReloadedWeb extends Web {
  /** Applies the file if it or one that it names has changed. Logs the result, and never rejects. */
  reload(): Promise<void>
  /** Applies changes until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>
  /** Logs a warning if other hosts can read this listener, now and when a reload changes that. */
  warnIfExposed(address: Address): void
}

/** Interval of the check for changed files, in milliseconds. It reads their times only. */
const CHECK_INTERVAL_MS = 5 * second

/** A file may be seen half written, and a renewed certificate before its key. */
const WRITE_TIME_MS = second

/** Loads the web configuration file, if there is one, and follows its changes. Throws a ConfigError. */
export const startWeb = async ({ config, clock, log, reloader }: StartWebOptions): Promise<ReloadedWeb> => {
  const { configFile, hosts } = config
  const file = configFile === null ? null : createWebConfigFile(configFile)
  const web = createWeb({
    config: file ? await file.load() : NO_WEB_CONFIG,
    hosts,
    complain: (error) => {
      log.error(error.stack ?? error.message)
    },
  })
  const exposed = new Map<Address, string | null>()

  const warn = (address: Address): void => {
    const exposure = web.exposure(address)
    if (exposure !== null && exposure !== exposed.get(address))
      log.warn(
        `Other hosts can connect to ${nameOf(address)}, and ${exposure}: use a loopback address, or set TLS and ` +
          'authentication with --web.config.file',
      )
    exposed.set(address, exposure)
  }
  const load = async (from: WebConfigFile): Promise<void> =>
    reloader.run(async () => {
      const pending = web.update(await from.load())
      for (const address of exposed.keys()) warn(address)
      return { applied: pending.length === 0 ? ['web.configFile'] : [], pending }
    }, from.path)
  return {
    ...web,
    reload: async () => {
      if (file && (await file.hasChanged())) await load(file)
    },
    watch: async (signal) => {
      while (file && !signal.aborted) {
        await clock.sleep(CHECK_INTERVAL_MS, signal)
        if (signal.aborted || !(await file.hasChanged())) continue
        await clock.sleep(WRITE_TIME_MS, signal)
        await load(file)
      }
    },
    warnIfExposed: warn,
  }
}

const nameOf = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`
