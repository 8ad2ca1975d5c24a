import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const GUIDE = read('docs/how-to/prometheus.md')
/** The dashboards. */
const NAMES = ['agent', 'consensus', 'duties', 'fleet', 'node', 'query-service', 'staking', 'storage']

const scrape = z.looseObject({
  job_name: z.string(),
  static_configs: z.array(z.object({ targets: z.array(z.string()), labels: z.unknown() })),
})
/** As Prometheus scrapes one node: what others do is measured by it. */
const prometheus = z
  .object({
    global: z.object({ scrape_interval: z.string(), scrape_timeout: z.string() }).loose(),
    scrape_configs: z.tuple([scrape], z.unknown()),
  })
  .parse(parse(read('deploy/prometheus/node.yml')))

describe('provisioning of Grafana', () => {
  const source = z.object({ type: z.string(), jsonData: z.object({ timeInterval: z.string() }) })
  const { datasources } = z
    .object({ datasources: z.array(source) })
    .parse(parse(read('deploy/grafana/provisioning/datasources/chain-agent.yaml')))

  test('the source of data knows how often it is scraped', () => {
    expect(datasources.map(({ jsonData }) => jsonData.timeInterval)).toEqual([prometheus.global.scrape_interval])
  })

  test('the dashboards are looked for where the guide puts them', () => {
    const { providers } = z
      .object({ providers: z.array(z.object({ options: z.object({ path: z.string() }) })) })
      .parse(parse(read('deploy/grafana/provisioning/dashboards/chain-agent.yaml')))
    expect(providers).toHaveLength(1)
    expect(GUIDE).toContain(`chain-agent dashboards --output ${providers[0]?.options.path} `)
  })

  test('every dashboard asks the source that the reader chooses among those of our type', () => {
    const dashboard = z.object({
      uid: z.string(),
      templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string(), query: z.unknown() })) }),
    })
    const seen = NAMES.map((name) => dashboard.parse(JSON.parse(read(`dashboards/${name}.json`))))
    expect(seen.map(({ uid }) => uid)).toEqual(NAMES.map((name) => `chain-${name}`))
    for (const { uid, templating } of seen) {
      const found = templating.list.find(({ name }) => name === 'datasource')
      expect([found?.type, found?.query], uid).toEqual(['datasource', datasources[0]?.type])
    }
  })
})

describe('the collector of OpenTelemetry', () => {
  const named = z.record(z.string().endsWith('/chain-agent'), z.unknown())
  const config = z
    .strictObject({
      receivers: z.strictObject({
        'prometheus/chain-agent': z.object({ config: z.object({ scrape_configs: z.array(scrape) }) }),
      }),
      processors: named,
      exporters: named,
      service: z.object({ pipelines: z.unknown() }),
    })
    .parse(parse(read('deploy/otelcol/chain-agent.yaml')))

  test('scrapes as Prometheus does', () => {
    const [{ job_name, static_configs }] = prometheus.scrape_configs
    const { scrape_interval, scrape_timeout } = prometheus.global
    expect(config.receivers['prometheus/chain-agent'].config.scrape_configs).toEqual([
      { job_name, static_configs, scrape_interval, scrape_timeout },
    ])
  })

  test('has what its pipeline is made of, and nothing else', () => {
    const { receivers, processors, exporters } = config
    expect(config.service.pipelines).toEqual({
      'metrics/chain-agent': {
        receivers: Object.keys(receivers),
        processors: Object.keys(processors),
        exporters: Object.keys(exporters),
      },
    })
  })
})

test('the package has all that the guide installs from', () => {
  const { files } = z.object({ files: z.array(z.string()) }).parse(JSON.parse(read('package.json')))
  expect(files).toEqual(expect.arrayContaining(['alerts', 'deploy', ...NAMES.map((name) => `dashboards/${name}.json`)]))
})
