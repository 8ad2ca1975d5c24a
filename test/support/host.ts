import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startAgent } from '../../src/agent.ts'
import { renderConfig } from '../../src/cli/demo-texts.ts'
import { readConfig } from '../../src/config/index.ts'
import { systemClock } from '../../src/core/clock.ts'
import { createChain } from '../../src/simulator/chain/chain.ts'
import { parseScenario } from '../../src/simulator/scenario/scenario.ts'
import { loadScenario } from '../../src/simulator/scenario/scenarios.ts'
import { createSimulatedHost } from '../../src/simulator/simulated-host.ts'
import { createStandInAsk } from '../../src/simulator/stand-in-ask.ts'
import { createStandInExec } from '../../src/simulator/tools/stand-in-exec.ts'
import { createAsk } from '../../src/sources/http.ts'
import { openAnnouncements } from '../../src/tasks/maintenance.ts'
import { cli } from './cli.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'

interface Options {
  /** The name of a scenario that is shipped, or the lines of one. */
  readonly scenario: string
  /** How far into it the node is. */
  readonly second: number
  /** Whether an agent watches the node already. */
  readonly agent?: boolean
  /** Whether there is a node at all: no unit, no tool, no port otherwise. */
  readonly hasNode?: boolean
  readonly maintenance?: { readonly minutes: number }
  readonly env?: Readonly<Record<string, string>>
}

/** A host on which command lines can be tried. */
export interface Host {
  readonly directory: string
  readonly configFile: string
  readonly port: number
  /** Runs `chain-agent ARGV` there; the configuration is that of the environment. */
  run(argv: readonly string[]): ReturnType<typeof cli>
  close(): Promise<void>
}

/**
 * A simulated host some way into a scenario: files are real, tools and ports are functions, time is
 * real. Everything that a command asks of it takes milliseconds.
 */
export const startHost = async (options: Options): Promise<Host> => {
  const { second, agent = true, hasNode = true, env = {} } = options
  const text = hasNode ? options.scenario : NO_NODE
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-host-'))
  const scenario = text.includes(' ') ? parseScenario('test', text) : await loadScenario(text)
  const simulated = await createSimulatedHost({
    clock: systemClock,
    prefix: 'chain',
    scenario,
    directory,
    chain: createChain(1),
    elapsedMs: second * 1000,
  })
  const ending = new AbortController()
  const kept = simulated.keep(ending.signal)
  const url = (name: string): string => `http://${name}.simulated`
  const { rpc, reference, native, otel } = simulated.endpoints
  const places = hasNode
    ? ([
        ['rpc', rpc],
        ['native', native],
        ['otel', otel],
      ] as const)
    : []
  const simulatedAsk = createStandInAsk(
    new Map([...places, ['reference', reference] as const].map(([name, at]) => [url(name), at])),
  )
  const realAsk = createAsk(systemClock)
  const port = await freePort()
  const place = {
    ...simulated,
    rpcUrl: url('rpc'),
    referenceUrl: url('reference'),
    nativeUrl: url('native'),
    otelUrl: url('otel'),
    binDirectory: '',
  }
  const configFile = join(directory, 'agent.yaml')
  await writeFile(configFile, renderConfig(place, { directory, port, hasTokens: false }))
  const { config } = readConfig(configFile, { env: {}, flags: [] })
  const standIns = {
    exec: createStandInExec(
      Object.fromEntries(
        Object.entries(simulated.tools).filter(([name]) => hasNode || !name.startsWith('chain-')),
      ),
    ),
    // The agent itself is asked over a real connection.
    ask: (request: Parameters<typeof realAsk>[0]) =>
      request.url.includes('.simulated') ? simulatedAsk(request) : realAsk(request),
  }
  if (options.maintenance) {
    const startedAt = systemClock.now()
    // A second more, so that what is left of it is still so many whole minutes when it is read.
    const until = startedAt + options.maintenance.minutes * 60_000 + 20_000
    await openAnnouncements(config).write({ reason: 'upgrade', note: null, startedAt, until })
  }
  const running = agent
    ? await startAgent({
        config,
        clock: systemClock,
        log: pino({ level: 'silent' }),
        path: directory,
        ...standIns,
        ownsProcess: false,
      })
    : undefined
  if (running) await ready(port)
  return {
    directory,
    configFile,
    port,
    run: (argv) =>
      cli(argv, { env: { CHAIN_AGENT_CONFIG: configFile, PATH: directory, ...env }, standIns }),
    close: async () => {
      ending.abort()
      await Promise.all([kept, running?.stop()])
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** Until every collector has ended its first attempt, and the consensus log was heard or cannot be. */
const ready = async (port: number): Promise<void> => {
  const get = async (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  await eventually(
    async () => (await get('/-/ready')).status,
    (status) => status === 200,
    { every: 20 },
  )
  await eventually(
    async () => (await get('/metrics')).text(),
    (text) =>
      text.includes('\nchain_agent_journal_last_entry_timestamp_seconds{service="bft"}') ||
      text.includes('\nchain_agent_collector_up{collector="consensus"} 0'),
    { every: 20 },
  )
}

/** What a host without a node has. */
const NO_NODE = ['bft', 'execution', 'rpc', 'ledger-tail', 'otelcol']
  .map((service) => `0s ${service} vanishes`)
  .join('\n')
