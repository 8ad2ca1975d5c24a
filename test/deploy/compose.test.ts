import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { it } from '../support/directory.ts'
import { must } from '../support/programs.ts'
import { requirePrometheus, promtool } from '../support/prometheus.ts'

const ROOT = join(import.meta.dirname, '../..')
const DEPLOY = join(ROOT, 'deploy')
const read = (file: string): string => readFileSync(join(DEPLOY, file), 'utf8')

const { services, volumes: named } = z
  .strictObject({
    name: z.literal('chain-agent'),
    'x-service': z.unknown(),
    services: z.record(
      z.string(),
      z.strictObject({
        network_mode: z.literal('host'),
        restart: z.literal('unless-stopped'),
        logging: z.strictObject({ driver: z.literal('local') }),
        image: z.string(),
        mem_limit: z.string().regex(/^\d+[mg]$/),
        command: z.array(z.string()).default([]),
        environment: z.record(z.string(), z.string()).default({}),
        volumes: z.array(z.string()),
      }),
    ),
    volumes: z.record(z.string(), z.null()),
  })
  .parse(parse(read('compose.yaml'), { merge: true }))
const argumentsOf = (name: string) => services[name]?.command ?? []

/** The mounts of a service as Compose reads them without variables. */
const mountsOf = (name: string) =>
  (services[name]?.volumes ?? []).map((text) => {
    const [source = '', target = '', mode] = text.replaceAll(/\$\{\w+:-([^}]+)\}/g, '$1').split(':')
    return { source, target, mode, isFile: source.startsWith('.') }
  })
const all = Object.keys(services).flatMap(mountsOf)
const files = all.filter(({ isFile }) => isFile)

describe('deploy/compose.yaml', () => {
  test('has the three services, each of an image with a version', () => {
    const images = Object.entries(services).map(([name, { image }]) => [
      name,
      image.replace(/\d+\.\d+\.\d+$/, 'VERSION'),
    ])
    expect(images).toEqual([
      ['prometheus', 'docker.io/prom/prometheus:vVERSION'],
      ['alertmanager', 'docker.io/prom/alertmanager:vVERSION'],
      ['grafana', 'docker.io/grafana/grafana:VERSION'],
    ])
  })

  test('mounts files of the repository, read-only, and volumes that it declares', () => {
    expect(files).toHaveLength(13)
    expect(files.filter(({ source }) => !existsSync(join(DEPLOY, source)))).toEqual([])
    expect(files.filter(({ mode }) => mode !== 'ro')).toEqual([])
    expect(all.filter(({ isFile }) => !isFile).map(({ source }) => source)).toEqual(Object.keys(named))
  })

  test('every mounted file is in the package', () => {
    const { files: packed } = z.object({ files: z.array(z.string()) }).parse(JSON.parse(read('../package.json')))
    const paths = files.map(({ source }) => relative(ROOT, join(DEPLOY, source)))
    const isPacked = (path: string) => packed.some((entry) => path === entry || path.startsWith(`${entry}/`))
    expect(paths.filter((path) => !isPacked(path))).toEqual([])
  })

  test('mounts every dashboard where the provisioning reads them', () => {
    const { providers } = z
      .object({ providers: z.tuple([z.object({ options: z.object({ path: z.string() }) })]) })
      .parse(parse(read('grafana/provisioning/dashboards/chain-agent.yaml')))
    const shipped = readdirSync(join(ROOT, 'dashboards')).filter(
      (file) => file.endsWith('.json') && file !== 'tsconfig.json',
    )
    const mounted = mountsOf('grafana').filter(({ target }) => dirname(target) === providers[0].options.path)
    expect(mounted.map(({ source, target }) => [source, target])).toEqual(
      shipped.toSorted().map((file) => [`../dashboards/${file}`, `${providers[0].options.path}/${file}`]),
    )
  })

  test('listens where the configurations of Prometheus and Grafana connect to, on loopback', () => {
    const job = z.object({
      job_name: z.string(),
      static_configs: z.tuple([z.object({ targets: z.tuple([z.string()]) })]).optional(),
    })
    const alertmanagers = z.object({ alertmanagers: z.tuple([z.object({ static_configs: z.unknown() })]) })
    const prometheus = z
      .object({ alerting: alertmanagers, scrape_configs: z.array(job) })
      .parse(parse(read('prometheus/node.yml')))
    const targetOf = (name: string) =>
      prometheus.scrape_configs.find(({ job_name }) => job_name === name)?.static_configs?.[0].targets[0]
    const address = (name: string) =>
      argumentsOf(name)
        .find((one) => one.startsWith('--web.listen-address='))
        ?.split('=')[1]
    expect([targetOf('prometheus'), targetOf('alertmanager')]).toEqual(['127.0.0.1:9090', '127.0.0.1:9093'])
    expect([address('prometheus'), address('alertmanager')]).toEqual(['127.0.0.1:9090', '127.0.0.1:9093'])
    expect(prometheus.alerting.alertmanagers[0].static_configs).toEqual([{ targets: ['127.0.0.1:9093'] }])
    expect(parse(read('grafana/provisioning/datasources/chain-agent.yaml'))).toMatchObject({
      datasources: [{ url: 'http://127.0.0.1:9090' }],
    })
    expect(services['grafana']?.environment).toMatchObject({
      GF_SERVER_HTTP_ADDR: '127.0.0.1',
      GF_SERVER_HTTP_PORT: '3000',
    })
    // The agent that Prometheus scrapes there runs with its default address.
    expect(targetOf('chain-agent')).toBe('127.0.0.1:9843')
    expect(read('../config.example.yaml')).toContain('#listen: 127.0.0.1:9843\n')
  })

  test('each variable is in the guide, with its default', () => {
    const variables = new Map(
      [...read('compose.yaml').matchAll(/\$\{(\w+):(?:-([^}]+)|\?[^}]+)\}/g)].map(([, name = '', value]) => [
        name,
        value === undefined ? 'none: required' : `\`${relative(ROOT, join(DEPLOY, value))}\``,
      ]),
    )
    const guide = read('../docs/how-to/compose.md')
    const documented = [...guide.matchAll(/^\| `(\w+)` +\| (.+?) +\|/gm)].map(([, name, value]) => [name, value])
    expect(variables.size).toBe(5)
    expect(Object.fromEntries(documented)).toEqual(Object.fromEntries(variables))
  })
})

const describeReal = await requirePrometheus()

describeReal('the container of Prometheus', () => {
  it('has a configuration that promtool accepts, with the rules', async ({ directory }) => {
    for (const { source, target } of mountsOf('prometheus').filter(({ isFile }) => isFile))
      await cp(join(DEPLOY, source), join(directory, target), { recursive: true })
    const [option = ''] = argumentsOf('prometheus')
    const report = await must(await promtool(), [
      'check',
      'config',
      join(directory, option.replace('--config.file=', '')),
    ])
    expect(report.match(/SUCCESS: \d+ rules found/g)).toHaveLength(
      readdirSync(join(ROOT, 'alerts')).filter((file) => file.endsWith('.rules.yaml')).length,
    )
  })
})

test('the container of Alertmanager has the configuration that it is started with', () => {
  const [{ source, target } = { source: '', target: '' }] = mountsOf('alertmanager')
  const [option = ''] = argumentsOf('alertmanager')
  expect(existsSync(join(DEPLOY, source, relative(target, option.replace('--config.file=', ''))))).toBe(true)
})
