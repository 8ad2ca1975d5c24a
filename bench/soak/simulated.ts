import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { type NodeInfo, nodeInfoSchema, renderConfig } from '../../simulator/commands/demo/demo-texts.ts'
import { eventually } from '../../test/support/eventually.ts'
import { freePort } from '../../test/support/free-port.ts'
import { agentEnvironment, MAIN, type Setup } from '../comparison.ts'
import type { Load } from './load.ts'

/** A process that is measured. */
export interface Subject {
  readonly name: string
  readonly socketFile: string
  /** Directory whose size is measured. */
  readonly state?: string
  readonly takeScrapes?: () => Record<string, number>
  /** Why it ended; undefined while it runs. */
  readonly ended?: () => string | undefined
}

/** SIGUSR2 writes a heap snapshot into the folder of the run. */
export const nodeOptions = (folder: string): readonly string[] => [
  '--import',
  join(import.meta.dirname, 'preload.mjs'),
  '--expose-gc',
  '--heapsnapshot-signal=SIGUSR2',
  `--diagnostic-dir=${folder}`,
]

/** As in its unit in `deploy/`. */
export const SERVICE_OPTIONS = ['--max-semi-space-size=64'] as const

/** What happens in each hour of the node: minute and directive. */
const HOUR: readonly (readonly [number, string])[] = [
  [2, 'log noise 3'],
  [6, 'log noise 0'],
  [8, 'node restarts'],
  [12, 'log floods 1000'],
  [13, 'log calms'],
  [16, 'bft crashes SIGABRT'],
  [17, 'bft starts'],
  [20, 'journal keeps 5m'],
  [24, 'journal keeps 3h'],
  [27, 'execution stops'],
  [28, 'execution starts'],
  [31, 'node syncs 3m'],
  [37, 'network noise 20'],
  [40, 'network calms'],
  [43, 'rpc fails'],
  [44, 'rpc answers'],
  [46, 'reference fails'],
  [47, 'reference answers'],
  [49, 'status hangs'],
  [50, 'status answers'],
  [52, 'journal freezes'],
  [53, 'journal thaws'],
  [55, 'ledger-tail stops'],
  [56, 'ledger-tail starts'],
  [58, 'key secp rotates'],
]

/** The same steps again and again: seconds within a period, and directives. */
export const repeated = (
  steps: readonly (readonly [number, string])[],
  { every, times }: { readonly every: number; readonly times: number },
): string =>
  Array.from({ length: times }, (_, index) =>
    steps.map(([second, directive]) => `${index * every + second}s ${directive}`),
  )
    .flat()
    .join('\n')

/** How many times as fast the clock of the processes runs. */
export const createLauncher = ({ folder, defer }: Pick<Setup, 'folder' | 'defer'>, speed: number) => {
  const epoch = `${Date.now()}`
  return async (name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const socketFile = join(folder, `${name}.sock`)
    const logFile = join(folder, `${name}.log`)
    const log = await open(logFile, 'a')
    const child = spawn(process.execPath, [...nodeOptions(folder), ...args], {
      env: { ...process.env, ...env, SOAK_SPEED: `${speed}`, SOAK_EPOCH: epoch, SOAK_SOCKET: socketFile },
      stdio: ['ignore', log.fd, log.fd],
    })
    await log.close()
    const exit = once(child, 'exit')
    defer(async () => {
      child.kill()
      await exit
    })
    const ended = (): string | undefined =>
      child.exitCode === null && child.signalCode === null
        ? undefined
        : `exit code ${child.exitCode}, signal ${child.signalCode}; see ${logFile}`
    return { name, socketFile, logFile, ended, hangUp: () => child.kill('SIGHUP') }
  }
}

type Launch = ReturnType<typeof createLauncher>

export const startSimulator = async (launch: Launch, folder: string, scenario: string) => {
  const file = join(folder, 'soak.scenario')
  await writeFile(file, scenario)
  const args = ['simulate', '--json', '--scenario', file, '--directory', join(folder, 'node')]
  const simulator = await launch('simulator', [MAIN, ...args])
  const line = await eventually(
    async () => readFile(simulator.logFile, 'utf8'),
    (text) => text.endsWith('\n') || simulator.ended() !== undefined,
  )
  return { simulator, node: nodeInfoSchema.parse(JSON.parse(line)) }
}

export const serviceConfig = (
  node: NodeInfo,
  {
    folder,
    ports: [port, operations],
    readyLag,
  }: { readonly folder: string; readonly ports: readonly [number, number]; readonly readyLag: number },
): string => {
  const own = z.object({ serveQuery: z.looseObject({}) }).parse(parse(renderConfig(node, { directory: folder, port })))
  const listen = { listen: `127.0.0.1:${port}`, metricsListen: `127.0.0.1:${operations}` }
  return stringify({
    prefix: node.prefix,
    rpc: { url: node.rpcUrl },
    serveQuery: { ...own.serveQuery, ...listen, readyLag, retentionBlocks: 20_000 },
  })
}

interface ServedPorts {
  readonly agent: number
  readonly query: number
  readonly operations: number
  /** Milliseconds between two scrapes. */
  readonly every: number
}

/** The clients of both programs. Returns what takes the times of the scrapes. */
export const startClients = async (load: Load, { agent, query, operations, every }: ServedPorts) => {
  const urlOf = (port: number): string => `http://127.0.0.1:${port}`
  for (const port of [agent, operations]) await eventually(async () => load.read(`${urlOf(port)}/metrics`), Boolean)
  for (let viewer = 0; viewer < 3; viewer += 1) load.viewer(urlOf(agent), 8000)
  for (const path of ['status', 'health', 'events', 'overview']) {
    load.every(every, async () => load.read(`${urlOf(agent)}/api/v1/${path}`))
  }
  for (let client = 0; client < 3; client += 1) load.queries(urlOf(query), 100)
  return {
    agent: load.scrapes(`${urlOf(agent)}/metrics`, every),
    service: load.scrapes(`${urlOf(operations)}/metrics`, every),
  }
}

/** Intervals of the agent after each second reload: the collectors start again. */
const OTHER_INTERVALS = { rpc: '3s', host: '20s', services: '7s' } as const

const SCRAPE_MS = 15_000
const RELOAD_MS = 600_000

/** A simulated node, the agent and the query service, each a process, and their clients. */
export const startSimulated = async (
  setup: Pick<Setup, 'folder' | 'defer'>,
  load: Load,
  { minutes, speed }: { readonly minutes: number; readonly speed: number },
): Promise<readonly Subject[]> => {
  const { folder } = setup
  const launch = createLauncher(setup, speed)
  const hours = Math.ceil((minutes * speed) / 60)
  const steps = HOUR.map(([minute, directive]) => [minute * 60, directive] as const)
  const scenario = repeated(steps, { every: 3600, times: hours })
  const { simulator, node } = await startSimulator(launch, folder, scenario)

  const [port, queryPort, operationsPort] = [await freePort(), await freePort(), await freePort()]
  const [agentFile, serviceFile] = [join(folder, 'agent.yaml'), join(folder, 'query-service.yaml')]
  const configure = async (isOdd: boolean): Promise<void> => {
    const intervals = isOdd ? OTHER_INTERVALS : {}
    const ports = [queryPort, operationsPort] as const
    await writeFile(agentFile, renderConfig(node, { directory: folder, port, intervals }))
    await writeFile(serviceFile, serviceConfig(node, { folder, ports, readyLag: isOdd ? 31 : 30 }))
  }
  await configure(false)
  const environment = { ...(await agentEnvironment()), PATH: node.binDirectory, HOME: folder }
  const agent = await launch('agent', [MAIN, 'run', '--config', agentFile], environment)
  const service = await launch('query-service', [...SERVICE_OPTIONS, MAIN, 'serve-query', '--config', serviceFile])
  const every = SCRAPE_MS / speed
  const take = await startClients(load, { agent: port, query: queryPort, operations: operationsPort, every })
  let isOdd = true
  load.every(RELOAD_MS / speed, async () => {
    await configure(isOdd)
    agent.hangUp()
    service.hangUp()
    isOdd = !isOdd
  })
  return [
    { ...agent, state: join(folder, 'state'), takeScrapes: take.agent },
    { ...service, state: join(folder, 'event-logs'), takeScrapes: take.service },
    simulator,
  ]
}
