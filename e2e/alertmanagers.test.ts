import { expect, test } from 'vitest'
import { hour, second } from '../src/core/units.ts'
import { parseScenario } from '../simulator/scenario/scenario.ts'
import { INSTANCE, startAlerting } from './alerting.ts'
import { waitFor } from './run-fault.ts'
import { startNode } from './simulated-node.ts'

/** Failure, its directive, and the most seconds until the first page if the agent or Prometheus sends it. */
const FAILURES: readonly (readonly [string, string, number?, number?])[] = [
  ['consensus crashes', 'bft crashes SIGABRT', 30, 60],
  ['consensus is stopped', 'bft stops', 80, 80],
  ['no block arrives', 'consensus stops'],
  ['execution asserts', 'execution asserts'],
  ['the RPC exits', 'rpc exits 1', 30, 60],
  ['the RPC does not answer', 'rpc fails'],
  ['no peer is connected', 'peers sessions 2'],
  ['the node is 70 blocks behind', 'node behind 70'],
  ['votes stop', 'votes stop'],
  ['a drive is gone', 'host nvme gone'],
  ['the clock is off by 1 s', 'host clock 1000ms'],
]

/** By then Prometheus has scraped three times. */
const FAULT_S = 45
const PATIENCE_MS = 480 * second
const VERSIONS = ['0.25', '0.33'] as const

/** Seconds from the fault to the first page, by the agent and by Prometheus, with each Alertmanager; undefined: none. */
const play = async (directive: string) => {
  const ways = VERSIONS.flatMap((version) => [
    { version, withPrometheus: false },
    { version, withPrometheus: true },
  ])
  const alertings = await Promise.all(
    ways.map(async (way) => startAlerting([], { ...way, isShipped: true, scrapeInterval: '15s' })),
  )
  const own = alertings.filter((_, index) => ways[index]?.withPrometheus === false)
  const node = await startNode(parseScenario('failure', `${FAULT_S}s ${directive}`), undefined, {
    // Those of the configuration, not the shorter ones of the demo.
    intervals: {},
    // A warning on a validator, as which the simulated node is detected.
    health: { role: directive.startsWith('rpc') ? 'rpc' : 'auto' },
    alertmanagers: { urls: own.map(({ address }) => `http://${address}`), instance: INSTANCE },
  })
  try {
    for (const alerting of alertings.filter((one) => !own.includes(one)))
      await alerting.scrape([`127.0.0.1:${node.agent.port}`])
    const pages = await Promise.all(
      alertings.map(async (alerting) =>
        waitFor(alerting, ({ status, severity }) => status === 'firing' && severity === 'critical', PATIENCE_MS),
      ),
    )
    return pages.map((page) => page && { alert: page.alert, after: (page.at - node.beganAt) / second - FAULT_S })
  } finally {
    await Promise.all(alertings.map(async ({ close }) => close()))
    await node.close()
  }
}

test(
  'seconds from ten failures and a stop to the webhook, with the shipped durations and routes',
  async () => {
    const asked = process.env['FAULT']
    const queue = FAILURES.filter(([failure]) => asked === undefined || failure.includes(asked))
    const rows: string[] = []
    const late: string[] = []
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const [failure, directive, byAgent = Infinity, byPrometheus = Infinity] = next
        const pages = await play(directive)
        const texts = pages.map((page) => (page ? page.after.toFixed(0) : 'none'))
        const row = `| ${failure} | ${pages.find((page) => page)?.alert ?? ''} | ${texts.join(' | ')} |`
        console.log(row)
        rows.push(row)
        const limits = VERSIONS.flatMap(() => [byAgent, byPrometheus])
        if (pages.some((page, index) => !page || page.after < 0 || page.after > (limits[index] ?? 0))) late.push(row)
      }
    }
    await Promise.all([work(), work(), work()])
    const head = VERSIONS.flatMap((version) => [`agent, ${version}`, `Prometheus, ${version}`])
    console.log([`| failure | alert | ${head.join(' | ')} |`, `|---|---|---|---|---|---|`, ...rows].join('\n'))
    expect(late).toEqual([])
  },
  hour,
)
