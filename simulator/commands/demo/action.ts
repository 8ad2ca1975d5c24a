import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { loadScenario } from '../../scenario/scenario.ts'
import { type Child, openDemoShell, startChild, writeLauncher } from './processes.ts'
import { readStatusLine } from './status-line.ts'
import { type NodeInfo, nodeInfoSchema, renderConfig, renderWelcome } from './demo-texts.ts'
import { freePort } from '../../endpoints.ts'
import { demoFleet } from './fleet/demo-fleet.ts'
import type { ExitCode, Io, ActionContext } from '../../../src/terminal/io.ts'
import { START_OF_LINE } from '../../../src/terminal/progress.ts'
import { attemptCommand, renderScenarios } from '../simulate/action.ts'

interface Options {
  readonly scenario: string
  readonly fleet?: number
  readonly list?: true
  readonly shell?: true
  readonly at: number
  readonly prefix: string
  readonly port: number
}

export const runDemo = async ({ io, exit, options }: ActionContext<Options>): Promise<void> => {
  exit(await attemptCommand(io, async () => await run(io, options)))
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

interface Pair {
  readonly simulator: Child
  readonly agent: Child
  readonly metricsUrl: string
}

/** After this time each collector has run once. */
const FIRST_MS = 1500

const EVERY_MS = { terminal: 2000, file: 10_000 } as const

/** Prints a status line at intervals until the demo is interrupted or the agent has exited. */
const watch = async (io: Io, { simulator, agent, metricsUrl }: Pair): Promise<void> => {
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
    const line = await readStatusLine(metricsUrl, io.clock, io.signal)
    io.stdout.write(onTerminal ? `${START_OF_LINE}${line}` : `${line}\n`)
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
