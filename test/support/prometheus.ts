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

interface Course {
  readonly labels: Readonly<Record<string, string>>
  /** `at` in seconds since the epoch. */
  readonly points: readonly { readonly at: number; readonly value: number }[]
}

interface Range {
  readonly from: number
  readonly to: number
  readonly step: number
}

export interface Prometheus {
  /** An instant query. */
  query(expression: string): Promise<readonly Series[]>
  /** A query over a stretch of time, in seconds since the epoch. */
  range(expression: string, range: Range): Promise<readonly Course[]>
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
    range: async (expression, { from, to, step }) => {
      const parameters = new URLSearchParams({ query: expression, start: `${from}`, end: `${to}`, step: `${step}` })
      const result = await get(`http://${address}/api/v1/query_range?${parameters.toString()}`, {
        values: z.array(sample),
      })
      return result.map(({ metric, values }) => ({
        labels: Object.fromEntries(Object.entries(metric).filter(([name]) => name !== '__name__')),
        points: values.map(([at, value]) => ({ at, value: Number(value) })),
      }))
    },
    stop: async () => {
      await stop()
      await rm(directory, { recursive: true })
    },
  }
}

/** A real Prometheus with this configuration, and its data in this directory. */
export const servePrometheus = async (directory: string, config: object, flags: readonly string[] = []) => {
  const address = `127.0.0.1:${await freePort()}`
  const file = join(directory, 'prometheus.yml')
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config))
  const running = await startServer(`http://${address}/-/ready`, await prometheus(), [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
    ...flags,
  ])
  return { ...running, address }
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

/** An instant query by the interface of Prometheus, which others have, too; `others` are its further parameters. */
export const instantQuery = async (
  address: string,
  expression: string,
  others: Readonly<Record<string, string>> = {},
): Promise<readonly Series[]> => {
  const parameters = new URLSearchParams({ query: expression, ...others })
  const result = await get(`http://${address}/api/v1/query?${parameters.toString()}`, { value: sample })
  return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }))
}

const sample = z.tuple([z.number(), z.string()])

/** The series of a response, each with its labels and these fields. */
const get = async <T extends z.ZodRawShape>(url: string, fields: T) => {
  const series = z.object({ metric: z.record(z.string(), z.string()), ...fields })
  const response = z.object({ status: z.literal('success'), data: z.object({ result: z.array(series) }) })
  return response.parse(await (await fetch(url)).json()).data.result
}
