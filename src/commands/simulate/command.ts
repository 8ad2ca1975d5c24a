import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { Command, InvalidArgumentError } from 'commander'
import { ConfigError } from '../../core/errors.ts'
import { asError } from '../../core/outcome.ts'
import { minute, parseDuration } from '../../core/units.ts'
import { listScenarios, loadScenario } from '../../simulator/scenario/scenario.ts'
import { createSimulator, type Simulator } from '../../simulator/simulator.ts'
import type { ExitCode, Io } from '../../cli/io.ts'

interface Options {
  readonly scenario: string
  readonly list?: true
  readonly json?: true
  readonly prefix: string
  readonly at: number
  readonly rpcPort: number
  readonly referencePort: number
  readonly nativePort: number
  readonly otelPort: number
  readonly directory?: string
}

/** `chain-agent simulate`: runs a complete simulated node until it is interrupted. */
export const simulateCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  new Command('simulate')
    .option('--scenario <name|file>', 'scenario of the simulated node', 'healthy')
    .option('--at <duration>', 'start this far into the scenario: 90s, 5m', readSpan, 0)
    .option('--list', 'list the scenarios and exit')
    .option('--json', 'print its URLs and paths as one line of JSON')
    .option('--prefix <word>', 'name prefix of units and tools', readPrefix, 'chain')
    .option('--rpc-port <port>', "port of the node's RPC; 0 takes a free one", readPort, 0)
    .option('--reference-port <port>', 'port of the reference; 0 takes a free one', readPort, 0)
    .option('--native-port <port>', "port of consensus' own metrics; 0 takes a free one", readPort, 0)
    .option('--otel-port <port>', 'port of the OpenTelemetry collector; 0 takes a free one', readPort, 0)
    .option(
      '--directory <dir>',
      'directory for bin/ and the files of the node (default: a temporary one, removed on exit)',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: Options) => {
      exit(await attemptCommand(io, async () => await simulate(io, options)))
    })

const EXAMPLES = `
Examples:
  chain-agent simulate --list
  chain-agent simulate --scenario stalled --rpc-port 8080
  chain-agent simulate --scenario ./my-own.scenario --directory /tmp/node`

const simulate = async (io: Io, options: Options): Promise<ExitCode> => {
  if (options.list) {
    io.stdout.write(await renderScenarios())
    return 0
  }
  const scenario = await loadScenario(options.scenario)
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'chain-simulator-')))
  await mkdir(directory, { recursive: true })
  try {
    const simulator = await createSimulator({ ...options, clock: io.clock, scenario, directory, elapsedMs: options.at })
    io.stdout.write(options.json ? renderJson(simulator) : renderText(simulator, scenario.name))
    if (!io.signal.aborted) await once(io.signal, 'abort')
    await simulator.close()
    return 0
  } finally {
    if (options.directory === undefined) await rm(directory, { recursive: true, force: true })
  }
}

/** The output of `--list`: one scenario per line. */
export const renderScenarios = async (): Promise<string> => {
  const scenarios = await listScenarios()
  const width = Math.max(...scenarios.map(({ name }) => name.length))
  return scenarios.map(({ name, description }) => `${name.padEnd(width)}  ${description}\n`).join('')
}

/** Runs a command and prints its error without a stack. Returns 2 for a ConfigError, 1 for any other error. */
export const attemptCommand = async (
  { stderr }: Pick<Io, 'stderr'>,
  run: () => Promise<ExitCode>,
): Promise<ExitCode> => {
  try {
    return await run()
  } catch (error) {
    stderr.write(`${asError(error).message}\n`)
    return error instanceof ConfigError ? 2 : 1
  }
}

export const readSpan = (text: string): number => {
  const span = parseDuration(text)
  if (span !== undefined && span <= 24 * 60 * minute) return span
  throw new InvalidArgumentError('expected a duration of at most a day, such as 90s or 5m')
}

export const readPort = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text)
  throw new InvalidArgumentError('expected a port from 0 to 65535')
}

export const readPrefix = (text: string): string => {
  if (/^[a-z][a-z0-9]{0,30}$/.test(text)) return text
  throw new InvalidArgumentError('expected lowercase letters and digits, such as chain')
}

const renderJson = ({
  rpcUrl,
  referenceUrl,
  nativeUrl,
  otelUrl,
  binDirectory,
  ownPublicKey,
  firstServiceBlock,
  prefix,
  nodeDirectory,
  backupDirectory,
  environmentFile,
  forksFile,
  host,
}: Simulator): string => {
  const files = { nodeDirectory, backupDirectory, environmentFile, forksFile, host }
  return `${JSON.stringify({ rpcUrl, referenceUrl, nativeUrl, otelUrl, binDirectory, ownPublicKey, firstServiceBlock, prefix, ...files })}\n`
}

const renderText = (simulator: Simulator, scenario: string): string =>
  [
    `Simulated node in scenario "${scenario}":`,
    `  RPC         ${simulator.rpcUrl}`,
    `  reference   ${simulator.referenceUrl}   (RPC and GET /height)`,
    `  metrics     ${simulator.nativeUrl}/metrics, and ${simulator.otelUrl}/metrics (otelcol)`,
    `  tools       PATH=${simulator.binDirectory}:$PATH`,
    `  files       ${simulator.nodeDirectory}, backups in ${simulator.backupDirectory}`,
    `  public key  ${simulator.ownPublicKey}`,
    'Press Ctrl-C to stop it.',
    '',
  ].join('\n')
