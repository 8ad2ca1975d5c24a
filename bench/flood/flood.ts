import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { parse, stringify } from 'yaml'
import { nodeInfoSchema, renderConfig } from '../../simulator/commands/demo/demo-texts.ts'
import { eventually } from '../../test/support/eventually.ts'
import { freePort } from '../../test/support/free-port.ts'
import { start } from '../../test/support/programs.ts'
import { type Cleanup, createCleanup, MAIN, reasonOf, ROOT } from '../comparison.ts'

const USAGE = `Usage: npm run bench:flood -- [options]

Floods the agent and the query service and measures how long /metrics takes meanwhile.

  --seconds N   length of each flood (default: 10)
  --help        this text

Exit code: 0 all are within their limits; 1 one is not, or a process ended; 2 usage error.
`

/** The limits of the agent, and of the query service (MemoryHigh of its unit). */
const AGENT = { metricsMs: 250, peakMiB: 300 }
const SERVICE = { metricsMs: 1000, peakMiB: 2048 }

interface Result {
  readonly flood: string
  readonly limits: typeof AGENT
  readonly metrics: Times
  /** An honest client of the query service. */
  readonly honest: Times | null
  readonly peakMiB: number
}

interface Times {
  readonly median: number
  readonly max: number
}

interface Bench {
  readonly folder: string
  readonly seconds: number
  readonly defer: Cleanup['defer']
}

export const main = async (args: readonly string[]): Promise<number> => {
  let seconds: number
  try {
    const options = { seconds: { type: 'string', default: '10' }, help: { type: 'boolean', default: false } } as const
    const { values } = parseArgs({ args: [...args], options })
    if (values.help) {
      process.stdout.write(USAGE)
      return 0
    }
    if (!/^[1-9]\d{0,2}$/.test(values.seconds)) throw new Error(`--seconds ${values.seconds}: expected 1 to 999`)
    seconds = Number(values.seconds)
  } catch (error) {
    process.stderr.write(`${reasonOf(error)}\nnpm run bench:flood -- --help lists the options.\n`)
    return 2
  }
  const parent = join(ROOT, '.cache/bench')
  await mkdir(parent, { recursive: true })
  const cleanup = createCleanup()
  try {
    const bench = { folder: await mkdtemp(join(parent, 'flood-')), seconds, defer: cleanup.defer }
    const results = [...(await floodAgent(bench)), ...(await floodService(bench))]
    process.stdout.write(render(results))
    return results.every(isWithin) ? 0 : 1
  } finally {
    await cleanup.run()
  }
}

/** A process that ends with the bench. */
const launch = ({ defer }: Bench, args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const program = start(process.execPath, args, { env })
  defer(async () => program.stop('SIGKILL'))
  return program
}

const hostile = (bench: Bench, ...args: readonly string[]) =>
  launch(bench, [join(import.meta.dirname, 'hostile.mjs'), ...args])

const simulate = async (bench: Bench) => {
  const simulator = launch(bench, [MAIN, 'simulate', '--json', '--directory', join(bench.folder, 'node')])
  const line = await eventually(
    () => Promise.resolve(simulator.output()),
    (text) => text.includes('\n'),
  )
  return nodeInfoSchema.parse(JSON.parse(line.slice(0, line.indexOf('\n'))))
}

/** References and endpoints of metrics whose responses have 8 MiB, some KiB of them as gzip. */
const floodAgent = async (bench: Bench): Promise<readonly Result[]> => {
  const node = await simulate(bench)
  const port = await freePort()
  const hostilePort = await freePort()
  hostile(bench, 'server', String(hostilePort))
  const results: Result[] = []
  for (const text of ['objects', 'members', 'lists', 'keys', 'spaces', 'series']) {
    const directory = await mkdtemp(join(bench.folder, 'agent-'))
    const url = `http://127.0.0.1:${hostilePort}/${text}`
    const urls = { referenceUrl: url, nativeUrl: url, otelUrl: url }
    const config: unknown = parse(renderConfig({ ...node, ...urls }, { directory, port }))
    const references = Array.from({ length: 5 }, (_, index) => ({ name: `other-${index}`, url: `${url}/${index}` }))
    const file = join(directory, 'config.yaml')
    await writeFile(file, stringify({ ...Object(config), references }))
    const agent = launch(bench, [MAIN, 'run', '--config', file], { PATH: node.binDirectory, HOME: directory })
    const metrics = `http://127.0.0.1:${port}/metrics`
    await eventually(async () => timeOf(metrics).catch(() => null), Boolean)
    // Every collector and all code run for the first time in the first seconds.
    await delay(START_MS)
    const flood = `agent: references, metrics and query service answer 8 MiB of ${text}`
    results.push({ flood, limits: AGENT, ...(await measure(bench, agent.pid, { metrics })) })
    await agent.stop()
  }
  return results
}

const START_MS = 5000
const CONNECTIONS = 64
/** As in its unit in `deploy/`. */
const SERVICE_OPTIONS = ['--max-semi-space-size=64']

/** Clients that send bodies of 1 MiB, and a node whose responses have 63 MiB. */
const floodService = async (bench: Bench): Promise<readonly Result[]> => {
  const node = await simulate({ ...bench, folder: await mkdtemp(join(bench.folder, 'second-')) })
  const results: Result[] = []
  const serve = async (rpcUrl: string) => {
    const [port, operations] = [await freePort(), await freePort()]
    const store = await mkdtemp(join(bench.folder, 'store-'))
    const listen = ['--listen', `127.0.0.1:${port}`, '--metrics-listen', `127.0.0.1:${operations}`]
    const from = ['--from-block', String(node.firstServiceBlock), ...listen]
    const options = [`--set=prefix=${node.prefix}`, '--rpc-url', rpcUrl, '--store', store, '--unbounded', ...from]
    const service = launch(bench, [...SERVICE_OPTIONS, MAIN, 'serve-query', ...options])
    const metrics = `http://127.0.0.1:${operations}/metrics`
    await eventually(async () => timeOf(metrics).catch(() => null), Boolean)
    return { service, metrics, query: `http://127.0.0.1:${port}/query` }
  }
  const { service, metrics, query } = await serve(node.rpcUrl)
  await eventually(async () => timeOf(query, HONEST).catch(() => null), Boolean)
  for (const text of ['spaces', 'objects', 'keys', 'escapes', 'topics']) {
    const clients = hostile(bench, 'clients', query, text, String(CONNECTIONS))
    const flood = `query service: ${CONNECTIONS} connections send 1 MiB of ${text}`
    results.push({ flood, limits: SERVICE, ...(await measure(bench, service.pid, { metrics, query })) })
    await clients.stop('SIGKILL')
  }
  await service.stop()
  for (const method of ['eth_getLogs', 'eth_getBlockByNumber'])
    for (const text of ['objects', 'members', 'keys', 'other keys']) {
      const port = await freePort()
      const liar = hostile(bench, 'node', String(port), node.rpcUrl, method)
      const second = await serve(`http://127.0.0.1:${port}/${encodeURIComponent(text)}`)
      const flood = `query service: the node answers ${method} with 63 MiB of ${text}`
      const measured = await measure(bench, second.service.pid, { metrics: second.metrics })
      results.push({ flood, limits: SERVICE, ...measured })
      await second.service.stop()
      await liar.stop('SIGKILL')
    }
  return results
}

/** An honest query, from another address than the flood. */
const HONEST = {
  method: 'POST',
  localAddress: '127.0.0.2',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ from_block: 0, to_block: 5, logs: [{}], field_selection: { log: ['data'] } }),
}

/** Milliseconds to the end of a response with any status but 503. Throws if there is none within 30 s. */
const timeOf = async (url: string, { body, ...options }: Partial<typeof HONEST> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now()
    const signal = AbortSignal.timeout(30_000)
    request(url, { ...options, agent: false, signal }, (response) => {
      if (response.statusCode === 503) reject(new Error(`${url}: status 503`))
      response
        .resume()
        .on('error', reject)
        .on('end', () => resolve(performance.now() - began))
    })
      .on('error', reject)
      .end(body)
  })

const measure = async (
  { seconds }: Bench,
  pid: number,
  { metrics, query }: { readonly metrics: string; readonly query?: string },
): Promise<Pick<Result, 'metrics' | 'honest' | 'peakMiB'>> => {
  const until = performance.now() + seconds * 1000
  const poll = async (every: number, once: () => Promise<number>): Promise<Times> => {
    const times: number[] = []
    while (performance.now() < until) {
      const began = performance.now()
      // Without a response, the time until then.
      times.push(await once().catch(() => performance.now() - began))
      await delay(every)
    }
    times.sort((a, b) => a - b)
    return { median: times[Math.floor(times.length / 2)] ?? Number.NaN, max: times.at(-1) ?? Number.NaN }
  }
  const [metricsTimes, honest] = await Promise.all([
    poll(50, async () => timeOf(metrics)),
    query === undefined ? null : poll(100, async () => timeOf(query, HONEST)),
  ])
  process.stderr.write('.')
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return { metrics: metricsTimes, honest, peakMiB: Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024 }
}

const isWithin = ({ metrics, peakMiB, limits }: Result): boolean =>
  metrics.max <= limits.metricsMs && peakMiB <= limits.peakMiB

const render = (results: readonly Result[]): string => {
  const ms = (times: Times | null): string =>
    times === null ? '' : `${times.median.toFixed(0)} / ${times.max.toFixed(0)}`
  const rows = results.map((result) => {
    const limits = `${result.limits.metricsMs} ms, ${result.limits.peakMiB} MiB`
    const within = isWithin(result) ? 'yes' : 'NO'
    return `| ${result.flood} | ${ms(result.metrics)} | ${ms(result.honest)} | ${result.peakMiB.toFixed(0)} | ${limits} | ${within} |`
  })
  return [
    '| flood | `/metrics`, median / max, ms | honest query, ms | peak RSS, MiB | limits | within |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n')
}
