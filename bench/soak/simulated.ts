import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { nodeInfoSchema, renderConfig } from '../../simulator/commands/demo/demo-texts.ts'
import { eventually } from '../../test/support/eventually.ts'
import { freePort } from '../../test/support/free-port.ts'
import { MAIN, type Setup } from '../comparison.ts'
import type { Load } from './load.ts'

/** A process that is measured. */
export interface Subject {
  readonly name: string
  readonly socketFile: string
  /** Directory whose size is measured. */
  readonly state?: string
  readonly takeScrapes?: () => Record<string, number>
  /** Why it ended; undefined while it runs. */
  ended(): string | undefined
}

/** SIGUSR2 writes a heap snapshot into the folder of the run. */
const NODE_OPTIONS = [
  '--import',
  join(import.meta.dirname, 'preload.mjs'),
  '--expose-gc',
  '--heapsnapshot-signal=SIGUSR2',
]

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

const scenarioOf = (hours: number): string =>
  Array.from({ length: hours }, (_, hour) => HOUR.map(([minute, directive]) => `${hour * 60 + minute}m ${directive}`))
    .flat()
    .join('\n')

interface SimulatedOptions {
  readonly minutes: number
  /** How many times as fast the clocks of the node, the agent and the query service run. */
  readonly speed: number
}

const SCRAPE_MS = 15_000

/** In real time: a time limit must not pass because the machine is busy. */
const TIMEOUT_S = 20
const COLLECTORS =
  'consensus execution host keys ledger lifecycle logs native reference rpc services derived maintenance schedule slo staking status storage tokens version'.split(
    ' ',
  )

/** A simulated node, the agent and the query service, each a process, and their clients. */
export const startSimulated = async (
  { folder, defer }: Pick<Setup, 'folder' | 'defer'>,
  load: Load,
  { minutes, speed }: SimulatedOptions,
): Promise<readonly Subject[]> => {
  const epoch = `${Date.now()}`
  const launch = async (name: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const socketFile = join(folder, `${name}.sock`)
    const logFile = join(folder, `${name}.log`)
    const log = await open(logFile, 'a')
    const child = spawn(process.execPath, [...NODE_OPTIONS, `--diagnostic-dir=${folder}`, ...args], {
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
  const scenario = join(folder, 'soak.scenario')
  await writeFile(scenario, scenarioOf(Math.ceil((minutes * speed) / 60)))
  const nodeDirectory = join(folder, 'node')
  const simulate = [MAIN, 'simulate', '--json', '--scenario', scenario, '--directory', nodeDirectory]
  const simulator = await launch('simulator', simulate)
  const line = await eventually(
    async () => readFile(simulator.logFile, 'utf8'),
    (text) => text.endsWith('\n') || simulator.ended() !== undefined,
  )
  const node = nodeInfoSchema.parse(JSON.parse(line))

  const port = await freePort()
  const agentConfig = join(folder, 'agent.yaml')
  const configOf = (intervals: Readonly<Record<string, string>>): string =>
    renderConfig(node, { directory: folder, port, intervals })
  await writeFile(agentConfig, configOf({}))
  const timeouts = COLLECTORS.flatMap((name) => ['--set', `${name}.timeout=${TIMEOUT_S * speed}s`])
  const agent = await launch('agent', [MAIN, 'run', '--config', agentConfig, ...timeouts], {
    PATH: node.binDirectory,
    HOME: folder,
  })

  const { serveQuery } = z.object({ serveQuery: z.record(z.string(), z.unknown()) }).parse(parse(configOf({})))
  const store = join(folder, 'event-logs')
  await mkdir(store, { recursive: true })
  const [queryPort, operationsPort] = [await freePort(), await freePort()]
  const serviceConfig = join(folder, 'query-service.yaml')
  const serviceConfigOf = (readyLag: number): string =>
    stringify({
      prefix: node.prefix,
      rpc: { url: node.rpcUrl },
      serveQuery: {
        ...serveQuery,
        store,
        readyLag,
        retentionBlocks: 20_000,
        listen: `127.0.0.1:${queryPort}`,
        metricsListen: `127.0.0.1:${operationsPort}`,
      },
    })
  await writeFile(serviceConfig, serviceConfigOf(30))
  const serve = ['--max-semi-space-size=64', MAIN, 'serve-query', '--config', serviceConfig]
  const service = await launch('query-service', serve)

  const [agentUrl, queryUrl, operations] = [port, queryPort, operationsPort].map((at) => `http://127.0.0.1:${at}`)
  if (agentUrl === undefined || queryUrl === undefined || operations === undefined) throw new Error('no ports')
  for (const url of [`${agentUrl}/metrics`, `${operations}/metrics`])
    await eventually(async () => load.read(url), Boolean)

  for (let viewer = 0; viewer < 3; viewer += 1) load.viewer(agentUrl, 8000)
  for (const path of ['status', 'health', 'events', 'overview']) {
    load.every(SCRAPE_MS / speed, async () => load.read(`${agentUrl}/api/v1/${path}`))
  }
  for (let client = 0; client < 3; client += 1) load.queries(queryUrl, 100)
  let reloads = 0
  load.every((600 * 1000) / speed, async () => {
    reloads += 1
    const isOdd = reloads % 2 === 1
    await writeFile(agentConfig, configOf(isOdd ? { rpc: '3s', host: '20s', services: '7s' } : {}))
    await writeFile(serviceConfig, serviceConfigOf(isOdd ? 31 : 30))
    agent.hangUp()
    service.hangUp()
  })
  return [
    {
      ...agent,
      state: join(folder, 'state'),
      takeScrapes: load.scrapes(`${agentUrl}/metrics`, SCRAPE_MS / speed),
    },
    { ...service, state: store, takeScrapes: load.scrapes(`${operations}/metrics`, SCRAPE_MS / speed) },
    simulator,
  ]
}
