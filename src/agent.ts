import { setMaxListeners } from 'node:events'
import type { Logger } from 'pino'
import type { Config } from './config/schema.ts'
import type { Clock } from './core/clock.ts'
import { type News, newsOf } from './core/event.ts'
import { supervise } from './core/supervise.ts'
import { createChangeLog } from './exporter/change-log.ts'
import { renderEvents } from './exporter/events-page.ts'
import type { Address } from './exporter/listening.ts'
import { serve } from './exporter/server.ts'
import { renderStatus } from './exporter/status.ts'
import { type Sample, sample } from './metrics.ts'
import { parseEvent } from './parsers/event.ts'
import { createCheckpoints } from './sources/checkpoint.ts'
import { createEventLog } from './sources/event-log.ts'
import { createExec, type Exec } from './sources/exec.ts'
import { type Ask, createAsk } from './sources/http.ts'
import type { Prefix } from './sources/prefix.ts'
import { revision, version } from './version.ts'
import { type Connect, createWatch } from './watch.ts'

interface Options {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  /** The search path for programs. */
  readonly path: string
  /** Who runs programs and asks over HTTP, where it is not the host: in a rehearsal. */
  readonly exec?: Exec
  readonly ask?: Ask
  readonly connect?: Connect
  /** Whether no other agent shares the process; what is of a shared one is told of none of them. */
  readonly ownsProcess?: boolean
}

export interface Agent {
  readonly address: Address
  /** Ends collectors, children and server, and writes what must outlive them. */
  stop(): Promise<void>
}

/** How often we look for collectors that have fallen silent, in milliseconds. */
const WATCH_EVERY = 5000

/** Puts the agent together and starts it. Throws a SourceError when it cannot listen. */
export const startAgent = async (options: Options): Promise<Agent> => {
  const { config, clock, log, path } = options
  const { exec = createExec({ clock, path }), ask = createAsk(clock), ownsProcess = true } = options
  const stopping = new AbortController()
  // Every collector listens to it, some of them twice: Node takes more than ten for a leak.
  setMaxListeners(100, stopping.signal)
  const context = { clock, signal: stopping.signal }
  const startedAt = clock.now()

  const checkpoints = createCheckpoints(config.state.directory, (error) => {
    log.warn(
      `The places in the journal cannot be kept (${error.message}): a restart of the agent will miss lines. ` +
        `Make the directory writable for the agent, or set state.directory.`,
    )
  })
  const events = createEventLog({
    directory: config.state.directory,
    keep: config.events.keep,
    parse: parseEvent,
    complain: (error) => {
      log.warn(
        `Changes of state cannot be kept (${error.message}): \`chain-agent events\` will know those since the start ` +
          `alone. Make the directory writable for the agent, or set state.directory.`,
      )
    },
  })
  const changeLog = createChangeLog(log)
  const { board, exposition, offered, prefix } = createWatch({
    config,
    clock,
    path,
    exec,
    ask,
    connect: options.connect,
    checkpoints,
    ownsProcess,
    complain: (message) => {
      log.error(message)
    },
    notice: (change) => {
      changeLog(change)
      events.add(newsOf(change))
    },
    onPrefix: (found) => {
      logPrefix(log, found)
    },
  })

  const buildInfo: Sample = sample('chain_agent_build_info', 1, {
    version,
    revision,
    node_version: process.versions.node,
  })
  const server = await serve(
    {
      version,
      contentType: exposition.contentType,
      complain: (error) => {
        log.error(error)
      },
      metrics: () => exposition.render([buildInfo, ...board.samples()]),
      status: () => renderStatus({ version, startedAt, prefix: prefix() }, board.standings()),
      events: async (query) => renderEvents(await events.all(), query),
      waitingFor: () =>
        [...board.standings()].flatMap(({ name, enabled, up }) =>
          enabled && up === undefined ? [name] : [],
        ),
    },
    config.listen,
  )

  events.add(ownNews(startedAt, `started, version ${version}`))
  const running = [
    ...offered.flatMap(({ collector, enabled }) => {
      if (enabled) return [supervise(collector, board, context)]
      board.dismiss(collector)
      return []
    }),
    watch(),
  ]
  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(WATCH_EVERY, stopping.signal)
      board.noticeSilence()
    }
  }

  return {
    address: server.address,
    stop: async () => {
      stopping.abort()
      await Promise.all([...running, server.close()])
      events.add(ownNews(clock.now(), 'stopped'))
      await Promise.all([checkpoints.flush(), events.flush()])
      exec.killAll()
    },
  }
}

/** What the agent tells of itself is news each time. */
const ownNews = (at: number, to: string): News => ({
  at,
  collector: 'agent',
  subject: null,
  from: null,
  to,
  isFirstSight: false,
})

const logPrefix = (log: Logger, { word, from }: Prefix): void => {
  if (from === 'default') {
    log.warn(
      `No node found: systemd knows no single *-bft.service, and PATH has no node tool. ` +
        `Going on with the prefix ${word} and looking again; set \`prefix:\` to say which it is.`,
    )
  } else log.info(`The node's units and tools begin with ${word}- (from ${from}).`)
}
