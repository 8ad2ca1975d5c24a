import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { get, type IncomingMessage } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { Command, InvalidArgumentError, Option } from 'commander'
import { loadScenario } from '../../simulator/scenario/scenario.ts'
import { type Child, freePort, openDemoShell, startChild, writeLauncher } from './child.ts'
import { type NodeInfo, nodeInfoSchema, renderConfig, renderWelcome } from './demo-texts.ts'
import { demoFleet } from './fleet/demo-fleet.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { attemptCommand, readPort, readPrefix, readSpan, renderScenarios } from '../simulate/command.ts'
import { figure } from '../../core/format.ts'

interface Options {
  readonly scenario: string
  readonly fleet?: number
  readonly list?: true
  readonly shell?: true
  readonly at: number
  readonly prefix: string
  readonly port: number
}

/** `chain-agent demo`: runs a simulated node and an agent that monitors it, until Ctrl-C. */
export const demoCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  new Command('demo')
    .option('--scenario <name|file>', 'scenario of the simulated node', 'healthy')
    .addOption(
      new Option('--fleet <nodes>', 'simulate this number of nodes, with different profiles, in one process')
        .argParser(readFleet)
        .conflicts(['scenario', 'at']),
    )
    .option('--at <duration>', 'start this far into the scenario: 90s, 5m', readSpan, 0)
    .option('--list', 'list the scenarios, or the profiles of the fleet, and exit')
    .addOption(
      new Option(
        '--shell',
        'open a shell in which chain-agent uses the demo; the demo stops when the shell exits',
      ).conflicts(['fleet', 'list']),
    )
    .option('--prefix <word>', 'name prefix of units and tools', readPrefix, 'chain')
    .option(
      '--port <port>',
      'port of the agent, or of the list of the fleet; another free port if it is in use',
      readPort,
      9843,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      exit(await attemptCommand(io, async () => await run(io, options)))
    })

const EXAMPLES = `
Examples:
  chain-agent demo
  chain-agent demo --list
  chain-agent demo --scenario service-crash
  chain-agent demo --scenario stalled --at 2m
  chain-agent demo --shell
  chain-agent demo --fleet 100
  chain-agent demo --fleet 100 --list`

const LARGEST_FLEET = 1000

const readFleet = (text: string): number => {
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= LARGEST_FLEET) return size
  throw new InvalidArgumentError(`expected a number of nodes from 1 to ${LARGEST_FLEET}`)
}

const run = async (io: Io, { fleet, ...options }: Options): Promise<ExitCode> =>
  fleet === undefined ? await demo(io, options) : await demoFleet(io, { ...options, fleet })

const demo = async (io: Io, options: Options): Promise<ExitCode> => {
  if (options.list) {
    io.stdout.write(await renderScenarios())
    return 0
  }
  // Parsed here first: an error in the scenario is printed here and not only in the log of the child.
  const { description } = await loadScenario(options.scenario)
  const directory = await mkdtemp(join(tmpdir(), 'chain-demo-'))
  const logFile = join(directory, 'agent.log')
  const log = await open(logFile, 'a')
  const children: Child[] = []
  try {
    const args = ['simulate', '--json', '--scenario', options.scenario, '--prefix', options.prefix]
    const at = ['--at', `${options.at}ms`]
    const simulator = startChild({
      args: [...args, ...at, '--directory', directory],
      env: {},
      log: log.fd,
      stdout: 'pipe',
      clock: io.clock,
    })
    children.push(simulator)
    const node = await readNodeInfo(simulator, io.signal)
    if (!node) return io.signal.aborted ? 0 : await reportExit(io, 'simulator', logFile)
    const port = await freePort(options.port)
    const config = join(directory, 'agent.yaml')
    await writeFile(config, renderConfig(node, { directory, port }))
    await writeLauncher(node.binDirectory)
    const agent = startChild({
      args: ['run', '--config', config],
      env: { PATH: node.binDirectory, HOME: directory },
      log: log.fd,
      stdout: 'log',
      clock: io.clock,
    })
    children.unshift(agent)
    io.stdout.write(
      renderWelcome({
        ...options,
        wanted: options.port,
        description,
        port,
        logFile,
        config,
        node,
        pid: simulator.process.pid,
      }),
    )
    const pair = { simulator, agent, metricsUrl: `http://127.0.0.1:${port}/metrics` }
    if (options.shell) {
      const { binDirectory } = node
      const watchInShell = async (shellIo: Io): Promise<void> => watch(shellIo, pair)
      if (!(await openDemoShell(io, { directory, binDirectory, config, watch: watchInShell }))) return 1
    } else await watch(io, pair)
    return io.signal.aborted || !agent.hasEnded() ? 0 : await reportExit(io, 'agent', logFile)
  } finally {
    for (const child of children) await child.stop()
    await log.close()
    await rm(directory, { recursive: true, force: true })
  }
}

/** The line that the simulator prints when it is ready; undefined if it exited before. */
const readNodeInfo = async ({ process: child, ended }: Child, signal: AbortSignal): Promise<NodeInfo | undefined> => {
  if (!child.stdout) return undefined
  const line = once(createInterface({ input: child.stdout }), 'line', { signal }).catch(() => [])
  const [text]: readonly unknown[] = await Promise.race([line, ended.then(() => [])])
  if (typeof text !== 'string') return undefined
  return nodeInfoSchema.parse(JSON.parse(text))
}

/** By then each collector has run once. */
const FIRST_MS = 1500
const EVERY_MS = { terminal: 2000, file: 10_000 } as const

/** Prints a status line at intervals until the demo is interrupted or the agent has exited. */
const watch = async (
  io: Io,
  { simulator, agent, metricsUrl }: { readonly simulator: Child; readonly agent: Child; readonly metricsUrl: string },
): Promise<void> => {
  const onTerminal = 'isTTY' in io.stdout && io.stdout.isTTY === true
  let isReported = false
  let wake = (): void => undefined
  // Registered once: callbacks registered at each turn would accumulate on pending promises.
  for (const ended of [simulator.ended, agent.ended]) void ended.then(() => wake())
  io.signal.addEventListener('abort', () => wake(), { once: true })
  await io.clock.sleep(FIRST_MS, io.signal)
  while (!io.signal.aborted && !agent.hasEnded()) {
    if (simulator.hasEnded() && !isReported) {
      isReported = true
      io.stdout.write(`${onTerminal ? '\n' : ''}The simulated node has exited; the agent continues.\n`)
    }
    const line = await readStatusLine(metricsUrl)
    io.stdout.write(onTerminal ? `\r\u001b[K${line}` : `${line}\n`)
    const pause = new AbortController()
    wake = () => pause.abort()
    if (io.signal.aborted || agent.hasEnded()) break
    await io.clock.sleep(EVERY_MS[onTerminal ? 'terminal' : 'file'], pause.signal)
  }
  if (onTerminal) io.stdout.write('\n')
}

const reportExit = async ({ stderr }: Io, name: string, logFile: string): Promise<ExitCode> => {
  const tail = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-15)
  stderr.write(
    `The ${name} has exited unexpectedly. The end of its log:\n${tail.map((line) => `  ${line}\n`).join('')}`,
  )
  return 1
}

const TIMEOUT_MS = 2000

/** The agent's key metrics of the node in one line, or a note if the agent does not respond. */
const readStatusLine = async (metricsUrl: string): Promise<string> => {
  try {
    return renderStatusLine(await fetchText(metricsUrl))
  } catch {
    return 'the agent does not respond yet'
  }
}

/** Renders the key metrics from the text of a scrape; `-` for an absent metric. */
export const renderStatusLine = (metrics: string): string => {
  const value = (series: string): string => {
    const line = metrics.split('\n').find((candidate) => candidate.startsWith(`${series} `))
    return line?.slice(series.length + 1).trim() ?? '-'
  }
  const number = (series: string): string => {
    const found = value(series)
    return found === '-' ? found : figure(Number(found))
  }
  const services = [...metrics.matchAll(/^chain_service_active\{service="([^"]*)"\} ([01])$/gm)]
  const active = services.filter(([, , state]) => state === '1').map(([, service]) => service)
  return [
    `height ${number('chain_rpc_block_number{tag="latest"}')}`,
    `difference ${number('chain_block_difference')}`,
    `rpc up ${value('chain_rpc_up')}`,
    `ledger ${number('chain_ledger_seq_num{event="proposed"}')}`,
    `active ${active.length === 0 ? '-' : active.join(' ')}`,
  ].join('  ')
}

const fetchText = async (url: string): Promise<string> => {
  const request = get(url, { timeout: TIMEOUT_MS })
  request.on('timeout', () => request.destroy(new Error('no response in time')))
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject)
  })
  if (response.statusCode !== 200) throw new Error('no metrics')
  return await readText(response)
}
