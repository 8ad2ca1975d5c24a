import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Command, InvalidArgumentError, Option } from 'commander'
import { loadScenario } from '../../simulator/scenario/scenario.ts'
import { type Child, startChild } from './child.ts'
import { openDemoShell, writeLauncher } from './demo-shell.ts'
import { readStatusLine } from './demo-line.ts'
import { type Place, placeSchema, renderConfig, renderWelcome } from './demo-texts.ts'
import { freePort } from './free-port.ts'
import { demoFleet } from './fleet/demo-fleet.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import {
  attemptCommand,
  readPort,
  readPrefix,
  readSpan,
  renderScenarios,
} from '../simulate/command.ts'

interface Options {
  readonly scenario: string
  readonly fleet?: number
  readonly list?: true
  readonly shell?: true
  readonly at: number
  readonly prefix: string
  readonly port: number
}

/** `chain-agent demo`: a simulated node and an agent that watches it, until Ctrl-C. */
export const demoCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  new Command('demo')
    .description('rehearse: start a simulated node, and the agent beside it')
    .option('--scenario <name|file>', 'what befalls the node', 'healthy')
    .addOption(
      new Option('--fleet <nodes>', 'so many nodes with different fates in one process')
        .argParser(readFleet)
        .conflicts(['scenario', 'at']),
    )
    .option('--at <duration>', 'begin so far into the scenario: 90s, 5m', readSpan, 0)
    .option('--list', 'list the scenarios, or the fates of the fleet, and end')
    .addOption(
      new Option(
        '--shell',
        'open a shell in which chain-agent uses the demo; the demo stops when the shell exits',
      ).conflicts(['fleet', 'list']),
    )
    .option('--prefix <word>', 'the word before the names of units and tools', readPrefix, 'chain')
    .option(
      '--port <port>',
      'where the agent serves /metrics, or the fleet its list; another one if it is taken',
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
  // Read here first: a mistake in a scenario is better said than found in a child's log.
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
    const place = await readPlace(simulator, io.signal)
    if (!place) return io.signal.aborted ? 0 : await sayDead(io, 'simulator', logFile)
    const port = await freePort(options.port)
    const config = join(directory, 'agent.yaml')
    await writeFile(config, renderConfig(place, { directory, port }))
    await writeLauncher(place.binDirectory)
    const agent = startChild({
      args: ['run', '--config', config],
      env: { PATH: place.binDirectory, HOME: directory },
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
        place,
        pid: simulator.process.pid,
      }),
    )
    const pair = { simulator, agent, metricsUrl: `http://127.0.0.1:${port}/metrics` }
    if (options.shell) {
      const { binDirectory } = place
      const watched = async (shellIo: Io): Promise<void> => watch(shellIo, pair)
      if (!(await openDemoShell(io, { directory, binDirectory, config, watch: watched }))) return 1
    } else await watch(io, pair)
    return io.signal.aborted || !agent.hasEnded() ? 0 : await sayDead(io, 'agent', logFile)
  } finally {
    for (const child of children) await child.stop()
    await log.close()
    await rm(directory, { recursive: true, force: true })
  }
}

/** The line that the simulator prints when it is ready; undefined when it ended before. */
const readPlace = async (
  { process: child, ended }: Child,
  signal: AbortSignal,
): Promise<Place | undefined> => {
  if (!child.stdout) return undefined
  const line = once(createInterface({ input: child.stdout }), 'line', { signal }).catch(() => [])
  const [text]: readonly unknown[] = await Promise.race([line, ended.then(() => [])])
  if (typeof text !== 'string') return undefined
  return placeSchema.parse(JSON.parse(text))
}

interface Pair {
  readonly simulator: Child
  readonly agent: Child
  readonly metricsUrl: string
}

/** By then the agent has asked everybody once. */
const FIRST_MS = 1500
const EVERY_MS = { terminal: 2000, file: 10_000 } as const

/** Prints a line now and then until the demo is interrupted or the agent has ended. */
const watch = async (io: Io, { simulator, agent, metricsUrl }: Pair): Promise<void> => {
  const onTerminal = 'isTTY' in io.stdout && io.stdout.isTTY === true
  let mourned = false
  let wake = (): void => undefined
  // Once for all turns: a callback at each turn would pile up on promises that stay pending.
  for (const ended of [simulator.ended, agent.ended]) void ended.then(() => wake())
  io.signal.addEventListener('abort', () => wake(), { once: true })
  await io.clock.sleep(FIRST_MS, io.signal)
  while (!io.signal.aborted && !agent.hasEnded()) {
    if (simulator.hasEnded() && !mourned) {
      mourned = true
      io.stdout.write(`${onTerminal ? '\n' : ''}The simulated node has ended; the agent goes on.\n`)
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

const sayDead = async ({ stderr }: Io, who: string, logFile: string): Promise<ExitCode> => {
  const tail = (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-15)
  stderr.write(
    `The ${who} has ended by itself. The end of its log:\n${tail.map((line) => `  ${line}\n`).join('')}`,
  )
  return 1
}
