import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Condition, eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { createLedgerControl } from './ledger.ts'
import { createSandbox } from './sandbox.ts'
import { type Exposition, parseExposition, scrape } from './scrape.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MAIN = join(ROOT, 'dist/main.js')
const PROGRAM = join(ROOT, 'test/fixtures/bin/program.sh')
const LEDGER_TAIL = join(ROOT, 'test/fixtures/bin/ledger-tail.mjs')
const RECORDER = join(ROOT, 'test/fixtures/bin/recorder.sh')

/** Short, so that a test need not wait; quiet for six of these, a follower is looked at. */
const INTERVAL = '500ms'
const MILLISECONDS_PER_BLOCK = 20
const USUAL_PORT = 9843

interface NodeOptions {
  readonly millisecondsPerBlock?: number
  /** Keys of the agent's configuration; without them everything happens often. */
  readonly config?: Readonly<Record<string, unknown>>
  /** An own network, with the agent at its usual port. */
  readonly ownNetwork?: boolean
  /** A root file system, as `debianTree` returns it. */
  readonly root?: string
}

/**
 * A node with the name prefix `prefix` and an agent, each program a unit of a real systemd, in a sandbox of their own.
 * The agent is started by `startAgent`, the node by `systemctl`.
 */
export const createNode = async (prefix: string, options: NodeOptions = {}) => {
  const { ownNetwork = false, root } = options
  const port = ownNetwork ? USUAL_PORT : await freePort()
  const sandbox = await createSandbox({
    units: (directory) => units(prefix, directory, options.millisecondsPerBlock ?? MILLISECONDS_PER_BLOCK),
    binds: [ROOT],
    ownNetwork,
    ...(root === undefined ? {} : { root }),
  })
  const { directory, systemctl } = sandbox
  const unit = (service: string): string => `${prefix}-${service}.service`
  const config = options.config ?? (await oftenConfig())
  const own = {
    prefix,
    listen: `127.0.0.1:${port}`,
    state: { directory: join(directory, 'state') },
  }
  // JSON is YAML.
  await writeFile(join(directory, 'config.yaml'), JSON.stringify({ ...own, ...config }))
  await putRecorder(directory)
  const ledger = await createLedgerControl(directory)

  const commandLine = (...argv: readonly string[]): readonly string[] => [
    process.execPath,
    MAIN,
    ...argv,
    '--config',
    join(directory, 'config.yaml'),
  ]
  const metrics = `http://127.0.0.1:${port}/metrics`
  const look = async (): Promise<Exposition> => {
    if (!ownNetwork) return scrape(metrics)
    const { code, stdout } = await sandbox.exec('curl', ['-sSf', metrics])
    // A part of a response is none.
    return parseExposition(code === 0 ? `${stdout}\n` : '')
  }
  /** Looks until the metrics satisfy. */
  const see = async <T>(read: (seen: Exposition) => T, condition: Condition<T>): Promise<T> =>
    eventually(async () => read(await look()), condition)
  /** Waits until there is a series, and returns its value. */
  const present = async (...series: Parameters<Exposition['value']>): Promise<number> => {
    const text = await see(({ value }) => String(value(...series)), /^(?!undefined)/)
    return Number(text)
  }
  /** Waits until a series has this value, and returns it. */
  const waitFor = async (wanted: number | undefined, ...series: Parameters<Exposition['value']>) =>
    see(({ value }) => value(...series), wanted)
  const startAgent = async (): Promise<void> => {
    // After a kill the unit is active for a moment, in which `start` does nothing.
    await systemctl('restart', 'chain-agent.service')
    for (const collector of ['services', 'lifecycle', 'ledger']) {
      await waitFor(1, 'chain_agent_collector_up', { collector })
    }
  }

  return {
    ...sandbox,
    ledger,
    unit,
    port,
    look,
    see,
    waitFor,
    present,
    startAgent,
    /** Starts services of the node, the ledger stream among them, of which five blocks are printed. */
    startServices: async (...services: readonly string[]): Promise<void> => {
      await systemctl('start', ...services.map(unit))
      await ledger.runTo(5)
    },
    /** The words of a command of the built program with the configuration of the agent. */
    commandLine,
    run: async (...argv: readonly string[]) => sandbox.exec('env', commandLine(...argv)),
    signal: async (service: string, name: string): Promise<void> => {
      await systemctl('kill', '--kill-whom=main', `--signal=${name}`, unit(service))
    },
    /** How the agent has called the system's tools so far, one call a line. */
    calls: async (): Promise<readonly string[]> =>
      (await readFile(join(directory, 'calls'), 'utf8')).trimEnd().split('\n'),
  }
}

export type SandboxedNode = Awaited<ReturnType<typeof createNode>>

const units = (prefix: string, directory: string, millisecondsPerBlock: number): Readonly<Record<string, string>> => {
  const program = service(PROGRAM, 'LimitCORE=0')
  const ledgerTail = `${process.execPath} ${LEDGER_TAIL} ${directory} ${millisecondsPerBlock}`
  const agent = `${process.execPath} ${MAIN} run --config ${directory}/config.yaml`
  return {
    [`${prefix}-bft.service`]: program,
    [`${prefix}-execution.service`]: program,
    [`${prefix}-rpc.service`]: program,
    [`${prefix}-ledger-tail.service`]: service(ledgerTail),
    'chain-agent.service': service(agent, `Environment=PATH=${directory}/bin:/usr/bin:/bin`),
  }
}

const service = (command: string, more = ''): string =>
  `[Service]\nExecStart=${command}\n${more}\n\n[Install]\nWantedBy=multi-user.target\n`

/** The RPC port is closed: these suites are about units and the journal. */
const oftenConfig = async () => {
  const often = { interval: INTERVAL }
  const url = `http://127.0.0.1:${await freePort()}`
  return { rpc: { url, ...often }, services: often }
}

const putRecorder = async (directory: string): Promise<void> => {
  await mkdir(join(directory, 'bin'))
  for (const tool of ['systemctl', 'journalctl']) {
    await copyFile(RECORDER, join(directory, 'bin', tool))
    await chmod(join(directory, 'bin', tool), 0o755)
  }
}
