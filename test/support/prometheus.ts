import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { debianPackagesOf, type ReleasePackages } from './debian.ts'
import { freePort } from './free-port.ts'
import { must, run, type Running, startServer } from './programs.ts'
import { requireRealPart } from './real-parts.ts'

/** The supported versions, oldest first, each from the release of Debian that has it. */
const RELEASES = {
  '2.42': { release: 'bookworm', packages: ['prometheus'] },
  // promtool is a package of its own since then.
  '2.53': { release: 'trixie', packages: ['prometheus', 'promtool'] },
  '3.5': { release: 'sid', packages: ['prometheus', 'promtool'] },
} satisfies Readonly<Record<string, Omit<ReleasePackages, 'version'>>>

export type PrometheusVersion = keyof typeof RELEASES
export const NEWEST: PrometheusVersion = '3.5'
export const OLDER: readonly PrometheusVersion[] = ['2.53', '2.42']

const program = async (name: string, version: PrometheusVersion = NEWEST): Promise<string> =>
  join(await debianPackagesOf({ ...RELEASES[version], version }), 'usr/bin', name)

export const prometheus = async (): Promise<string> => program('prometheus')
export const promtool = async (version: PrometheusVersion = NEWEST): Promise<string> => program('promtool', version)

/** `describe` for a suite with this version, by default the newest. */
export const requirePrometheus = async (version?: PrometheusVersion) =>
  requireRealPart(version === undefined ? 'prometheus' : `Prometheus ${version}`, async () => {
    const text = await must(await promtool(version), ['--version'])
    return { version: /version (\d[\d.]*)/.exec(text)?.[1] ?? 'unknown' }
  })

/** `promtool check metrics`: its findings; empty if there are none. */
export const checkMetrics = async (exposition: string): Promise<string> => {
  const args = ['check', 'metrics']
  const { code, stdout, stderr } = await run(await promtool(), args, { input: exposition })
  return code === 0 ? '' : `${stdout}${stderr}`
}

/** `promtool check web-config`: its findings; empty if there are none. */
export const checkWebConfig = async (file: string): Promise<string> => {
  const { code, stdout, stderr } = await run(await promtool(), ['check', 'web-config', file])
  return code === 0 ? '' : `${stdout}${stderr}`
}

/** In seconds since the epoch. */
export interface Span {
  readonly from: number
  readonly to: number
}
export type Range = Span & { readonly step: number }

export interface Prometheus {
  /** An instant query. */
  query(expression: string): Promise<readonly Series[]>
  /** Without the names of the metrics. */
  range(expression: string, range: Range): Promise<readonly QueriedSeries[]>
  stop(): Promise<void>
}

/** A real Prometheus that scrapes these addresses (HOST:PORT), and these jobs of its configuration, every second. */
export const startPrometheus = async (
  targets: readonly string[],
  jobs: readonly Readonly<Record<string, unknown>>[] = [],
): Promise<Prometheus> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-prometheus-'))
  const { address, stop } = await servePrometheus(directory, {
    global: { scrape_interval: '1s' },
    scrape_configs: [{ job_name: 'agent', static_configs: [{ targets }] }, ...jobs],
  })
  return {
    query: async (expression) => instantQuery(address, expression),
    range: async (expression, range) => {
      const found = await rangeQuery(address, expression, range)
      return found.map(({ labels: { __name__: _name, ...labels }, points }) => ({ labels, points }))
    },
    stop: async () => {
      await stop()
      await rm(directory, { recursive: true })
    },
  }
}

interface Place {
  readonly directory: string
  readonly file: string
  /** HOST:PORT. */
  readonly address: string
}

/** A real Prometheus with the configuration in a file, and its data in a directory. */
export const runPrometheus = async ({ directory, file, address }: Place, flags: readonly string[] = []) =>
  startServer(`http://${address}/-/ready`, await prometheus(), [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
    ...flags,
  ])

/** The same with this configuration. */
export const servePrometheus = async (directory: string, config: object, flags?: readonly string[]) => {
  const place = { directory, file: join(directory, 'prometheus.yml'), address: `127.0.0.1:${await freePort()}` }
  // JSON is YAML.
  await writeFile(place.file, JSON.stringify(config))
  return { ...(await runPrometheus(place, flags)), address: place.address }
}

/** Adds samples, in the format OpenMetrics, to the data in this directory. */
export const importSamples = async (directory: string, text: Iterable<string>): Promise<void> => {
  const file = join(directory, 'history.om')
  await pipeline(Readable.from(text), createWriteStream(file))
  // A block may be as long as the whole history: promtool reads the text once for each block.
  const args = ['tsdb', 'create-blocks-from', '--max-block-duration=486h', 'openmetrics', '--quiet', file]
  await must(await promtool(), [...args, join(directory, 'data')])
  await rm(file)
}

/** A real Prometheus that scrapes nothing and has these samples, in the format OpenMetrics. */
export const startPrometheusWithHistory = async (openMetrics: string): Promise<Running & { readonly url: string }> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-prometheus-'))
  await importSamples(directory, [openMetrics])
  // The samples may be of any year.
  const server = await servePrometheus(directory, {}, ['--storage.tsdb.retention.time=100y'])
  return {
    ...server,
    url: `http://${server.address}`,
    stop: async () => {
      await server.stop()
      await rm(directory, { recursive: true })
    },
  }
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A series over time. */
export interface QueriedSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly points: readonly (readonly [at: number, value: number])[]
}

/** A query is rejected, with this message. */
export class QueryError extends Error {}

/** An instant query by the interface of Prometheus, which others have, too: at a time in seconds since the epoch, or now. */
export const instantQuery = async (address: string, query: string, at?: number): Promise<readonly Series[]> => {
  // VictoriaMetrics would answer from its cache.
  const time: Readonly<Record<string, string>> = at === undefined ? {} : { time: `${at}`, nocache: '1' }
  const { result } = instantSchema.parse(await requestApi(address, 'query', { query, ...time }))
  return result.map(({ metric, value: [, value] }) => ({ labels: metric, value }))
}

export const rangeQuery = async (address: string, query: string, range: Range): Promise<readonly QueriedSeries[]> => {
  const { from, to, step } = range
  const parameters = { query, start: `${from}`, end: `${to}`, step: `${step}` }
  const { result } = rangeSchema.parse(await requestApi(address, 'query_range', parameters))
  return result.map(({ metric, values }) => ({ labels: metric, points: values }))
}

/** The values of a label in this time, of the series that match. */
export const labelValues = async (
  address: string,
  label: string,
  { from, to, match }: Span & { readonly match?: string | undefined },
) => {
  const scope: Readonly<Record<string, string>> = match === undefined ? {} : { 'match[]': match }
  const parameters = { start: `${from}`, end: `${to}`, ...scope }
  return z.array(z.string()).parse(await requestApi(address, `label/${label}/values`, parameters))
}

const requestApi = async (address: string, path: string, parameters: Readonly<Record<string, string>>) => {
  const text = new URLSearchParams(parameters).toString()
  const answer = answerSchema.parse(await (await fetch(`http://${address}/api/v1/${path}?${text}`)).json())
  if (answer.status === 'error') throw new QueryError(answer.error)
  return answer.data
}

const answerSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.unknown() }),
  z.object({ status: z.literal('error'), error: z.string() }),
])
const labelSet = z.record(z.string(), z.string())
const sample = z.tuple([z.number(), z.string().transform(Number)])
const instantSchema = z.object({ result: z.array(z.object({ metric: labelSet, value: sample })) })
const rangeSchema = z.object({ result: z.array(z.object({ metric: labelSet, values: z.array(sample) })) })
