import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addressOf } from '../test/alerts/files.ts'
import { instantQuery, prometheus, type Series } from '../test/support/prometheus.ts'
import { BY_CHANCE, type FleetNodes, fleetSchema, QUESTIONS, SILENT, STAKELESS, STATES } from './expected-states.ts'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { tmpdir } from 'node:os'
import { eventually } from '../test/support/eventually.ts'
import { freePort } from '../test/support/free-port.ts'
import { type Running, start, startServer } from '../test/support/programs.ts'

interface Watched {
  readonly nodes: FleetNodes
  query(expression: string): Promise<readonly Series[]>
  stop(): Promise<void>
}

type Stop = () => Promise<unknown>

/** Starts a simulated fleet with the demo command, and a real Prometheus that scrapes every node of it. */
const monitorFleet = async (nodes: number): Promise<Watched> => {
  const ends: Stop[] = []
  const stop = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end()
  }
  try {
    const fleet = await startFleet(nodes, ends)
    const front = `http://127.0.0.1:${fleet.port}`
    const fleetNodes = fleetSchema.parse(await (await fetch(`${front}/fleet.json`)).json())
    const address = await startPrometheus(fleet.config, ends)
    const query = async (expression: string): Promise<readonly Series[]> => instantQuery(address, expression)
    await eventually(async () => (await query('up{job="chain-agent"}')).length, nodes, { within: 60_000 })
    return { nodes: fleetNodes, query, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const startFleet = async (nodes: number, stop: Stop[]) => {
  const port = await freePort()
  const main = join(import.meta.dirname, '../dist/main.js')
  const args = [main, 'demo', '--fleet', `${nodes}`, '--port', `${port}`]
  const running: Running = start(process.execPath, args)
  stop.push(async () => running.stop('SIGINT'))
  await eventually(running.output, /Ctrl-C/, { within: 240_000 })
  return { port, config: /--config\.file=(\S+)/.exec(running.output())?.[1] ?? 'none' }
}

/** Starts Prometheus with the configuration and the command line that the demo prints. */
const startPrometheus = async (config: string, stop: Stop[]): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-fleet-data-'))
  const address = `127.0.0.1:${await freePort()}`
  stop.push(async () => rm(directory, { recursive: true }))
  const server = await startServer(`http://${address}/-/ready`, await prometheus(), [
    `--config.file=${config}`,
    `--storage.tsdb.path=${directory}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ])
  stop.push(server.stop)
  return address
}

interface Asked {
  /** The title, and the letter of the target. */
  readonly panel: string
  readonly target?: string | undefined
}

/** The expression of a panel of the fleet dashboard, for all nodes and a range in seconds. */
const panelExpression = async (asked: Asked, seconds: number): Promise<string> => {
  const { panel: title, target: refId = 'A' } = asked
  const file = join(import.meta.dirname, '../dashboards/fleet.json')
  const dashboard = z.object({ panels }).parse(JSON.parse(await readFile(file, 'utf8')))
  const panel = dashboard.panels.find((one) => one.title === title)
  const target = panel?.targets.find((one) => one.refId === refId)
  if (!target) throw new Error(`the fleet dashboard has no target ${refId} of "${title}"`)
  return target.expr
    .replaceAll('$job', 'chain-agent')
    .replaceAll('$instance', '.+')
    .replaceAll('$__range', `${seconds}s`)
    .replaceAll('$__rate_interval', '1m')
}

const targets = z.array(z.object({ refId: z.string(), expr: z.string() }))
const panels = z.array(z.object({ title: z.string(), targets: targets.default([]) }))

const MINUTES = Number(process.env['MINUTES'] ?? 10)
const NODES = Number(process.env['NODES'] ?? 100)
/** Share of the stake: a network has at least twenty validators. */
const SHARE = 1 / Math.max(20, NODES)
/** By then every profile has started, for longer than the two-minute windows of the queries. */
const SETTLED_MS = 200_000

let watched: Watched | undefined
let fleetNodes: FleetNodes = []
let seconds = 0

beforeAll(
  async () => {
    watched = await monitorFleet(NODES)
    fleetNodes = watched.nodes
    const beganAt = Date.now()
    await delay(Math.max(MINUTES * 60_000, SETTLED_MS))
    seconds = Math.floor((Date.now() - beganAt) / 1000)
  },
  (MINUTES + 10) * 60_000,
)

afterAll(async () => watched?.stop())

const query = async (expression: string): Promise<readonly Series[]> => (await watched?.query(expression)) ?? []

const expressionOf = async (asked: Asked): Promise<string> => panelExpression(asked, seconds)

const namesOf = (...profiles: readonly string[]): readonly string[] =>
  fleetNodes.filter(({ fate }) => profiles.includes(fate)).map(({ name }) => name)

const isWell = (name: string): boolean => namesOf('healthy').includes(name)

/** Nodes that sign with one key: the first node is healthy and is listed with the other. */
const twins = (): readonly string[] => {
  const others = namesOf('twin')
  return others.length > 0 ? ['node-001', ...others] : []
}

const instances = (series: readonly Series[]): readonly string[] =>
  series.map(({ labels }) => labels['instance'] ?? '?').toSorted()

test('only scrapes of stopped agents failed', async () => {
  const failed = await query(`min_over_time(up{job="chain-agent"}[${seconds}s]) == 0`)
  expect(instances(failed)).toEqual(namesOf('agent-gone'))
  const scrapes = await query(`sum(count_over_time(up{job="chain-agent"}[${seconds}s]))`)
  expect(scrapes[0]?.value).toBeGreaterThan(NODES * (seconds / 5 - 2))
  const longest = await valueOf(`max(max_over_time(scrape_duration_seconds[${seconds}s]))`)
  expect(longest).toBeLessThan(5)
  const spent = `rate(process_cpu_seconds_total{job="chain-fleet"}[${seconds}s])`
  const memory = `max_over_time(process_resident_memory_bytes{job="chain-fleet"}[${seconds}s])`
  const middle = `quantile(0.5, avg_over_time(scrape_duration_seconds[${seconds}s]))`
  console.log(
    [
      `${NODES} nodes, ${seconds} s, ${scrapes[0]?.value} scrapes`,
      `${(await valueOf(spent)).toFixed(2)} cores, ${Math.round((await valueOf(memory)) / 1e6)} MB`,
      `scrapes took ${(1000 * (await valueOf(middle))).toFixed(0)} ms on average, ${(1000 * longest).toFixed(0)} ms at most`,
      `${await valueOf('sum(scrape_samples_scraped)')} samples a round`,
    ].join('; '),
  )
})

const valueOf = async (expression: string): Promise<number> => (await query(expression))[0]?.value ?? Number.NaN

describe('the fleet dashboard shows the profiles', () => {
  test('state of each node', async () => {
    const told = (await query(await expressionOf({ panel: 'Every node' }))).map(({ labels, value }) => [
      labels['instance'],
      value,
    ])
    const expected = fleetNodes.map(({ name, fate }) => [name, STATES[fate] ?? 1])
    expect(Object.fromEntries(told)).toEqual(Object.fromEntries(expected))
  })

  test.each(QUESTIONS)('$panel: $names', async ({ panel, target, where, names }) => {
    const found = await query(`(${await expressionOf({ panel, target })}) ${where}`)
    expect([...new Set(instances(found))]).toEqual(namesOf(...names))
  })

  test('the node whose own rounds time out has most of all timeouts', async () => {
    const [worst] = await query('topk(1, chain_ledger_own_timeouts_total)')
    expect([worst?.labels['instance']]).toEqual(namesOf('own-timeouts'))
    const shown = await query(`(${await expressionOf({ panel: 'Most own rounds timed out' })}) > 0.25`)
    // A share of own rounds is exported from twenty on. All timeouts of the network are a third of the rounds of one in
    // twenty, and more in a larger network; by chance no other node reaches a quarter.
    const judged = instances(await query('sum by (instance) (chain_duty_slots) >= 20'))
    expect(instances(shown)).toEqual(namesOf('own-timeouts').filter((name) => judged.includes(name)))
  })

  test('running versions', async () => {
    const found = await query(await expressionOf({ panel: 'Nodes by the version that consensus runs' }))
    const told = found.map(({ labels, value }) => `${value} run ${labels['version']}`)
    const others = fleetNodes.filter(({ fate }) => ![...SILENT, 'upgraded', 'fork-unready'].includes(fate))
    const runs = { '0.16.0': namesOf('fork-unready'), '0.16.1': others, '0.17.0': namesOf('upgraded') }
    expect(told.toSorted()).toEqual(
      Object.entries(runs)
        .filter(([, nodes]) => nodes.length > 0)
        .map(([version, { length }]) => `${length} run ${version}`)
        .toSorted(),
    )
  })

  test('the alert about a key on two hosts names both', async () => {
    const found = await query('ALERTS{alertname="ChainIdentityTwice", alertstate="firing"}')
    expect(instances(found)).toEqual(twins().toSorted())
  })
})

describe('a healthy node', () => {
  test('has no alert, except by chance', async () => {
    const named = (await standing()).filter(({ alert }) => !(alert in BY_CHANCE))
    const isTwin = ({ node, alert }: Standing): boolean => alert === 'ChainIdentityTwice' && twins().includes(node)
    expect(named.filter((one) => !isTwin(one))).toEqual([])
  })

  test.each(Object.entries(BY_CHANCE))('%s stands on few', async (alert, atMost) => {
    const named = (await standing()).filter((one) => one.alert === alert)
    expect(named.length).toBeLessThanOrEqual(atMost * namesOf('healthy').length)
  })

  interface Standing {
    readonly node: string
    readonly alert: string
    readonly state: string | undefined
  }

  const standing = async (): Promise<readonly Standing[]> =>
    (await query('ALERTS{job="chain-agent", severity!~"none|info"}'))
      .map(({ labels }) => ({
        node: labels['instance'] ?? '?',
        alert: addressOf({ alert: labels['alertname'] ?? '?', labels }),
        state: labels['alertstate'],
      }))
      .filter(({ node }) => isWell(node))

  test('has its share of the stake, and the shares add up to 1', async () => {
    const stakes = await query('chain_native_stake_ratio')
    const shares = await ofWell('chain_native_stake_ratio')
    expect(shares).toHaveLength(namesOf('healthy').length)
    for (const share of shares) expect(Math.abs(share - SHARE)).toBeLessThan(1.01e-4)
    const unseen = namesOf(...SILENT, ...STAKELESS).length
    const sum = stakes.reduce((total, { value }) => total + value, 0)
    expect(Math.abs(sum - (NODES - unseen) * SHARE)).toBeLessThan(0.002)
    console.log(`the stakes of ${stakes.length} nodes sum up to ${sum.toFixed(4)}`)
  })

  test('leads as often as its stake implies', async () => {
    // The table of duties shows it after six hours.
    const lucks = await ofWell('sum by (instance) (chain_duty_slots) / on (instance) chain_duty_expected_slots')
    expect(lucks).toHaveLength(namesOf('healthy').length)
    const median = lucks[Math.floor(lucks.length / 2)] ?? Number.NaN
    const expected = await ofWell('chain_duty_expected_slots')
    // The number of rounds of a node varies by its square root; the median of all by a quarter more than their mean.
    const deviation = 1.25 / Math.sqrt(expected.reduce((sum, rounds) => sum + rounds, 0))
    console.log(`luck ${median.toFixed(2)}, by chance within ${(4 * deviation).toFixed(2)} of 1`)
    expect(Math.abs(median - 1)).toBeLessThan(4 * deviation)
  })
})

/** The values of the healthy nodes, ascending. */
const ofWell = async (expression: string): Promise<readonly number[]> =>
  (await query(expression))
    .filter(({ labels }) => isWell(labels['instance'] ?? '?'))
    .map(({ value }) => value)
    .toSorted((a, b) => a - b)
