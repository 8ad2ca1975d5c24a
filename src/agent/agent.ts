import type { Logger } from 'pino'
import { changedKeys } from '../config/load.ts'
import { logUnits } from '../config/log-units.ts'
import type { Config } from '../config/schema.ts'
import { type Clock, watchEventLoop } from '../core/clock.ts'
import { atStateFile } from '../core/files.ts'
import type { Board } from '../core/board.ts'
import { asError, FileError, SourceError } from '../core/errors.ts'
import { joinList } from '../core/format.ts'
import { severityOf } from '../domain/event.ts'
import { createReloader, RESTART_SECTIONS, type Reloaded, type Reloader } from '../core/reload.ts'
import { createSupervisor } from '../core/supervise.ts'
import { renderHealth, renderStatus } from '../exporter/api.ts'
import { type AgentView, serve, serveOnSocket } from '../exporter/server.ts'
import { createStatusPage } from '../exporter/page/page.ts'
import { startWeb, type Web } from '../exporter/web.ts'
import { countedCauses, diagnose } from '../health/diagnosis.ts'
import { TARGET } from '../health/monitor.ts'
import { adviseRecovery } from '../health/recovery.ts'
import { limitsOf } from '../health/rules/index.ts'
import { createSampleIndex, type Sample, sample, sampleIfKnown } from '../core/metric.ts'
import type { NodeSnapshot } from '../health/snapshot.ts'
import { roleSamples } from '../health/role.ts'
import { makeDirectory } from '../sources/durable.ts'
import { socketOf } from '../sources/endpoints.ts'
import { lockDirectory } from '../sources/lock.ts'
import { type Certificates, createCertificates } from '../sources/certificates.ts'
import { createExec, type Exec, keepLastOutputs } from '../sources/exec.ts'
import type { HeartbeatInbox } from '../collectors/shared/node-state.ts'
import { isTestHeartbeat, parseHeartbeat } from '../parsers/heartbeat.ts'
import { createHostSources, type HostSources } from '../sources/host.ts'
import { createHttpClient, type SendRequest } from '../sources/http.ts'
import { incidentDirectory } from '../sources/incident-files.ts'
import { runbooks } from '../sources/runbooks.ts'
import type { Prefix } from '../sources/prefix.ts'
import type { WatchUnits } from '../sources/unit-watch.ts'
import { revision, version } from '../core/package.ts'
import { createHealthWatch } from './health-watch.ts'
import { createIncidents } from './incidents.ts'
import { createRuntime } from './runtime.ts'
import { collectorStates, readingsOf, settingsOf } from './snapshot.ts'
import { agentEvent, createState } from './state.ts'

interface AgentOptions {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly path: string
  /** Replace programs and HTTP requests in a simulation. */
  readonly exec?: Exec
  readonly ask?: SendRequest
  readonly host?: Partial<HostSources>
  /** Without it units are polled. */
  readonly watchUnits?: WatchUnits
  /** Whether this is the only agent of the process; otherwise the metrics of the process are not exported. */
  readonly ownsProcess?: boolean
}

export type Agent = Awaited<ReturnType<typeof startAgent>>

/** Configuration keys of other commands. */
const OTHER_COMMANDS = /^(?:serveQuery|names)\./

/** Interval of the check for collectors without a recent reading, in milliseconds. */
const STALENESS_INTERVAL = 5000

/**
 * Creates and starts the agent. Throws a ConfigError or, if it cannot listen or another agent uses its state directory, a
 * SourceError.
 */
export const startAgent = async (options: AgentOptions) => {
  const { directory } = options.config.state
  // Without a state directory the agent runs and reports it. One that hangs would block it where no deadline applies.
  await atStateFile(directory, () => makeDirectory(directory, 0o750)).catch((error: unknown) => {
    if (error instanceof FileError)
      throw new SourceError({ doing: `open the state directory ${directory}`, happened: error.happened })
  })
  const lock = await lockDirectory(directory, {
    doing: 'start the agent',
    taken: `another agent uses ${directory}: both would write its journal cursors and events`,
  })
  try {
    const agent = await startLocked(options)
    const stop = async (): Promise<void> => {
      await agent.stop()
      await lock?.release()
    }
    return { ...agent, stop }
  } catch (error) {
    await lock?.release()
    throw error
  }
}

const startLocked = async (options: AgentOptions) => {
  const { config, clock, log, path, ownsProcess = true } = options
  const exec = options.exec ?? createExec({ clock, path })
  const stopping = new AbortController()
  const reloader = createReloader({ clock, log, program: 'agent' })
  const state = createState(config, log)
  const web = await startWeb({ config: config.web, clock, log, reloader })
  const node = await watchNode({ ...options, ownsProcess, exec, reloader, state, web })
  const collectors = node.offer(config)
  const server = await serve(node.view, config.listen, web)
  web.warnIfExposed(server.address)
  const socket = await serveCommands(node.view, { config, log })

  state.events.add(agentEvent(node.startedAt, `started, version ${version}`))
  const supervisor = createSupervisor(node.board, clock)
  await supervisor.run(collectors)
  const checking = [
    checkStaleness(node.board, clock, stopping.signal),
    node.runHealth(stopping.signal),
    node.runIncidents(stopping.signal),
    web.watch(stopping.signal),
    ...(ownsProcess ? [watchEventLoop(stopping.signal, node.observeEventLoop)] : []),
  ]
  const apply = createApply({ config, log, run: (next) => supervisor.run(node.offer(next)) })

  return {
    address: server.address,
    scheme: web.scheme,
    /**
     * Reads the configuration and applies it. Collectors whose settings are the same keep running; the others are started
     * again. An invalid configuration is logged and changes nothing. Never rejects.
     */
    reload: async (read: () => Config): Promise<void> => {
      await reloader.run(async () => apply(read()))
      await web.reload()
    },
    /** Stops collectors, child processes and server, and saves the state that must survive a restart. */
    stop: async (): Promise<void> => {
      stopping.abort()
      await Promise.all([reloader.stop(), supervisor.stop(), ...checking, server.close(), socket?.close()])
      state.events.add(agentEvent(clock.now(), 'stopped'))
      await Promise.all([state.checkpoints.flush(), state.events.flush()])
      exec.killAll()
    },
  }
}

interface NodeWatchOptions extends AgentOptions {
  readonly ownsProcess: boolean
  readonly exec: Exec
  readonly reloader: Reloader
  readonly state: ReturnType<typeof createState>
  readonly web: Pick<Web, 'certificateEndsAt'>
}

/** Creates the collectors, the health of what they read, and the view that the server exports. */
const watchNode = async (options: NodeWatchOptions) => {
  const { config, clock, log, state } = options
  const { events, record } = state
  const startedAt = clock.now()
  const hostName = await hostNameOf({ ...createHostSources(config.host), ...options.host })
  const tools = keepLastOutputs(options.exec, clock)
  const certificates = createCertificates(clock)
  const incidents = createIncidents({
    directory: incidentDirectory(config.state.directory),
    clock,
    exec: options.exec,
    announce: (id, alerts) => {
      const text = `kept the evidence of ${joinList(alerts)}: chain-agent incident ${id}`
      log.info(text)
      events.add(agentEvent(clock.now(), text))
    },
    complain: (error) => {
      log.warn(`Cannot keep the evidence of a critical alert (${error.message}).`)
    },
  })
  const health = createHealthWatch({ ...options, settings: config.health, record, incidents })
  const runtime = await createRuntime({
    ...options,
    exec: tools.exec,
    ask: options.ask ?? createHttpClient(clock, undefined, certificates),
    checkpoints: state.checkpoints,
    complain: (message) => {
      log.error(message)
    },
    notice: (change) => {
      record(change, severityOf(change))
      health.notice()
    },
    onPrefix: (found) => {
      logPrefix(log, found)
    },
  })
  const { board, exposition } = runtime
  const prefix = (): string => runtime.prefix() ?? 'chain'
  const samples = createSamples(options, { board, certificates })
  const settings = settingsOf(config)
  const snapshot = (): NodeSnapshot => {
    const statuses = [...board.statuses()]
    const metrics = [...samples(), ...health.samples()]
    const readings = readingsOf(statuses)
    return {
      at: clock.now(),
      origin: 'agent',
      version,
      prefix: runtime.prefix(),
      collectors: collectorStates(statuses),
      readings,
      ...settings,
      known: createSampleIndex(metrics),
      health: health.health(),
      export: async () => ({ metrics: await exposition.render(metrics), readings }),
    }
  }
  const measured = { exposition, samples, recovery: () => adviseRecovery(snapshot()).next }
  const outbound: Parameters<typeof runtime.offer>[1] = {
    health: () => ({ state: health.health().state, causes: countedCauses(diagnose(snapshot())) }),
    alertsOf: (target, wanted) =>
      health.alerts({ ...target, instance: target.instance ?? hostName ?? TARGET.instance }, wanted, prefix()),
    onEvaluation: health.onEvaluation,
  }
  const evidence = () => ({ snapshot: snapshot(), outputs: tools.outputs() })
  const units = () => [...new Set(logUnits(config, prefix()).values())]
  const limitOf = limitsOf(config.health)
  const page = createStatusPage({
    clock,
    version,
    read: async () => {
      // Causes, figures and recovery of a response are of one moment.
      await health.evaluateNow(measured)
      const [rounds, { history }] = [runtime.rounds(), health]
      return { snapshot: snapshot(), events: await events.all(), history, rounds, limitOf, hostName }
    },
  })
  const view: AgentView = {
    version,
    page,
    runbooks,
    prefix,
    contentType: exposition.contentType,
    clock,
    complain: (error) => {
      log.error(error)
    },
    metrics: () => exposition.render([...samples(), ...health.samples()]),
    status: () => {
      const agent = { version, prefix: runtime.prefix(), startedAt: new Date(startedAt).toISOString() }
      return renderStatus(agent, board.statuses())
    },
    health: async () => {
      await health.evaluateNow(measured)
      return renderHealth(health.health())
    },
    events: events.all,
    heartbeats: heartbeatReceiver(clock, runtime.heartbeatInbox),
    waitingFor: () => [...board.statuses()].flatMap(({ name, enabled, up }) => (enabled && up === null ? [name] : [])),
  }
  return {
    board,
    offer: (next: Config) => runtime.offer(next, outbound),
    startedAt,
    view,
    runIncidents: (signal: AbortSignal) => incidents.run(signal, { evidence, units }),
    runHealth: (signal: AbortSignal) => health.run(measured, signal),
    observeEventLoop: (seconds: number): void => {
      exposition.recorder.observe('chain_agent_event_loop_delay_seconds', seconds)
    },
  }
}

/** As the host itself reports it; null if it does not. */
const hostNameOf = ({ procfs }: Pick<HostSources, 'procfs'>): Promise<string | null> =>
  procfs.read('sys/kernel/hostname').then(
    (name) => name?.trim() ?? null,
    () => null,
  )

/** What the agent exports of its readings and of itself, but for the health. */
const createSamples = (
  { config, reloader, state, web }: NodeWatchOptions,
  { board, certificates }: { readonly board: Board; readonly certificates: Certificates },
): (() => readonly Sample[]) => {
  const { profile } = config
  const nodeVersion = process.versions.node
  const buildInfo = sample('chain_agent_build_info', 1, { version, revision, profile, node_version: nodeVersion })
  return () => {
    const read = board.samples()
    return [
      buildInfo,
      ...sampleIfKnown('chain_agent_state_saved', state.checkpoints.isSaved()),
      ...reloader.samples(),
      ...roleSamples(config.health.role, createSampleIndex(read)),
      ...certificates.samples(web.certificateEndsAt()),
      ...read,
    ]
  }
}

const heartbeatReceiver = (clock: Clock, inbox: HeartbeatInbox): AgentView['heartbeats'] => ({
  isOpen: () => inbox.isOpen,
  receive: (text) => {
    if (isTestHeartbeat(text)) return
    inbox.latest = { at: clock.now(), elapsed: clock.elapsed(), heartbeat: parseHeartbeat(text) }
  },
})

const checkStaleness = async (board: Board, clock: Clock, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await clock.sleep(STALENESS_INTERVAL, signal)
    board.checkStaleness()
  }
}

interface ApplyOptions extends Pick<AgentOptions, 'config'> {
  readonly log: Pick<Logger, 'level'>
  /** Runs the collectors of a configuration; returns those that were started or stopped. */
  readonly run: (config: Config) => Promise<readonly string[]>
}

/** Applies the next configuration, but for what cannot change while the agent is running. */
export const createApply = ({ config, log, run }: ApplyOptions) => {
  let current = config
  return async (next: Config): Promise<Reloaded> => {
    // The profile decides which collectors run: they and it change together, at a start.
    if (next.profile !== current.profile) return { applied: [], pending: changedKeys(current, next), collectors: [] }
    const effective = { ...next, ...Object.fromEntries(RESTART_SECTIONS.map((name) => [name, current[name]])) }
    const applied = changedKeys(current, effective).filter((key) => !OTHER_COMMANDS.test(key))
    const collectors = await run(effective)
    log.level = effective.log.level
    current = effective
    return { applied, pending: changedKeys(effective, next), collectors }
  }
}

/** The commands on this host use a socket, because the listener may require TLS or a password. The agent also runs without the socket. */
const serveCommands = async (view: AgentView, { config, log }: Pick<AgentOptions, 'config' | 'log'>) => {
  const path = socketOf(config)
  if (path === null) return null
  try {
    return await serveOnSocket(view, path)
  } catch (error) {
    log.warn(asError(error).message)
    return null
  }
}

const logPrefix = (log: Logger, { word, from }: Prefix): void => {
  if (from === 'default') {
    log.warn(
      `No node found: systemd does not have exactly one *-bft.service or *-execution.service, and PATH has no node tool. ` +
        `Using the name prefix ${word} and searching again; set \`prefix:\` to configure it.`,
    )
  } else log.info(`The name prefix of the node is ${word} (from ${from}).`)
}
