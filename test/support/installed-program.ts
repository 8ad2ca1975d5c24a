import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { type NodeInfo, nodeInfoSchema, renderConfig } from '../../simulator/commands/demo/demo-texts.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { listening } from './http.ts'
import { must, run, type Running, start } from './programs.ts'
import { scrape } from './scrape.ts'

const ROOT = join(import.meta.dirname, '../..')
const SCENARIO = `# Consensus crashes and stays down.
#
# Failure: F16
# Signal: chain_service_active{service="bft"} == 0
# Restart: services, sync
# Cause: ChainServiceDown

300s  bft  crashes SIGABRT
`

/** The npm package, installed without a network, with a simulated node, its agent, and a watcher of its own. */
export interface InstalledProgram {
  /** Where npm installed it. */
  readonly prefix: string
  readonly packageDirectory: string
  readonly node: NodeInfo
  readonly environment: Readonly<Record<string, string>>
  /** HOST:PORT of the agent, of the watcher, of a query service, and of its page. */
  readonly addresses: Readonly<Record<'agent' | 'watcher' | 'query' | 'operations', string>>
  /** What the agent has sent to Alertmanager. */
  readonly alerts: readonly string[]
  /** The path of a file in a directory of its own. */
  file(name: string): string
  /** What a command prints, on standard output and then on standard error. */
  command(args: readonly string[], input?: string): Promise<string>
  /** Starts a command that runs until the end of the test. */
  start(...args: readonly string[]): Running
  stop(): Promise<void>
}

const configSchema = z.looseObject({ serveQuery: z.record(z.string(), z.unknown()) })

/** Consensus of the node has crashed ten seconds ago. The interpreter is that of the test. */
export const installProgram = async (): Promise<InstalledProgram> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-tarball-'))
  const file = (name: string): string => join(directory, name)
  const prefix = file('prefix')
  const tarball = (await must(process.execPath, ['scripts/tarball.mjs', directory], { cwd: ROOT })).trim()
  const offline = ['--offline', '--cache', file('npm-cache'), '--ignore-scripts', '--global', '--prefix', prefix]
  await must('npm', ['install', ...offline, file(tarball)], { cwd: directory })

  const programs: Running[] = []
  const main = join(prefix, 'bin/chain-agent')
  let environment: Readonly<Record<string, string>> = {
    HOME: directory,
    LANG: 'C.UTF-8',
    CHAIN_AGENT_CONFIG: file('agent.yaml'),
  }
  const options = () => ({ cwd: directory, env: environment, extendEnv: false })
  const startProgram = (...args: readonly string[]): Running => {
    const running = start(process.execPath, [main, ...args], options())
    programs.push(running)
    return running
  }

  await writeFile(file('crash.scenario'), SCENARIO)
  const scenario = ['--scenario', file('crash.scenario'), '--at', '310s', '--directory', file('node')]
  const simulator = startProgram('simulate', '--json', ...scenario)
  const line = await eventually(simulator.output, (output) => output.endsWith('}\n'))
  const node = nodeInfoSchema.parse(JSON.parse(line))
  environment = { ...environment, PATH: node.binDirectory }

  const alerts: string[] = []
  const alertmanager = await listening(
    createServer((request, response) => {
      void text(request).then((body) => {
        alerts.push(body)
        response.end('{}')
      })
    }),
  )
  const port = await freePort()
  const address = async (): Promise<string> => `127.0.0.1:${await freePort()}`
  const addresses = {
    agent: `127.0.0.1:${port}`,
    watcher: await address(),
    query: await address(),
    operations: await address(),
  }
  const settings = configSchema.parse(parse(renderConfig(node, { directory, port })))
  const write = async (name: string, value: unknown): Promise<void> => writeFile(file(name), stringify(value))
  await write('agent.yaml', {
    ...settings,
    health: { limits: { ChainServiceDown: { for: '1s' } } },
    heartbeat: { urlFile: file('url'), interval: '1s' },
    alertmanagers: { urls: [alertmanager.url], interval: '1s', labels: { cluster: 'of-the-test' } },
    serveQuery: {
      ...settings.serveQuery,
      listen: addresses.query,
      metricsListen: addresses.operations,
      behindAfter: 'never',
    },
  })
  await writeFile(file('url'), `http://${addresses.watcher}/api/v1/heartbeat\n`, { mode: 0o600 })
  await write('watcher.yaml', {
    profile: 'watcher',
    listen: addresses.watcher,
    state: { directory: file('watcher') },
    watched: { name: 'node-a' },
  })
  startProgram('run', '--config', file('watcher.yaml'))
  const agent = startProgram('run')
  await agent.during(
    eventually(
      async () => scrape(`http://${addresses.agent}/metrics`),
      ({ value }) =>
        value('chain_rpc_up') === 1 &&
        value('chain_service_active', { service: 'bft' }) === 0 &&
        value('chain_key_backup_copies', { key: 'secp' }) === 0,
    ),
  )
  return {
    prefix,
    packageDirectory: join(prefix, 'lib/node_modules/chain-agent'),
    node,
    environment,
    addresses,
    alerts,
    file,
    command: async (args, input = '') => {
      const { stdout, stderr } = await run(process.execPath, [main, ...args], { ...options(), input })
      return `${stdout}\n${stderr}`
    },
    start: startProgram,
    stop: async () => {
      for (const running of programs.toReversed()) await running.stop()
      await alertmanager.close()
      await rm(directory, { recursive: true })
    },
  }
}
