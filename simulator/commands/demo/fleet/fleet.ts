import { setMaxListeners } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { errorCode } from '../../../../src/core/errors.ts'
import type { Clock } from '../../../../src/core/clock.ts'
import { createSleepers } from '../../../../src/core/virtual-clock.ts'
import { createChain, pick } from '../../../chain.ts'
import { AGENT_AFTER_MS, type NodeProfile, profileOf } from './profiles.ts'
import { type Agent, startAgent } from '../../../../src/agent/agent.ts'
import { parseConfigFile } from '../../../../src/config/file.ts'
import { loadConfig } from '../../../../src/config/load.ts'
import type { Config } from '../../../../src/config/schema.ts'
import { minute } from '../../../../src/core/units.ts'
import { ENDPOINT_NAMES, type EndpointName, openPort, type Port } from '../../../endpoints.ts'
import { createInProcessExec, createInProcessHttp } from './in-process.ts'
import { LEISURELY } from '../../../pace.ts'
import { parseScenario, type Scenario } from '../../../scenario/scenario.ts'
import { createSimulatedHost, type HostOptions, type SimulatedHost } from '../../../simulator.ts'
import { openAnnouncements } from '../../../../src/commands/maintenance/action.ts'
import { renderConfig } from '../demo-texts.ts'

interface FleetOptions {
  readonly size: number
  readonly prefix: string
  readonly clock: Clock
  readonly log: Logger
  readonly directory: string
  /** No more nodes are started once it aborts. */
  readonly signal: AbortSignal
}

/** The minimum for a network, so that a small fleet is not the whole network. */
const VALIDATORS = 20

/**
 * Starts nodes of one network in this process, each with a simulated host, a profile and a complete agent. The agents
 * call their nodes as functions, without processes and connections.
 */
export const startFleet = async (options: FleetOptions) => {
  const { size, directory, log, signal } = options
  const ended = new AbortController()
  const clock = createSharedClock(options.clock, ended.signal)
  // Each agent listens for the exit of the process.
  setMaxListeners(size + 20, process)
  const chain = createChain(1, Math.max(VALIDATORS, size))
  const forksFromMs = clock.now()
  const members: Member[] = []
  for (let number = 1; number <= size && !signal.aborted; number += 1) {
    const name = nameOf(number)
    const profile = profileOf(number)
    const of = { name, profile, index: profile.isTwin ? 0 : number - 1 }
    const own = { directory: join(directory, name), log: log.child({ node: name }) }
    members.push(await startMember({ ...options, ...of, ...own, clock, chain, forksFromMs }))
  }
  return {
    members,
    stop: async () => {
      await Promise.all(members.map(async (member) => member.stop()))
      ended.abort()
    },
  }
}

/** node-001: the names of up to 999 nodes sort as text. */
export const nameOf = (number: number): string => `node-${String(number).padStart(3, '0')}`

const MEMORY = '/dev/shm'
const BYTES_PER_NODE = 8e6

/** /dev/shm if it has room: a fleet writes small files continuously, and a disk takes seconds to remove them. */
export const chooseParent = async (size: number): Promise<string> => {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free > size * BYTES_PER_NODE ? MEMORY : tmpdir()
}

/** Creates the directory for the files of the fleet of this process. */
export const makeDirectory = async (parent: string): Promise<string> =>
  await mkdtemp(join(parent, `chain-fleet-${process.pid}-`))

/** Removes directories of killed fleets: in /dev/shm they use memory. */
export const removeLeftovers = async (parents: readonly string[] = [MEMORY, tmpdir()]) => {
  for (const parent of new Set(parents)) {
    const names = await readdir(parent).catch(() => [])
    const left = names.filter((name) => {
      const [, pid] = /^chain-fleet-(\d+)-[A-Za-z0-9]{6}$/.exec(name) ?? []
      return pid !== undefined && !isAlive(Number(pid))
    })
    // Directories of other users cannot be removed.
    for (const name of left) await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined)
  }
}

/** Whether the process exists; EPERM means that it exists and belongs to another user. */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) !== 'ESRCH'
  }
}

/** The shortest sleep in a fleet, in milliseconds. */
const TICK_MS = 25

/**
 * One timer for all sleepers, until the signal aborts: a fleet has thousands of them, most of which are deadlines that
 * are aborted, and aborting a timer of Node.js costs an error with its stack. Sleep ends at the first tick after its
 * time.
 */
export const createSharedClock = (clock: Clock, signal: AbortSignal): Clock => {
  const { sleep, wake } = createSleepers(() => clock.elapsed())
  const tick = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(TICK_MS, signal)
      wake()
    }
  }
  void tick()
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    sleep,
  }
}

interface MemberOptions extends Omit<HostOptions, 'scenario'> {
  readonly name: string
  readonly profile: NodeProfile
  readonly index: number
  readonly log: Logger
}

export type Member = Awaited<ReturnType<typeof startMember>>

/** One node of the fleet, with its own agent on its own port. */
export const startMember = async (options: MemberOptions) => {
  const { profile, clock, log, directory } = options
  await mkdir(directory, { recursive: true })
  const scenario = scenarioOf(options)
  const simulated = await createSimulatedHost({ ...options, scenario, pace: LEISURELY })
  const config = configOf(simulated, directory)
  const agent = await startAgent({
    config,
    clock,
    log,
    path: directory,
    exec: createInProcessExec(simulated.tools),
    ask: httpOf(simulated),
    ownsProcess: false,
  })
  const end = new AbortController()
  const kept = simulated.keep(end.signal)
  const applyProfile = async (): Promise<Port | undefined> => {
    await clock.sleep(AGENT_AFTER_MS, end.signal)
    if (end.signal.aborted) return undefined
    if (profile.agent === 'maintenance') await setMaintenanceWindow(config, clock)
    return profile.agent === 'gone' ? await stopAgent(agent) : undefined
  }
  // Only this node is affected: the others continue.
  const applied = applyProfile().catch((error: unknown) => {
    log.error({ err: error }, `Could not apply the profile "${profile.name}"`)
    return undefined
  })
  return {
    name: options.name,
    profile,
    publicKey: simulated.ownPublicKey,
    port: agent.address.port,
    stop: async (): Promise<void> => {
      end.abort()
      const closedPort = await applied
      await Promise.all([kept, closedPort ? closedPort.shut() : agent.stop()])
    },
  }
}

/** The profile, in addition to the differences between healthy nodes. Noise lines are off and open files few, to save time. */
const scenarioOf = ({ name, profile, chain, index }: MemberOptions): Scenario =>
  parseScenario(
    name,
    [
      '0s log noise 0',
      '0s host openfiles 40',
      `0s storage used ${48 + pick(23, name, 'storage')}`,
      `0s host busy ${8 + pick(30, name, 'busy')}`,
      `0s stake is ${stakeBpsOf(index, chain.validators.length)}`,
      ...profile.lines,
    ].join('\n'),
  )

const urlOf = (name: EndpointName): string => `http://${name}.simulated`

const httpOf = ({ endpoints }: SimulatedHost) =>
  createInProcessHttp(new Map(ENDPOINT_NAMES.map((name) => [urlOf(name), endpoints[name]])))

/**
 * The defaults, except for the collectors that cost most: Prometheus scrapes no more often than the RPC is read, and
 * the host collector reads a hundred files.
 */
const INTERVALS = { rpc: '5s', host: '30s' } as const

const configOf = (simulated: SimulatedHost, directory: string): Config => {
  const node = {
    ...simulated,
    rpcUrl: urlOf('rpc'),
    referenceUrl: urlOf('reference'),
    nativeUrl: urlOf('native'),
    otelUrl: urlOf('otel'),
    binDirectory: '',
  }
  const settings = { directory, port: 0, intervals: INTERVALS }
  const text = renderConfig(node, settings)
  const file = parseConfigFile(join(directory, 'agent.yaml'), text)
  return loadConfig({ file, env: {}, flags: [] }).config
}

const setMaintenanceWindow = async (config: Config, clock: Clock): Promise<void> => {
  const startedAt = clock.now()
  const until = startedAt + 24 * 60 * minute
  const note = 'set by the demo for every node with this profile'
  await openAnnouncements(config).write({ reason: 'upgrade', note, startedAt, until })
}

/** Stops the agent. Its port stays in use: otherwise Prometheus could scrape another program there as this node. */
const stopAgent = async (agent: Agent): Promise<Port> => {
  await agent.stop()
  return await openPort(agent.address.port, (_request, response) => {
    response.destroy()
  })
}

const TOTAL_BPS = 10_000

/**
 * The stake that consensus reports for one of `validators` that lead equally often: in basis points, with a total of
 * 10,000.
 */
export const stakeBpsOf = (index: number, validators: number): number =>
  upTo(index + 1, validators) - upTo(index, validators)

const upTo = (count: number, validators: number): number => Math.floor((count * TOTAL_BPS) / validators)
