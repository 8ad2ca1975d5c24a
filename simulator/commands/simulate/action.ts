import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { asError, ConfigError } from '../../../src/core/errors.ts'
import { nodeInfoSchema } from '../demo/demo-texts.ts'
import { listScenarios, loadScenario } from '../../scenario/scenario.ts'
import { createSimulator, type Simulator } from '../../simulator.ts'
import type { ExitCode, Io, ActionContext } from '../../../src/terminal/io.ts'

interface Options {
  readonly scenario: string
  readonly list?: true
  readonly json?: true
  readonly prefix: string
  readonly at: number
  readonly directory?: string
}

export const runSimulator = async ({ io, exit, options }: ActionContext<Options>): Promise<void> => {
  exit(await attemptCommand(io, async () => await simulate(io, options)))
}

const simulate = async (io: Io, options: Options): Promise<ExitCode> => {
  if (options.list) {
    io.stdout.write(await renderScenarios())
    return 0
  }
  const scenario = await loadScenario(options.scenario)
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'chain-simulator-')))
  await mkdir(directory, { recursive: true })
  try {
    const simulator = await createSimulator({
      ...options,
      clock: io.clock,
      scenario,
      directory,
      elapsedMs: options.at,
    })
    io.stdout.write(
      options.json ? `${JSON.stringify(nodeInfoSchema.parse(simulator))}\n` : renderText(simulator, scenario.name),
    )
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
