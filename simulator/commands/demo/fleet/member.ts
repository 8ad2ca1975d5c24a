import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { type Agent, startAgent } from '../../../../src/agent/agent.ts'
import { parseConfigFile } from '../../../../src/config/file.ts'
import { loadConfig } from '../../../../src/config/load.ts'
import type { Config } from '../../../../src/config/schema.ts'
import type { Clock } from '../../../../src/core/clock.ts'
import { minute } from '../../../../src/core/units.ts'
import { type Chain, pick } from '../../../chain.ts'
import { type EndpointName, openPort, type Port } from '../../../endpoints.ts'
import { createInProcessExec, createInProcessHttp } from './in-process.ts'
import { LEISURELY } from '../../../pace.ts'
import { parseScenario, type Scenario } from '../../../scenario/scenario.ts'
import { createSimulatedHost, type SimulatedHost } from '../../../simulator.ts'
import { openAnnouncements } from '../../../../src/commands/maintenance/action.ts'
import { renderConfig } from '../demo-texts.ts'
import { AGENT_AFTER_MS, type NodeProfile } from './profiles.ts'

interface MemberOptions {
  readonly name: string
  readonly profile: NodeProfile
  readonly chain: Chain
  /** Index of the node in the chain's validators. */
  readonly index: number
  readonly prefix: string
  readonly forksFromMs: number
  readonly clock: Clock
  readonly log: Logger
  /** The directory of this node. */
  readonly directory: string
}

/** One node of the fleet, with its own agent on its own port. */
export interface Member {
  readonly name: string
  readonly profile: NodeProfile
  readonly publicKey: string
  readonly port: number
  stop(): Promise<void>
}

export const startMember = async (options: MemberOptions): Promise<Member> => {
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
    stop: async () => {
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
  createInProcessHttp(
    new Map([
      [urlOf('rpc'), endpoints.rpc],
      [urlOf('reference'), endpoints.reference],
      [urlOf('native'), endpoints.native],
      [urlOf('otel'), endpoints.otel],
    ]),
  )

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
