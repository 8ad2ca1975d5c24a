import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Logger, pino } from 'pino'
import { startAgent } from '../../src/agent.ts'
import { placeSchema, renderConfig } from '../../src/cli/demo-texts.ts'
import { parseConfigFile } from '../../src/config/file.ts'
import { loadConfig } from '../../src/config/load.ts'
import { createQueryClient } from '../../src/query/client/client.ts'
import type { Scenario } from '../../src/simulator/scenario/scenario.ts'
import { createSimulator } from '../../src/simulator/simulator.ts'
import { createStandInExec } from '../../src/simulator/tools/stand-in-exec.ts'
import { createAnnouncements } from '../../src/sources/announcements.ts'
import { createAsk } from '../../src/sources/http.ts'
import { systemClock } from '../../src/core/clock.ts'
import { manualClock } from './manual-clock.ts'
import { type Exposition, scrape } from './scrape.ts'

interface Look {
  /** Seconds since the scenario began. */
  readonly second: number
  readonly seen: Exposition
}

interface Options {
  readonly seconds: number
  /** Seconds between two looks. */
  readonly every?: number
  readonly log?: Logger
}

const BEGIN = Date.UTC(2026, 2, 1, 12, 58)
const STEP_MS = 1000
/** When maintenance is announced, and for how long. */
const MAINTENANCE_MS = 30_000
/** A tool as a function takes some turns of the event loop. */
const TURNS = 10

/**
 * A scenario on a clock that is moved by hand: the whole agent with the configuration of the demo,
 * and the simulated node with real servers and files; the tools are called as functions. A minute
 * takes a second or two.
 */
export const rehearse = async (
  scenario: Scenario,
  { seconds, every = 5, log = pino({ level: 'silent' }) }: Options,
): Promise<readonly Look[]> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-rehearsal-'))
  const clock = manualClock(BEGIN)
  const inFlight = new Set<Promise<unknown>>()
  const busy = (running: Promise<unknown>): void => {
    const gone = (): void => {
      inFlight.delete(done)
    }
    const done: Promise<void> = running.then(gone, gone)
    inFlight.add(done)
  }
  const simulator = await createSimulator({
    clock,
    prefix: 'chain',
    scenario,
    directory,
    rpcPort: 0,
    referencePort: 0,
    toolClient: 'nobody starts it',
  })
  const deadMan = await listenForHeartbeats(() => clock.now() - BEGIN)
  await writeFile(join(directory, 'heartbeat'), deadMan.url)
  const text = renderConfig(placeSchema.parse(simulator), { directory, port: 0 })
  const { config } = loadConfig({
    file: parseConfigFile('rehearsal.yaml', text),
    env: {},
    flags: [
      flag('heartbeat.urlFile', join(directory, 'heartbeat')),
      flag('heartbeat.interval', '10s'),
      flag('status.interval', '10s'),
    ],
  })
  // Requests are answered in real time, whatever the clock of the rehearsal says.
  const ask = createAsk(systemClock)
  const counted = <T>(running: Promise<T>): Promise<T> => {
    busy(running)
    return running
  }
  const agent = await startAgent({
    config,
    clock,
    log,
    path: simulator.binDirectory,
    exec: createStandInExec(simulator.tools),
    ask: (request) => {
      return counted(ask({ ...request, timeout: 5000 }))
    },
    connect: (options) => {
      const client = createQueryClient({ ...options, clock: systemClock })
      return {
        ...client,
        height: (...asked) => counted(client.height(...asked)),
        run: (...asked) => counted(client.run(...asked)),
      }
    },
  })
  const url = `http://127.0.0.1:${agent.address.port}/metrics`
  const announcements = createAnnouncements(config.state.directory)
  const looks: Look[] = []
  try {
    for (let ms = 0; ms <= seconds * 1000; ms += STEP_MS) {
      await settle(inFlight)
      if (ms === MAINTENANCE_MS) {
        const [startedAt, until] = [clock.now(), clock.now() + MAINTENANCE_MS]
        await announcements.write({ reason: 'upgrade', note: null, startedAt, until })
      }
      if (ms % (every * 1000) === 0) looks.push({ second: ms / 1000, seen: await scrape(url) })
      await clock.advance(STEP_MS)
    }
    return looks
  } finally {
    await agent.stop()
    await simulator.close()
    deadMan.close()
    await rm(directory, { recursive: true, force: true })
  }
}

const flag = (path: string, value: string) => ({ path, value, typed: `--set ${path}` })

/** Whoever waits for the heartbeat; for half a minute he takes none. */
const listenForHeartbeats = async (elapsed: () => number) => {
  const server = createServer((request, response) => {
    const refuses = elapsed() > 40_000 && elapsed() < 70_000
    request.resume().on('end', () => response.writeHead(refuses ? 503 : 200).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    url: `http://127.0.0.1:${port}/`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Until nothing is under way that ends by itself: no request, no file. A tool may wait for the clock. */
const settle = async (inFlight: ReadonlySet<Promise<unknown>>): Promise<void> => {
  for (let quiet = 0; quiet < TURNS;) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    const isReading = process.getActiveResourcesInfo().some((name) => /^FSReq|GetAddr/.test(name))
    quiet = inFlight.size === 0 && !isReading ? quiet + 1 : 0
  }
}
