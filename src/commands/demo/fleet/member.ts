import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { type Agent, startAgent } from '../../../agent/agent.ts'
import { parseConfigFile } from '../../../config/file.ts'
import { loadConfig } from '../../../config/load.ts'
import type { Config } from '../../../config/schema.ts'
import type { Clock } from '../../../core/clock.ts'
import { minute } from '../../../core/units.ts'
import { openAnnouncements } from '../../maintenance/maintenance.ts'
import type { Chain } from '../../../simulator/chain/chain.ts'
import { pick } from '../../../simulator/chain/random.ts'
import { type EndpointName, openPort, type Port } from '../../../simulator/endpoints.ts'
import { LEISURELY } from '../../../simulator/pace.ts'
import { parseScenario, type Scenario } from '../../../simulator/scenario/scenario.ts'
import { createSimulatedHost, type SimulatedHost } from '../../../simulator/simulated-host.ts'
import { createInProcessExec, createInProcessHttp } from '../../../simulator/in-process.ts'
import { renderConfig } from '../demo-texts.ts'
import { AGENT_AFTER_MS, type Fate } from './fates.ts'
import { stakeBpsOf } from './stake.ts'

interface MemberOptions {
  readonly name: string
  readonly fate: Fate
  readonly chain: Chain
  /** Which of the chain's validators it is. */
  readonly index: number
  readonly prefix: string
  readonly forksFromMs: number
  readonly clock: Clock
  readonly log: Logger
  /** A directory of its own. */
  readonly directory: string
}

/** One node of the fleet, with an agent of its own that listens on a port of its own. */
export interface Member {
  readonly name: string
  readonly fate: Fate
  readonly publicKey: string
  readonly port: number
  stop(): Promise<void>
}

export const startMember = async (options: MemberOptions): Promise<Member> => {
  const { fate, clock, log, directory } = options
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
    ask: askOf(simulated),
    ownsProcess: false,
  })
  const end = new AbortController()
  const kept = simulated.keep(end.signal)
  const befall = async (): Promise<Port | undefined> => {
    await clock.sleep(AGENT_AFTER_MS, end.signal)
    if (end.signal.aborted) return undefined
    if (fate.agent === 'maintenance') await announce(config, clock)
    return fate.agent === 'gone' ? await replace(agent) : undefined
  }
  // Of one node: the others go on.
  const befallen = befall().catch((error: unknown) => {
    log.error({ err: error }, `The fate "${fate.name}" did not come`)
    return undefined
  })
  return {
    name: options.name,
    fate,
    publicKey: simulated.ownPublicKey,
    port: agent.address.port,
    stop: async () => {
      end.abort()
      const silent = await befallen
      await Promise.all([kept, silent ? silent.shut() : agent.stop()])
    },
  }
}

/** A fate, upon what differs between nodes that are well. Lines and files that mean nothing are spared. */
const scenarioOf = ({ name, fate, chain, index }: MemberOptions): Scenario =>
  parseScenario(
    name,
    [
      '0s log noise 0',
      '0s host openfiles 40',
      `0s storage used ${48 + pick(23, name, 'storage')}`,
      `0s host busy ${8 + pick(30, name, 'busy')}`,
      `0s stake is ${stakeBpsOf(index, chain.validators.length)}`,
      ...fate.lines,
    ].join('\n'),
  )

const urlOf = (name: EndpointName): string => `http://${name}.simulated`

const askOf = ({ endpoints }: SimulatedHost) =>
  createInProcessHttp(
    new Map([
      [urlOf('rpc'), endpoints.rpc],
      [urlOf('reference'), endpoints.reference],
      [urlOf('native'), endpoints.native],
      [urlOf('otel'), endpoints.otel],
    ]),
  )

/**
 * As on a host at work, but for what costs most: Prometheus comes no oftener than we ask the RPC, and
 * the host is a hundred files.
 */
const INTERVALS = { rpc: '5s', host: '30s', maintenance: '10s' } as const

const configOf = (simulated: SimulatedHost, directory: string): Config => {
  const place = {
    ...simulated,
    rpcUrl: urlOf('rpc'),
    referenceUrl: urlOf('reference'),
    nativeUrl: urlOf('native'),
    otelUrl: urlOf('otel'),
    binDirectory: '',
  }
  const settings = { directory, port: 0, intervals: INTERVALS, hasTokens: false }
  const text = renderConfig(place, settings)
  const file = parseConfigFile(join(directory, 'agent.yaml'), text)
  return loadConfig({ file, env: {}, flags: [] }).config
}

const announce = async (config: Config, clock: Clock): Promise<void> => {
  const startedAt = clock.now()
  const until = startedAt + 24 * 60 * minute
  const note = 'as every node of the fleet that has this fate'
  await openAnnouncements(config).write({ reason: 'upgrade', note, startedAt, until })
}

/** Nobody answers any more. The port stays taken: what another program served there would be taken for the node's. */
const replace = async (agent: Agent): Promise<Port> => {
  await agent.stop()
  return await openPort(agent.address.port, (_request, response) => {
    response.destroy()
  })
}
