import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { instantQuery, type PrometheusVersion, promtool, runPrometheus } from './prometheus.ts'
import { freePort } from './free-port.ts'
import { run } from './programs.ts'
import { receiving } from './http.ts'

const ROOT = join(import.meta.dirname, '../..')
export const SHIPPED = join(ROOT, 'deploy/prometheus')
export const CONFIGURATIONS = ['node.yml', 'fleet.yml', 'remote-write.yml']
const ALERTS = join(ROOT, 'alerts')

/** The content of targets/*.yaml. */
export interface TargetGroup {
  readonly targets: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

/** The folder of the configuration, as docs/how-to/prometheus.md has it made: configuration, targets, rules. */
export const installShipped = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-fleet-'))
  await cp(SHIPPED, directory, { recursive: true })
  await mkdir(join(directory, 'chain-agent'))
  for (const file of await readdir(ALERTS)) {
    if (file.endsWith('.rules.yaml')) await cp(join(ALERTS, file), join(directory, 'chain-agent', file))
  }
  return directory
}

/** `promtool check config` of one of the configurations. */
export const checkShipped = async (file: string, version?: PrometheusVersion) => {
  const directory = await installShipped()
  const result = await run(await promtool(version), [
    'check',
    'config',
    '--lint=all',
    '--lint-fatal',
    join(directory, file),
  ])
  await rm(directory, { recursive: true })
  return result
}

interface Options {
  /** Of deploy/prometheus/. */
  readonly file: string
  readonly groups: readonly TargetGroup[]
  /** The content of query-services/nodes.yaml. */
  readonly queryServices?: readonly TargetGroup[]
  /** HOST:PORT of what the file writes to, where it does. */
  readonly victoria?: string
}

/**
 * A real Prometheus with a configuration of deploy/ as it is, but for addresses, and a second in the place of every
 * interval.
 */
export const startShipped = async ({ file, groups, queryServices = [], victoria = '127.0.0.1:8428' }: Options) => {
  const directory = await installShipped()
  const address = `127.0.0.1:${await freePort()}`
  /** As an operator adds a node: a file more, or another content of one. */
  const target = async (name: string, entries: readonly TargetGroup[]): Promise<void> =>
    writeFile(join(directory, 'targets', name), stringify(entries))
  await target('nodes.yaml', groups)
  await writeFile(join(directory, 'query-services/nodes.yaml'), stringify(queryServices))
  await rewrite(join(directory, file), [
    ['127.0.0.1:9090', address],
    ['127.0.0.1:9093', `127.0.0.1:${await freePort()}`],
    ['127.0.0.1:8428', victoria],
    [/_(interval|timeout): \d+s/g, '_$1: 1s'],
  ])
  for (const rules of await readdir(join(directory, 'chain-agent')))
    await rewrite(join(directory, 'chain-agent', rules), [[/^( *interval): \d+s/gm, '$1: 1s']])
  const server = await runPrometheus({ directory, file: join(directory, file), address })
  return {
    /** HOST:PORT. */
    address,
    /** An instant query; `at` in seconds since the epoch. */
    query: async (expression: string, at?: number) => instantQuery(address, expression, at),
    target,
    stop: async () => {
      await server.stop()
      await rm(directory, { recursive: true })
    },
  }
}

export type ShippedPrometheus = Awaited<ReturnType<typeof startShipped>>

type Change = readonly [from: string | RegExp, to: string]

const rewrite = async (path: string, changes: readonly Change[]): Promise<void> => {
  const text = await readFile(path, 'utf8')
  await writeFile(
    path,
    changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text),
  )
}

/** What an agent would answer at /metrics. */
export const serveExposition = async (text: string) => {
  const { port, close } = await receiving(200, text, { 'content-type': 'text/plain; version=0.0.4' })
  return { address: `127.0.0.1:${port}`, close }
}
