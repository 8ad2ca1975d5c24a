import { rmSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import type { ExitCode, Io } from '../../../../src/terminal/io.ts'
import { START_OF_LINE } from '../../../../src/terminal/progress.ts'
import { type Clock, endsWithin } from '../../../../src/core/clock.ts'
import { size } from '../../../../src/core/format.ts'
import { freePort, openPort, type Port } from '../../../endpoints.ts'
import { chooseParent, makeDirectory, type Member, nameOf, removeLeftovers, startFleet } from './fleet.ts'
import { HEALTHY, type NodeProfile, profileOf } from './profiles.ts'
import type { IncomingMessage } from 'node:http'
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { packageFile } from '../../../../src/core/package.ts'
import { createExposition } from '../../../../src/exporter/exposition.ts'

interface DemoFleetOptions {
  readonly fleet: number
  readonly list?: true
  readonly prefix: string
  readonly port: number
}

/** `chain-agent demo --fleet N`: runs many simulated nodes with their agents, until Ctrl-C. */
export const demoFleet = async (io: Io, options: DemoFleetOptions): Promise<ExitCode> => {
  const { fleet: nodes, prefix, port: wanted } = options
  const { clock, signal, stdout } = io
  if (options.list) {
    stdout.write(renderProfiles(nodes))
    return 0
  }
  await removeLeftovers()
  const directory = await makeDirectory(await chooseParent(nodes))
  const at = (name: string): string => join(directory, name)
  const files = { log: at('agents.log'), targets: at('targets.json'), config: at('prometheus.yml') }
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination(files.log))
  try {
    stdout.write(`Starting ${nodes} nodes …\n`)
    const fleet = await startFleet({ size: nodes, prefix, clock, log, directory, signal })
    const { members } = fleet
    try {
      const server = await serveFleet(await freePort(wanted), members)
      try {
        await writeFile(files.targets, JSON.stringify(targetsOf(members), null, 2))
        await writeFile(files.config, await readScrapeConfig(files.targets, server.url))
        if (!signal.aborted) stdout.write(renderFleetWelcome(members, { url: server.url, wanted }, files))
        await watch(io, nodes)
      } finally {
        await server.shut()
      }
    } finally {
      // Whatever is still running then ends with the process.
      await endsWithin(clock, STOP_TIMEOUT_MS, fleet.stop())
    }
    return 0
  } finally {
    // Synchronous removal takes a third of the time, and nothing else runs any more.
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

const STOP_TIMEOUT_MS = 500
/** A line that is this late reports that the process does not keep up. */
const LATE_MS = 500
const EVERY_MS = { terminal: 2000, file: 10_000 } as const

/** Prints CPU and memory of the fleet at intervals. */
const watch = async ({ stdout, clock, signal }: Io, nodes: number): Promise<void> => {
  const onTerminal = 'isTTY' in stdout && stdout.isTTY === true
  const every = EVERY_MS[onTerminal ? 'terminal' : 'file']
  const measure = createMeter(clock)
  while (!signal.aborted) {
    const due = clock.elapsed() + every
    await clock.sleep(every, signal)
    const late = clock.elapsed() - due
    const lag = late < LATE_MS ? '' : `  ${(late / 1000).toFixed(1)} s late: too many nodes for this machine`
    const line = `${nodes} nodes  ${measure()}${lag}`
    stdout.write(onTerminal ? `${START_OF_LINE}${line}` : `${line}\n`)
  }
  if (onTerminal) stdout.write('\n')
}

/** Measures CPU time since the last call, and memory, of this process. */
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

/** The output of `--list`: one node per line. */
export const renderProfiles = (nodes: number): string =>
  Array.from({ length: nodes }, (_, index) => row(nameOf(index + 1), profileOf(index + 1))).join('')

const row = (name: string, { name: profile, description }: NodeProfile): string =>
  `${name}  ${profile.padEnd(18)}  ${description}\n`

/** The output once all nodes run. `url` is that of the fleet's own server, `wanted` the requested port. */
const renderFleetWelcome = (
  members: readonly Member[],
  { url, wanted }: { readonly url: string; readonly wanted: number },
  files: Readonly<Record<'config' | 'targets' | 'log', string>>,
): string => {
  const healthy = members.filter(({ profile }) => profile === HEALTHY)
  const { port } = new URL(url)
  return [
    `${members.length} nodes of one network, ${healthy.length} of them healthy, each with its own agent:`,
    ...members
      .filter((member) => !healthy.includes(member))
      .map(({ name, profile }) => `  ${row(name, profile).trimEnd()}`),
    ...(wanted === 0 || wanted === Number(port)
      ? []
      : [`Port ${wanted} is in use; the fleet is served on port ${port}.`]),
    '',
    `  profiles   ${url}/fleet.json`,
    `  targets    ${files.targets}, and for http_sd ${url}/targets`,
    `  process    ${url}/metrics`,
    `  log        ${files.log}`,
    '',
    `  prometheus --config.file=${files.config} --storage.tsdb.path=/tmp/chain-fleet-data`,
    '',
    'Press Ctrl-C to stop all nodes and agents.',
    '',
  ].join('\n')
}

/** Serves the list of nodes and the metrics of the process on one port. */
const serveFleet = async (port: number, members: readonly Member[]): Promise<Port> => {
  const { render, contentType } = createExposition(() => undefined, { catalogue: {} })
  const json = (value: unknown) => ({
    type: 'application/json',
    text: `${JSON.stringify(value, null, 2)}\n`,
  })
  const pageOf = async ({ method, url }: IncomingMessage) => {
    if (method !== 'GET') return undefined
    if (url === '/metrics') return { type: contentType, text: await render([]) }
    if (url === '/fleet.json') return json(describeFleet(members))
    if (url === '/targets') return json(targetsOf(members))
    return url === '/' ? { type: 'text/plain', text: LIST } : undefined
  }
  return await openPort(port, (request, response) => {
    pageOf(request)
      .then((page) => {
        if (page) response.writeHead(200, { 'content-type': page.type }).end(page.text)
        else response.writeHead(404).end()
      })
      .catch(() => response.destroy())
  })
}

const LIST = `A simulated fleet.
  /fleet.json  name, profile and metrics URL of every node
  /targets     the targets for http_sd_configs of Prometheus
  /metrics     metrics of this process, which all nodes and agents share
`

/** The nodes of the fleet and their profiles: what a dashboard should show. */
const describeFleet = (members: readonly Member[]) =>
  members.map(({ name, profile, port, publicKey }) => ({
    name,
    profile: profile.name,
    description: profile.description,
    publicKey,
    metrics: `http://127.0.0.1:${port}/metrics`,
  }))

/** The targets in the format of Prometheus' file_sd and http_sd. */
const targetsOf = (members: readonly Member[]) =>
  members.map(({ name, port }) => ({
    targets: [`127.0.0.1:${port}`],
    labels: { node: name, cluster: 'simulated' },
  }))

const schema = z.object({ scrape_configs: z.array(z.looseObject({ job_name: z.string() })) })

/**
 * `deploy/prometheus/fleet.yml` with the targets and rules of this fleet, with this process as one more target, and
 * without an Alertmanager: a simulation must not notify anyone.
 */
export const readScrapeConfig = async (targetsFile: string, serverUrl: string): Promise<string> => {
  const document = parseDocument(await readFile(packageFile('deploy/prometheus/fleet.yml'), 'utf8'))
  const jobs = schema.parse(document.toJS()).scrape_configs.map(({ job_name: job }) => job)
  document.set('rule_files', [packageFile('alerts/*.rules.yaml')])
  document.delete('alerting')
  const ours = ['scrape_configs', jobs.indexOf('chain-agent')]
  document.setIn([...ours, 'file_sd_configs'], [{ files: [targetsFile] }])
  document.addIn(['scrape_configs'], {
    job_name: 'chain-fleet',
    static_configs: [{ targets: [new URL(serverUrl).host] }],
  })
  return document.toString()
}
