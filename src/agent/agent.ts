import type { Logger } from 'pino'
import { changedKeys } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import type { Clock } from '../core/clock.ts'
import type { Change } from '../core/board.ts'
import { asError } from '../core/errors.ts'
import { type NewEvent, type Severity, severityOf, toNewEvent } from '../core/event.ts'
import { createReloader, type Reloaded } from '../core/reload.ts'
import { createSupervisor } from '../core/supervise.ts'
import { createChangeLog } from '../exporter/change-log.ts'
import { renderHealth, renderStatus } from '../exporter/api.ts'
import type { Address } from '../exporter/listen.ts'
import { type AgentView, serve, serveOnSocket } from '../exporter/server.ts'
import { createHistory } from '../exporter/page/figures.ts'
import { createStatusPage } from '../exporter/page/page.ts'
import { startWeb } from '../exporter/start-web.ts'
import { countedCauses, diagnose } from '../health/diagnosis.ts'
import { createHealthMonitor, EVALUATION_INTERVAL } from '../health/monitor.ts'
import { limitsOf } from '../health/rules/index.ts'
import { createSampleIndex, type Sample, sample, sampleIfKnown } from '../core/metric.ts'
import type { NodeSnapshot } from '../health/snapshot.ts'
import { roleSamples } from '../health/role.ts'
import { parseEvent } from '../parsers/event.ts'
import { createCheckpoints } from '../sources/checkpoint.ts'
import { makeDirectory } from '../sources/durable.ts'
import { socketOf } from '../sources/endpoints.ts'
import { createEventLog } from '../sources/event-log.ts'
import { createExec, type Exec } from '../sources/exec.ts'
import type { HostSources } from '../sources/host.ts'
import { createHttpClient, type SendRequest } from '../sources/http.ts'
import { createRunbooks } from '../sources/runbooks.ts'
import type { Prefix } from '../sources/prefix.ts'
import { revision, version } from '../core/package.ts'
import { createFailureLog } from './failure-log.ts'
import { type Connect, createRuntime } from './runtime.ts'
import { collectorStates, readingsOf, settingsOf } from './snapshot.ts'

interface AgentOptions {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  /** The search path for programs. */
  readonly path: string
  /** Replace programs and HTTP requests in a simulation. */
  readonly exec?: Exec
  readonly ask?: SendRequest
  readonly connect?: Connect
  readonly host?: Partial<HostSources>
  /** Whether this is the only agent of the process; otherwise the metrics of the process are not exported. */
  readonly ownsProcess?: boolean
}

export interface Agent {
  readonly address: Address
  readonly scheme: 'http' | 'https'
  /**
   * Reads the configuration and applies it. Collectors whose settings are the same keep running; the others are started
   * again. An invalid configuration is logged and changes nothing. Never rejects.
   */
  reload(read: () => Config): Promise<void>
  /** Stops collectors, child processes and server, and saves the state that must survive a restart. */
  stop(): Promise<void>
}

/** Configuration keys of other commands. */
const OTHER_COMMANDS = /^(?:serveQuery|names)\./

/** Interval of the check for collectors without a recent reading, in milliseconds. */
const STALENESS_INTERVAL = 5000

/** Changes within this time, in milliseconds, are evaluated together: several have one cause. */
const COALESCED = 500

/** Creates and starts the agent. Throws a ConfigError or, if it cannot listen, a SourceError. */
export const startAgent = async (options: AgentOptions): Promise<Agent> => {
  const { config, clock, log, path } = options
  const { exec = createExec({ clock, path }), ask = createHttpClient(clock), ownsProcess = true } = options
  const stopping = new AbortController()
  const startedAt = clock.now()
  const startedElapsed = clock.elapsed()

  const checkpoints = createCheckpoints(config.state.directory, (error) => {
    log.warn(
      `Cannot save the journal cursors (${error.message}): after a restart the agent will miss log lines. ` +
        `Make the directory writable for the agent, or set state.directory.`,
    )
  })
  const events = createEventLog({
    directory: config.state.directory,
    keep: config.events.keep,
    parse: parseEvent,
    complain: (error) => {
      log.warn(
        `Cannot save state changes (${error.message}): \`chain-agent events\` will list only those since the start ` +
          `of the agent. Make the directory writable for the agent, or set state.directory.`,
      )
    },
  })
  const changeLog = createChangeLog(log)
  const record = (change: Change, severity: Severity): void => {
    changeLog(change, severity)
    events.add(toNewEvent(change, severity))
  }
  const monitor = createHealthMonitor(startedAt, config.health)
  /** Aborted by a change on the board: a fault is evaluated when it is read, not up to 15 s later. */
  let evaluateSoon = new AbortController()
  const { board, exposition, offer, prefix } = await createRuntime({
    clock,
    path,
    exec,
    ask,
    connect: options.connect,
    host: options.host,
    checkpoints,
    ownsProcess,
    health: () => ({ state: monitor.health().state, causes: countedCauses(diagnose(snapshot())) }),
    complain: (message) => {
      log.error(message)
    },
    notice: (change) => {
      record(change, severityOf(change))
      evaluateSoon.abort()
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
  const samples = (): readonly Sample[] => {
    const read = [...board.samples()]
    return [
      buildInfo,
      ...sampleIfKnown('chain_agent_state_saved', checkpoints.isSaved()),
      ...reloader.samples(),
      ...roleSamples(config.health.role, createSampleIndex(read)),
      ...read,
    ]
  }
  const history = createHistory()
  const limitOf = limitsOf(config.health)
  const settings = settingsOf(config)
  const logFailures = createFailureLog((failure) => {
    log.error(failure)
  })
  /** On the clock that only increases. */
  let evaluatedAt = 0
  const evaluateHealth = async (isExtra = false): Promise<void> => {
    try {
      const exposed = await exposition.values(samples())
      // Readings may change within a millisecond; times of evaluations must increase.
      evaluatedAt = Math.max(evaluatedAt + 1, startedAt + Math.round(clock.elapsed() - startedElapsed))
      const found = monitor.evaluate(clock.now(), exposed, { steady: evaluatedAt, isExtra })
      for (const { severity, ...change } of found) record(change, severity)
      logFailures(monitor.health().failures)
    } catch (error) {
      logFailures([asError(error)])
      monitor.fail(clock.now())
    }
  }
  const snapshot = (): NodeSnapshot => {
    const statuses = [...board.statuses()]
    const metrics = [...samples(), ...monitor.samples()]
    const readings = readingsOf(statuses)
    return {
      at: clock.now(),
      origin: 'agent',
      version,
      prefix: prefix(),
      collectors: collectorStates(statuses),
      readings,
      ...settings,
      known: createSampleIndex(metrics),
      health: monitor.health(),
      export: async () => ({ metrics: await exposition.render(metrics), readings }),
    }
  }
  const page = createStatusPage({
    clock,
    version,
    complain: (error) => {
      log.error(error)
    },
    read: async () => {
      // Causes, figures and recovery of an output are of one moment.
      await evaluateHealth(true)
      return { snapshot: snapshot(), events: await events.all(), history, limitOf }
    },
  })
  const view: AgentView = {
    version,
    page,
    runbooks: createRunbooks(),
    prefix: () => prefix() ?? 'chain',
    contentType: exposition.contentType,
    complain: (error) => {
      log.error(error)
    },
    metrics: () => exposition.render([...samples(), ...monitor.samples()]),
    status: () => renderStatus({ version, startedAt, prefix: prefix() }, board.statuses()),
    health: async () => {
      await evaluateHealth(true)
      return renderHealth(monitor.health())
    },
    events: events.all,
    waitingFor: () =>
      [...board.statuses()].flatMap(({ name, enabled, up }) => (enabled && up === undefined ? [name] : [])),
  }
  const web = await startWeb({ config: config.web, clock, log, reloader })
  const server = await serve(view, config.listen, web)
  web.warnIfExposed(server.address)
  const socket = await serveCommands(view, { config, log })

  events.add(agentEvent(startedAt, `started, version ${version}`))
  const supervisor = createSupervisor(board, clock)
  await supervisor.run(offered)
  const checking = [checkStaleness(), watchHealth(), web.watch(stopping.signal)]
  async function checkStaleness(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(STALENESS_INTERVAL, stopping.signal)
      board.checkStaleness()
    }
  }
  async function watchHealth(): Promise<void> {
    let due = clock.elapsed()
    while (!stopping.signal.aborted) {
      // An early evaluation, or a late one, does not move the times of the others.
      due += EVALUATION_INTERVAL * (1 + Math.floor((clock.elapsed() - due) / EVALUATION_INTERVAL))
      do {
        await clock.sleep(due - clock.elapsed(), AbortSignal.any([stopping.signal, evaluateSoon.signal]))
        if (evaluateSoon.signal.aborted) await clock.sleep(COALESCED, stopping.signal)
        evaluateSoon = new AbortController()
        await evaluateHealth()
      } while (clock.elapsed() < due && !stopping.signal.aborted)
      history.record({ known: createSampleIndex(samples()), at: clock.now() })
    }
  }

  let current = config
  const apply = async (next: Config): Promise<Reloaded> => {
    // The listener, the rules and these files cannot change while the agent is running.
    const effective = {
      ...next,
      listen: current.listen,
      web: current.web,
      state: current.state,
      events: current.events,
      health: current.health,
    }
    const wanted = offer(effective)
    log.level = effective.log.level
    const applied = changedKeys(current, effective).filter((key) => !OTHER_COMMANDS.test(key))
    current = effective
    return {
      applied,
      pending: changedKeys(effective, next),
      collectors: await supervisor.run(wanted),
    }
  }

  return {
    address: server.address,
    scheme: web.scheme,
    reload: async (read) => {
      await reloader.run(async () => apply(read()))
      await web.reload()
    },
    stop: async () => {
      stopping.abort()
      await Promise.all([supervisor.stop(), ...checking, page.stream.close(), server.close(), socket?.close()])
      events.add(agentEvent(clock.now(), 'stopped'))
      await Promise.all([checkpoints.flush(), events.flush()])
      exec.killAll()
    },
  }
}

/** With TLS or passwords, the commands on this host use a socket. The agent runs without it. */
const serveCommands = async (view: AgentView, { config, log }: Pick<AgentOptions, 'config' | 'log'>) => {
  const path = socketOf(config)
  if (path === null) return null
  try {
    await makeDirectory(config.state.directory, 0o750)
    return await serveOnSocket(view, path)
  } catch (error) {
    log.warn(asError(error).message)
    return null
  }
}

/** An event of the agent itself. */
const agentEvent = (at: number, to: string): NewEvent => ({
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
      `No node found: systemd does not have exactly one *-bft.service or *-execution.service, and PATH has no node tool. ` +
        `Using the name prefix ${word} and searching again; set \`prefix:\` to configure it.`,
    )
  } else log.info(`The name prefix of the node is ${word} (from ${from}).`)
}
