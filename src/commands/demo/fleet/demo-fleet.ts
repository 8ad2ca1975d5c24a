import { size } from '../../../core/format.ts'
import { rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Clock } from '../../../core/clock.ts'
import { freePort } from '../free-port.ts'
import type { ExitCode, Io } from '../../../cli/io.ts'
import { makeDirectory, placeFor, removeLeftovers } from './directory.ts'
import { startFleet } from './fleet.ts'
import { openFront } from './front.ts'
import { readScrapeConfig } from './scrape-config.ts'
import { renderFates, renderFleetWelcome, targetsOf } from './texts.ts'

interface Options {
  readonly fleet: number
  readonly list?: true
  readonly prefix: string
  readonly port: number
}

/** `chain-agent demo --fleet N`: many simulated nodes with their agents, until Ctrl-C. */
export const demoFleet = async (io: Io, options: Options): Promise<ExitCode> => {
  const { fleet: nodes, prefix, port: wanted } = options
  const { clock, signal, stdout } = io
  if (options.list) {
    stdout.write(renderFates(nodes))
    return 0
  }
  await removeLeftovers()
  const directory = await makeDirectory(await placeFor(nodes))
  const at = (name: string): string => join(directory, name)
  const [logFile, targetsFile, configFile] = [
    at('agents.log'),
    at('targets.json'),
    at('prometheus.yml'),
  ]
  const log = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination(logFile),
  )
  try {
    stdout.write(`Starting ${nodes} nodes …\n`)
    const fleet = await startFleet({ size: nodes, prefix, clock, log, directory, signal })
    const { members } = fleet
    try {
      const front = await openFront(await freePort(wanted), members)
      try {
        await writeFile(targetsFile, JSON.stringify(targetsOf(members), null, 2))
        await writeFile(configFile, await readScrapeConfig({ targetsFile, front: front.url }))
        const welcome = { members, front: front.url, wanted, configFile, targetsFile, logFile }
        if (!signal.aborted) stdout.write(renderFleetWelcome(welcome))
        await watch(io, nodes)
      } finally {
        await front.shut()
      }
    } finally {
      // What has not ended by then ends with the process.
      await Promise.race([fleet.stop(), clock.sleep(PATIENCE_MS, new AbortController().signal)])
    }
    return 0
  } finally {
    // Nothing else is to be done: synchronously, it takes a third of the time.
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

const PATIENCE_MS = 500
/** So much later than it should have come, a line tells that the process does not keep up. */
const LATE_MS = 500
const EVERY_MS = { terminal: 2000, file: 10_000 } as const

/** Prints now and then what the fleet costs. */
const watch = async ({ stdout, clock, signal }: Io, nodes: number): Promise<void> => {
  const onTerminal = 'isTTY' in stdout && stdout.isTTY === true
  const every = EVERY_MS[onTerminal ? 'terminal' : 'file']
  const measure = createMeter(clock)
  while (!signal.aborted) {
    const due = clock.elapsed() + every
    await clock.sleep(every, signal)
    const late = clock.elapsed() - due
    const lag =
      late < LATE_MS ? '' : `  ${(late / 1000).toFixed(1)} s late: too many for this machine`
    const line = `${nodes} nodes  ${measure()}${lag}`
    stdout.write(onTerminal ? `\r\u001b[K${line}` : `${line}\n`)
  }
  if (onTerminal) stdout.write('\n')
}

/** Processor time since the last look, and memory, of this process. */
const createMeter = (clock: Clock): (() => string) => {
  let [at, used] = [clock.elapsed(), process.cpuUsage()]
  return () => {
    const { user, system } = process.cpuUsage(used)
    const cores = (user + system) / 1000 / (clock.elapsed() - at)
    at = clock.elapsed()
    used = process.cpuUsage()
    return `${cores.toFixed(2)} cores  ${size(process.memoryUsage.rss())}`
  }
}
