import { accessSync, constants, statfsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import type { Clock } from '../../src/core/clock.ts'
import { afterAll, onTestFinished } from 'vitest'
import type { Endpoint } from '../../simulator/endpoints.ts'
import type { Pace } from '../../simulator/pace.ts'
import type { Exec, Program } from '../../src/sources/exec.ts'
import type { HttpRequest } from '../../src/sources/http.ts'
import { cli, type World } from './cli.ts'
import { freePort } from './free-port.ts'
import { createInFlight, manualClock, onManualClock } from './manual-clock.ts'
import { atSecretPath, metricsWithSecrets, secret, withSecrets } from './secrets.ts'
import { shipped } from './shipped.ts'

const {
  NoResponseError,
  SourceError,
  chainFor,
  createDiskUsage,
  createHttpClient,
  createInProcessExec,
  createInProcessHttp,
  createSimulatedHost,
  loadScenario,
  openAnnouncements,
  parseScenario,
  readConfig,
  renderConfig,
  startAgent,
  systemClock,
} = shipped

interface Options {
  /** The name of a scenario that is shipped, or the lines of one. */
  readonly scenario: string
  /** The index of the node in the validators of the chain, which decides about its keys; by default 0. */
  readonly identity?: number
  /** How far into it the node is. */
  readonly second: number
  /** Whether an agent watches the node already. */
  readonly agent?: boolean
  /** Whether there is a node at all: no unit, no tool, no port otherwise. */
  readonly hasNode?: boolean
  readonly maintenance?: { readonly minutes: number }
  readonly env?: Readonly<Record<string, string>>
  /** Settings in addition to those of the demo: key and value as text. */
  readonly settings?: Readonly<Record<string, string>>
  readonly log?: Logger
  readonly pace?: Pace
  /** Whether secrets are planted in addresses, tools, logs and metrics. */
  readonly hasSecrets?: boolean
  /**
   * Tools and endpoints that do not answer, by their names: `systemctl`, `rpc`. The test may change the set at any time.
   */
  readonly silent?: ReadonlySet<string>
}

const BEGIN = Date.UTC(2026, 2, 1, 12, 58)
/** The hosts of a complete run use 72 MiB at most; containers often have 64 MiB there. */
const MIN_MEMORY_BYTES = 1024 ** 3

/** In memory if there is enough: an agent syncs its state to disk several times a second of simulated time. */
const findHostDirectory = (): string => {
  try {
    accessSync('/dev/shm', constants.W_OK)
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize < MIN_MEMORY_BYTES ? tmpdir() : '/dev/shm'
  } catch {
    return tmpdir()
  }
}
const HOST_DIRECTORY = findHostDirectory()
/** A connection within this process is answered in real time, whatever the clock of the host shows. */
const REAL_TIMEOUT_MS = 60_000

/**
 * A host on which command lines can be tried, some way into a scenario: files are real, tools and ports are functions.
 * Its clock moves only while a command runs, from one sleep to the next, so that no test waits.
 */
export const startHost = async (options: Options) => {
  const { second, agent = true, hasNode = true, hasSecrets = false } = options
  const { env = {}, settings = {}, log = pino({ level: 'silent' }), silent = new Set() } = options
  const text = hasNode ? options.scenario : NO_NODE
  const directory = await mkdtemp(join(HOST_DIRECTORY, 'chain-agent-host-'))
  const scenario = text.includes(' ') ? parseScenario('test', text) : await loadScenario(text)
  const clock = manualClock(BEGIN)
  const inFlight = createInFlight()
  const simulated = await createSimulatedHost({
    clock,
    prefix: 'chain',
    scenario,
    directory,
    chain: chainFor(scenario, BEGIN - second * 1000),
    elapsedMs: second * 1000,
    index: options.identity ?? 0,
    // The files of a second are written after the agent has read those of the second before, never between two reads.
    readersSettled: inFlight.settled,
    ...(options.pace && { pace: options.pace }),
  })
  const ending = new AbortController()
  const kept = simulated.keep(ending.signal)
  const url = (name: string): string => `http://${name}.simulated`
  const { rpc, reference, native, otel } = simulated.endpoints
  const places: readonly (readonly [string, Endpoint])[] = hasNode
    ? [
        ['rpc', hasSecrets ? atSecretPath(rpc, '/') : rpc],
        ['native', hasSecrets ? metricsWithSecrets(native) : native],
        ['otel', otel],
      ]
    : []
  const referenceUrl = url('reference')
  const simulatedAsk = createInProcessHttp(
    new Map([...places.map(([name, at]) => [url(name), at] as const), [referenceUrl, reference]]),
  )
  const realAsk = createHttpClient(systemClock)
  const port = await freePort()
  const place = {
    ...simulated,
    rpcUrl: hasSecrets ? `${url('rpc')}/${secret('RpcPath')}` : url('rpc'),
    referenceUrl,
    nativeUrl: hasSecrets ? `${url('native')}/${secret('MetricsPath')}` : url('native'),
    otelUrl: url('otel'),
    binDirectory: '',
  }
  const configFile = join(directory, 'agent.yaml')
  await writeFile(configFile, renderConfig(place, { directory, port }))
  const flags = Object.entries(settings).map(([path, value]) => ({
    path,
    value,
    typed: `--set ${path}`,
  }))
  const { config } = readConfig(configFile, { env: {}, flags })
  const tools = createInProcessExec(
    Object.fromEntries(Object.entries(simulated.tools).filter(([name]) => hasNode || !name.startsWith('chain-'))),
  )
  const overrides = {
    exec: withSilentTools(hasSecrets ? withSecrets(tools, clock) : tools, silent),
    // The agent itself is requested over a real connection.
    ask: async (request: Parameters<typeof realAsk>[0]) =>
      silent.has(new URL(request.url).hostname.replace('.simulated', ''))
        ? noResponse(request, clock)
        : inFlight.track(
            request.url.includes('.simulated')
              ? simulatedAsk(request)
              : realAsk({ ...request, timeout: REAL_TIMEOUT_MS }),
          ),
  }
  const announce = async ({ minutes }: { readonly minutes: number }): Promise<void> => {
    const startedAt = clock.now()
    // Some seconds more, so that the whole minutes left are the same when it is read.
    const until = startedAt + minutes * 60_000 + 20_000
    await openAnnouncements(config).write({ reason: 'upgrade', note: null, startedAt, until })
  }
  if (options.maintenance) await announce(options.maintenance)
  const running = agent
    ? await startAgent({
        config,
        clock,
        log,
        path: directory,
        ...overrides,
        // The disk of the machine that runs the tests has other writers.
        host: {
          space: { ...createDiskUsage(), fileSystem: async (path) => Promise.resolve(simulated.fileSystem(path)) },
        },
        ownsProcess: hasSecrets,
      })
    : undefined
  const timed = async <T>(work: () => Promise<T>): Promise<T> => onManualClock(clock, inFlight, work)
  /** A page of the agent; empty where its status is not 200. */
  const page = async (path: string) => inFlight.track(textOf(`http://127.0.0.1:${port}${path}`))
  /** Lets a number of seconds pass at once: what is due in them is due once, at their end. */
  const pass = async (seconds: number): Promise<void> => {
    await inFlight.settled()
    await clock.advance(seconds * 1000)
    // Until the state is saved, what it counts is not exported.
    await inFlight.settled()
  }
  // The collectors have read their saved state.
  await inFlight.settled()
  if (running && second > 0) await timed(async () => ready(page, clock))
  return {
    directory,
    configFile,
    port,
    /** Milliseconds since the epoch, by the clock of the host. */
    now: () => clock.now(),
    /** Milliseconds since the scenario began. */
    elapsed: () => second * 1000 + clock.elapsed(),
    page,
    announce,
    /** Lets one second pass: everything that is due in it is due at its end. */
    second: async () => pass(1),
    pass,
    /** Runs `chain-agent ARGV` there; the configuration is that of the environment. */
    run: async (argv: readonly string[], more?: Pick<World, 'env' | 'until' | 'terminal' | 'stdin' | 'isTyped'>) =>
      timed(async () =>
        cli(argv, {
          ...more,
          env: { CHAIN_AGENT_CONFIG: configFile, PATH: directory, ...env, ...more?.env },
          clock,
          overrides,
        }),
      ),
    close: async (): Promise<void> => {
      ending.abort()
      await timed(async () => Promise.all([kept, running?.stop()]))
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export type Host = Awaited<ReturnType<typeof startHost>>

/** The same for one test, at whose end it is closed. */
export const openHost = async (options: Options): Promise<Host> => {
  const host = await startHost(options)
  onTestFinished(async () => host.close())
  return host
}

/** The same for the tests of a file or of a `describe`, after which it is closed. */
export const sharedHost = async (options: Options): Promise<Host> => {
  const host = await startHost(options)
  afterAll(host.close)
  return host
}

/** Programs of these names run until they are killed, without output. */
const withSilentTools = (exec: Exec, silent: ReadonlySet<string>): Exec => {
  const isSilent = ({ command }: Program): boolean => silent.has(command) || silent.has(command.replace('chain-', ''))
  const untilAborted = async (signal: AbortSignal): Promise<never> =>
    new Promise((_, reject) => {
      const end = (): void => {
        reject(new SourceError({ doing: 'run a program', happened: 'it was killed' }))
      }
      if (signal.aborted) end()
      signal.addEventListener('abort', end, { once: true })
    })
  return {
    ...exec,
    run: async (called, signal) => (isSilent(called) ? untilAborted(signal) : exec.run(called, signal)),
    async *stream(called, signal) {
      if (isSilent(called)) await untilAborted(signal)
      for await (const chunk of exec.stream(called, signal)) {
        if (isSilent(called)) await untilAborted(signal)
        yield chunk
      }
    },
  }
}

const noResponse = async ({ url, timeout, signal }: HttpRequest, clock: Clock): Promise<never> => {
  await clock.sleep(timeout, signal)
  throw new NoResponseError('timeout', url, 'no response')
}

const textOf = async (url: string): Promise<string> => {
  const response = await fetch(url)
  const text = await response.text()
  return response.ok ? text : ''
}

/** Until every collector has ended its first attempt, and the consensus log was read or cannot be. */
const ready = async (get: (path: string) => Promise<string>, clock: Clock): Promise<void> => {
  const never = new AbortController().signal
  const isReady =
    /\nchain_agent_journal_last_entry_timestamp_seconds\{service="bft"\}|\nchain_agent_collector_up\{collector="consensus"\} 0/
  while ((await get('/-/ready')) === '' || !isReady.test(await get('/metrics'))) {
    await clock.sleep(100, never)
  }
}

/** What a host without a node has. */
const NO_NODE = ['bft', 'execution', 'rpc', 'ledger-tail', 'otelcol']
  .map((service) => `0s ${service} vanishes`)
  .join('\n')
