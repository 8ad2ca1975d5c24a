import type { Logger } from 'pino'
import { severityOf } from '../collectors/severity.ts'
import { changedKeys } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import type { Clock } from '../core/clock.ts'
import { type NewEvent, toNewEvent } from '../core/event.ts'
import { createReloader, type Reloaded } from '../core/reload.ts'
import { createSupervisor } from '../core/supervise.ts'
import { createChangeLog } from '../exporter/change-log.ts'
import { renderEvents } from '../exporter/events-page.ts'
import type { Address } from '../exporter/listen.ts'
import { serve } from '../exporter/server.ts'
import { renderStatus } from '../exporter/status.ts'
import { type Sample, sample } from '../core/metric.ts'
import { parseEvent } from '../parsers/event.ts'
import { createCheckpoints } from '../sources/checkpoint.ts'
import { createEventLog } from '../sources/event-log.ts'
import { createExec, type Exec } from '../sources/exec.ts'
import { createHttpClient, type SendRequest } from '../sources/http.ts'
import type { Prefix } from '../sources/prefix.ts'
import { revision, version } from '../core/version.ts'
import { type Connect, createRuntime } from './runtime.ts'

interface Options {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  /** The search path for programs. */
  readonly path: string
  /** Who runs programs and asks over HTTP, where it is not the host: in a rehearsal. */
  readonly exec?: Exec
  readonly ask?: SendRequest
  readonly connect?: Connect
  /** Whether no other agent shares the process; what is of a shared one is told of none of them. */
  readonly ownsProcess?: boolean
}

export interface Agent {
  readonly address: Address
  /**
   * Reads the configuration and applies it. Collectors whose settings are the same keep running; the others are
   * started again. An invalid configuration is logged and changes nothing. Never rejects.
   */
  reload(read: () => Config): Promise<void>
  /** Ends collectors, children and server, and writes what must outlive them. */
  stop(): Promise<void>
}

/** Keys of other commands. */
const NOT_OF_AGENT = /^(?:serveQuery|names)\./

/** How often we look for collectors that have fallen silent, in milliseconds. */
const WATCH_EVERY = 5000

/** Puts the agent together and starts it. Throws a SourceError when it cannot listen. */
export const startAgent = async (options: Options): Promise<Agent> => {
  const { config, clock, log, path } = options
  const {
    exec = createExec({ clock, path }),
    ask = createHttpClient(clock),
    ownsProcess = true,
  } = options
  const stopping = new AbortController()
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
  const { board, exposition, offer, prefix } = await createRuntime({
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
      const severity = severityOf(change)
      changeLog(change, severity)
      events.add(toNewEvent(change, severity))
    },
    onPrefix: (found) => {
      logPrefix(log, found)
    },
  })

  const offered = offer(config)
  const reloader = createReloader({ clock, log, program: 'agent' })
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
      metrics: () => exposition.render([buildInfo, ...reloader.samples(), ...board.samples()]),
      status: () => renderStatus({ version, startedAt, prefix: prefix() }, board.statuses()),
      events: async (query) => renderEvents(await events.all(), query),
      waitingFor: () =>
        [...board.statuses()].flatMap(({ name, enabled, up }) =>
          enabled && up === undefined ? [name] : [],
        ),
    },
    config.listen,
  )

  events.add(ownNews(startedAt, `started, version ${version}`))
  const supervisor = createSupervisor(board, clock)
  await supervisor.run(offered)
  const watching = watch()
  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(WATCH_EVERY, stopping.signal)
      board.checkStaleness()
    }
  }

  let current = config
  const apply = async (next: Config): Promise<Reloaded> => {
    // The listener is open, and these files are in use, until the agent ends.
    const inForce = {
      ...next,
      listen: current.listen,
      state: current.state,
      events: current.events,
    }
    const wanted = offer(inForce)
    log.level = inForce.log.level
    const applied = changedKeys(current, inForce).filter((key) => !NOT_OF_AGENT.test(key))
    current = inForce
    return {
      applied,
      pending: changedKeys(inForce, next),
      collectors: await supervisor.run(wanted),
    }
  }

  return {
    address: server.address,
    reload: (read) => reloader.run(async () => apply(read())),
    stop: async () => {
      stopping.abort()
      await Promise.all([supervisor.stop(), watching, server.close()])
      events.add(ownNews(clock.now(), 'stopped'))
      await Promise.all([checkpoints.flush(), events.flush()])
      exec.killAll()
    },
  }
}

/** What the agent tells of itself is news each time. */
const ownNews = (at: number, to: string): NewEvent => ({
  at,
  collector: 'agent',
  subject: null,
  from: null,
  to,
  severity: 'info',
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
