import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { metrics } from '../../src/metrics.ts'
import { rules } from '../alerts/files.ts'
import { eventually } from '../support/eventually.ts'
import {
  checkShipped,
  CONFIGURATIONS,
  serveExposition,
  SHIPPED,
  type ShippedPrometheus,
  startShipped,
} from '../support/shipped-prometheus.ts'
import { freePort } from '../support/free-port.ts'
import { requirePrometheus } from '../support/prometheus.ts'

const describe = await requirePrometheus()

const configSchema = z.looseObject({
  global: z.looseObject({ scrape_interval: z.string(), external_labels: z.unknown().optional() }),
  scrape_configs: z.array(z.looseObject({ job_name: z.string() })),
  remote_write: z.unknown().optional(),
})
const relabelSchema = z.array(z.looseObject({ write_relabel_configs: z.array(z.looseObject({ regex: z.string() })) }))
const read = async (file: string) => configSchema.parse(parse(await readFile(join(SHIPPED, file), 'utf8')))
type Config = z.output<typeof configSchema>
const DISCOVERY = ['static_configs', 'file_sd_configs', 'relabel_configs']
const withoutDiscovery = ({ scrape_configs: jobs, ...others }: Config): unknown => ({
  ...others,
  jobs: jobs.map((job) => Object.entries(job).filter(([key]) => !DISCOVERY.includes(key))),
})

describe('the configurations of deploy/prometheus', () => {
  it.each(CONFIGURATIONS)('%s is one that Prometheus takes, with our rules', async (file) => {
    const { code, stdout, stderr } = await checkShipped(file)
    expect(code, stderr).toBe(0)
    expect(stdout).toMatch(/SUCCESS: \d+ rules found/)
  })

  it('differ in what they are for alone', async () => {
    const fleet = await read('fleet.yml')
    const { remote_write: written, global, ...rest } = await read('remote-write.yml')
    const { external_labels: labels, ...times } = global
    expect({ ...rest, global: times }).toEqual(fleet)
    expect([written, labels]).not.toContain(undefined)
    const node = await read('node.yml')
    expect(withoutDiscovery(node)).toEqual(withoutDiscovery(fleet))
    expect(node.global.scrape_interval).toBe('5s')
  })

  it('send what the agent says and the rules record, and nothing of other jobs', async () => {
    const { remote_write: written } = await read('remote-write.yml')
    const [copy] = relabelSchema.parse(written)
    const kept = new RegExp(`^(?:${copy?.write_relabel_configs[0]?.regex})$`)
    const names = [...Object.keys(metrics), ...rules.flatMap(({ record = [] }) => record)]
    expect(names.filter((name) => !kept.test(`${name};chain-agent`))).toEqual([])
    expect(kept.test('process_cpu_seconds_total;chain-agent')).toBe(true)
    expect(kept.test('process_cpu_seconds_total;prometheus')).toBe(false)
    expect(kept.test('prometheus_build_info;prometheus')).toBe(false)
  })
})

/** Just enough to tell nodes apart, and for a rule to record something. */
const says = (height: number): string =>
  `chain_agent_build_info{version="0.1.0"} 1
chain_rpc_block_number{tag="latest"} ${height}
chain_native_statesync_active 0
`

describe('a real Prometheus with fleet.yml', () => {
  const stops: (() => unknown)[] = []
  let prometheus: ShippedPrometheus
  let agents: Readonly<
    Record<'a' | 'b' | 'many' | 'other' | 'nameless' | 'service', Awaited<ReturnType<typeof serveExposition>>>
  >

  beforeAll(async () => {
    const overLimit = Array.from({ length: 2001 }, (_, index) => `chain_x{n="${index}"} 1\n`)
    agents = {
      a: await serveExposition(says(100)),
      b: await serveExposition(says(200)),
      many: await serveExposition(overLimit.join('')),
      other: await serveExposition(says(300)),
      nameless: await serveExposition(says(400)),
      service: await serveExposition('chain_query_service_height 90\nprocess_open_fds 20\n'),
    }
    for (const agent of Object.values(agents)) stops.push(agent.close)
    prometheus = await startShipped({
      file: 'fleet.yml',
      groups: [
        { targets: [agents.a.address], labels: { node: 'node-a', cluster: 'mainnet' } },
        { targets: [agents.b.address], labels: { node: 'node-b' } },
        { targets: [agents.many.address], labels: { node: 'node-many' } },
        { targets: [`127.0.0.1:${await freePort()}`], labels: { node: 'node-gone' } },
        { targets: [agents.nameless.address], labels: {} },
      ],
      queryServices: [{ targets: [agents.service.address], labels: { node: 'node-b' } }],
    })
    stops.push(prometheus.stop)
  })
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop()
  })

  /** `instance` → value. */
  const byNode = async (expression: string): Promise<Readonly<Record<string, number>>> => {
    const answer = await prometheus.query(expression)
    return Object.fromEntries(answer.map(({ labels, value }): [string, number] => [labels['instance'] ?? '', value]))
  }
  const seeByNode = async (expression: string, count: number) =>
    eventually(
      async () => byNode(expression),
      (seen) => Object.keys(seen).length === count,
    )

  it('knows nodes by their names, and one without a name by its address', async () => {
    expect(await seeByNode('chain_rpc_block_number', 3)).toEqual({
      'node-a': 100,
      'node-b': 200,
      [agents.nameless.address]: 400,
    })
    const [labels] = (await prometheus.query('up{instance="node-a"}')).map((one) => one.labels)
    expect(labels).toEqual({ __name__: 'up', instance: 'node-a', job: 'chain-agent', cluster: 'mainnet' })
  })

  it('takes what a query service tells as told of its node, and not its process or whether it is up', async () => {
    expect(await seeByNode('chain_query_service_height{job="chain-agent"}', 1)).toEqual({ 'node-b': 90 })
    for (const own of ['up', 'process_open_fds']) {
      const series = await prometheus.query(`${own}{instance="node-b"}`)
      expect(series.map(({ labels }) => labels['job'])).toContain('chain-query-service')
    }
    const misplaced = 'process_open_fds{job="chain-agent"} or up{job="chain-query-service"} == 0'
    expect(await prometheus.query(misplaced)).toEqual([])
  })

  it('takes a node that is gone, and one over the limit of series, for down', async () => {
    expect(await seeByNode('up{job="chain-agent"} == 0', 2)).toEqual({ 'node-gone': 0, 'node-many': 0 })
    const pending = 'ALERTS{alertname="ChainAgentDown", alertstate="pending"}'
    expect(await seeByNode(pending, 2)).toEqual({ 'node-gone': 1, 'node-many': 1 })
  })

  it('evaluates all our rules, for each node', async () => {
    expect(await seeByNode('instance:chain_statesync:active', 3)).toEqual({
      'node-a': 0,
      'node-b': 0,
      [agents.nameless.address]: 0,
    })
    const rulesSchema = z.object({
      data: z.object({ groups: z.array(z.object({ rules: z.array(z.object({ health: z.string() })) })) }),
    })
    const health = async (): Promise<readonly string[]> => {
      const answer = await fetch(`http://${prometheus.address}/api/v1/rules`)
      const { groups } = rulesSchema.parse(await answer.json()).data
      return groups.flatMap((group) => group.rules.map((rule) => rule.health))
    }
    const all = await eventually(health, (seen) => !seen.includes('unknown'))
    expect(all.length).toBeGreaterThan(100)
    expect(new Set(all)).toEqual(new Set(['ok']))
  })

  it('finds a node that is added; two of one name are mixed, and there is a number that tells', async () => {
    const found = 'sum(prometheus_sd_discovered_targets{config="chain-agent"})'
    const missing = async () => (await prometheus.query(`${found} - count(up{job="chain-agent"})`))[0]?.value
    await eventually(missing, (seen) => seen === 0)
    await prometheus.target('more.yaml', [
      { targets: [agents.other.address], labels: { node: 'node-a', cluster: 'mainnet' } },
    ])
    expect(await eventually(missing, (seen) => seen === 1)).toBe(1)
    // 100 and 300 in turn, without an error: this is why there must be a number.
    const jumps = async () => (await byNode('changes(chain_rpc_block_number[10s])'))['node-a']
    expect(await eventually(jumps, (seen) => (seen ?? 0) > 2)).toBeGreaterThan(2)
    expect(await byNode('up{instance="node-a"}')).toEqual({ 'node-a': 1 })
    await prometheus.target('more.yaml', [{ targets: [agents.other.address], labels: { node: 'node-other' } }])
    expect(await eventually(missing, (seen) => seen === 0)).toBe(0)
    expect((await seeByNode('chain_rpc_block_number', 4))['node-other']).toBe(300)
  })
})
