import { once } from 'node:events'
import { chmod, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { loadScenario } from '../../scenario/scenario.ts'
import { type NodeInfo, nodeInfoSchema, renderConfig, renderWelcome } from './demo-texts.ts'
import { freePort } from '../../endpoints.ts'
import { demoFleet } from './fleet/demo-fleet.ts'
import type { ActionContext, ExitCode, Io } from '../../../src/terminal/io.ts'
import { START_OF_LINE } from '../../../src/terminal/progress.ts'
import { attemptCommand, renderScenarios } from '../simulate/action.ts'
import { type Clock, endsWithin, linkAbort } from '../../../src/core/clock.ts'
import { SourceError } from '../../../src/core/errors.ts'
import { figure, shellQuote } from '../../../src/core/format.ts'
import { LIMITS } from '../../../src/core/limits.ts'
import { createHttpClient } from '../../../src/sources/http.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { packageFile } from '../../../src/core/package.ts'

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

type Pair = Readonly<Record<'simulator' | 'agent', Child> & { metricsUrl: string }>

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

const TIMEOUT_MS = 2000

/** The agent's key metrics of the node in one line, or a note if the agent does not respond. */
const readStatusLine = async (url: string, clock: Clock, signal: AbortSignal): Promise<string> => {
  try {
    const limits = { timeout: TIMEOUT_MS, maxBytes: LIMITS.response.agentBytes }
    const { status, text } = await createHttpClient(clock)({ url, accept: 'text/plain', ...limits, signal })
    return status === 200 ? renderStatusLine(text) : NO_RESPONSE
  } catch (error) {
    if (error instanceof SourceError) return NO_RESPONSE
    throw error
  }
}

const NO_RESPONSE = 'the agent does not respond yet'

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

type Child = ReturnType<typeof supervise>

interface StartOptions {
  readonly args: readonly string[]
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string>>
  /** File descriptor for its output, except for a piped standard output. */
  readonly log: number
  readonly stdout: 'pipe' | 'log'
  readonly clock: Clock
}

const GRACE_MS = 10_000
const program = packageFile('dist/main.js')

/** Starts this program again as a child process. */
const startChild = ({ args, env, log, stdout, clock }: StartOptions): Child => {
  const child = spawn(process.execPath, [program, ...args], {
    env: { TZ: 'UTC', LANG: 'C.UTF-8', ...env },
    // A process group of its own: Ctrl-C reaches only the parent, which stops the agent before the node.
    detached: true,
    stdio: ['ignore', stdout === 'pipe' ? 'pipe' : log, log],
  })
  return supervise(child, 'SIGTERM', clock)
}

const supervise = (child: ChildProcess, stopSignal: NodeJS.Signals, clock: Clock) => {
  let hasExited = false
  const ended = once(child, 'exit')
    .catch(() => undefined)
    .then(() => {
      hasExited = true
    })
  // If this process must exit immediately, it at least signals its children.
  const killOnExit = (): void => {
    child.kill(stopSignal)
  }
  process.once('exit', killOnExit)
  void ended.then(() => process.removeListener('exit', killOnExit))
  return {
    process: child,
    /** Resolves when the process has exited; never rejects. */
    ended,
    hasEnded: () => hasExited,
    /** Terminates the process, and kills it after 10 s. */
    stop: async (): Promise<void> => {
      if (hasExited) return
      child.kill(stopSignal)
      if (!(await endsWithin(clock, GRACE_MS, ended))) child.kill('SIGKILL')
      await ended
    },
  }
}

/** Writes `chain-agent` next to the simulated tools: this program, run by the same Node.js. */
const writeLauncher = async (binDirectory: string): Promise<void> => {
  const file = join(binDirectory, 'chain-agent')
  const command = [process.execPath, program].map(shellQuote).join(' ')
  await writeFile(file, `#!/bin/sh\nexec ${command} "$@"\n`)
  await chmod(file, 0o755)
}

interface DemoShellOptions {
  readonly directory: string
  readonly binDirectory: string
  /** The agent's configuration file. */
  readonly config: string
  /** Writes the demo's status lines until the signal aborts. */
  readonly watch: (io: Io) => Promise<void>
}

/**
 * Runs the user's shell with the demo on its PATH, until it exits or the demo is interrupted. Status lines go to a log
 * file meanwhile. Returns false if the shell could not be started.
 */
const openDemoShell = async (io: Io, options: DemoShellOptions): Promise<boolean> => {
  const { directory, binDirectory, config } = options
  const command = io.env['SHELL'] || 'sh'
  const file = join(directory, 'demo.log')
  const log = createWriteStream(file)
  // The directory is on a disk that may be full; the shell works without the log.
  log.on('error', () => undefined)
  io.stdout.write(`Status lines go to ${file}. Exit the shell to stop the demo.\n`)
  const env = {
    ...io.env,
    PATH: [binDirectory, io.env['PATH'] ?? ''].join(delimiter),
    CHAIN_AGENT_CONFIG: config,
    PS1: '(demo) $ ',
  }
  const args = await shellArguments({ command, directory, binDirectory, config })
  // An interactive shell ignores SIGTERM.
  const shell = supervise(spawn(command, args, { env, stdio: 'inherit' }), 'SIGHUP', io.clock)
  const linked = linkAbort(io.signal)
  const watching = options.watch({ ...io, stdout: log, signal: linked.signal })
  io.signal.addEventListener('abort', () => void shell.stop(), { once: true })
  await shell.ended
  linked.abort()
  await watching
  log.end()
  if (shell.process.pid !== undefined) return true
  io.stderr.write(`Could not start the shell ${command}.\n  hint: set SHELL to a shell that exists\n`)
  return false
}

/** bash sets its prompt, and often PATH, in its startup file; the file given with --rcfile sources that file first. */
const shellArguments = async (
  of: Omit<DemoShellOptions, 'watch'> & { readonly command: string },
): Promise<readonly string[]> => {
  if (basename(of.command) !== 'bash') return []
  const file = join(of.directory, 'bashrc')
  const lines = [
    'if [ -f ~/.bashrc ]; then . ~/.bashrc; fi',
    `export PATH=${shellQuote(of.binDirectory)}:$PATH`,
    `export CHAIN_AGENT_CONFIG=${shellQuote(of.config)}`,
    'PS1="(demo) $PS1"',
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  return ['--rcfile', file]
}
