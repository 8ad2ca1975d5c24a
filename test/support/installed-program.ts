import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { nodeInfoSchema, renderConfig } from '../../simulator/commands/demo/demo-texts.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { receiving } from './http.ts'
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

const configSchema = z.looseObject({ serveQuery: z.record(z.string(), z.unknown()) })

/**
 * The npm package, installed without a network, with a simulated node, its agent, and a watcher of its own. Consensus of the
 * node has crashed ten seconds ago. The interpreter is that of the test.
 */
export const installProgram = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-tarball-'))
  /** The path of a file in a directory of its own. */
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
  /** Starts a command that runs until the end of the test. */
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

  const alertmanager = await receiving(200, '{}')
  const port = await freePort()
  const address = async (): Promise<string> => `127.0.0.1:${await freePort()}`
  /** HOST:PORT of the agent, of the watcher, of a query service, and of its page. */
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
    /** What the agent has sent to Alertmanager. */
    alerts: alertmanager.bodies,
    file,
    /** What a command prints, on standard output and then on standard error. */
    command: async (args: readonly string[], input = ''): Promise<string> => {
      const { stdout, stderr } = await run(process.execPath, [main, ...args], { ...options(), input })
      return `${stdout}\n${stderr}`
    },
    start: startProgram,
    stop: async (): Promise<void> => {
      for (const running of programs.toReversed()) await running.stop()
      await alertmanager.close()
      await rm(directory, { recursive: true })
    },
  }
}
