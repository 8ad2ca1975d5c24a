import { afterAll, beforeAll, expect, it } from 'vitest'
import { rules } from '../alerts/files.ts'
import { startDemo } from '../support/agent.ts'
import { eventually } from '../support/eventually.ts'
import { serveExposition, type ShippedPrometheus, startShipped } from '../support/shipped-prometheus.ts'
import { requirePrometheus, type Series } from '../support/prometheus.ts'
import { requireVictoria, startVictoria, type Victoria } from '../support/victoria.ts'

const withPrometheus = await requirePrometheus()
const withVictoria = await requireVictoria()

/** A counter that is above 0 when it is first seen, as after a name of a node is changed. */
const CRASHED = 'chain_service_exits_total{service="bft",result="core-dump"} 3\n'

const byFirst = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

/** Sorted, without the label that leaves with the copy, so that two answers can be compared. */
const comparable = (answer: readonly Series[]): readonly (readonly [string, number])[] =>
  answer
    .map(({ labels, value }): [string, number] => {
      const own = Object.entries(labels).filter(([name]) => name !== 'prometheus')
      return [JSON.stringify(own.toSorted(byFirst)), value]
    })
    .toSorted(byFirst)

/** VictoriaMetrics keeps twelve digits or so. */
const expectSame = (there: readonly Series[], here: readonly Series[]): void => {
  const [copy, original] = [comparable(there), comparable(here)]
  expect(copy.map(([labels]) => labels)).toEqual(original.map(([labels]) => labels))
  for (const [index, [labels, value]] of original.entries()) {
    const difference = Math.abs((copy[index]?.[1] ?? NaN) - value)
    expect(difference, labels).toBeLessThanOrEqual(Math.abs(value) * 1e-9)
  }
}

const expressionOf = (name: string): string => {
  const found = rules.find(({ alert, record }) => alert === name || record === name)
  if (!found) throw new Error(`no rule ${name}`)
  return found.expr.replaceAll(/\s+/g, ' ')
}

/** Each has an answer while the demo runs. */
const ANSWERED = [
  'chain_rpc_block_number',
  'up{job="chain-agent"}',
  'instance:chain_block_age:seconds',
  'instance:chain_available:bool',
  'instance:chain_available:avg5m',
  'ALERTS',
  'absent(chain_rpc_up{job="elsewhere"})',
  'chain_block_difference offset 5s',
  'sum by (service) (chain_service_active) == 1',
  // One series alone is the greatest: of equal ones, each server may choose another.
  'topk(1, chain_rpc_block_number{tag="latest"} or up{job="chain-agent"})',
  'histogram_quantile(0.9, sum by (instance, job, le) (chain_ledger_finality_seconds_bucket))',
  'count by (version) (chain_agent_build_info)',
  expressionOf('instance:chain_statesync:active'),
  `count(${expressionOf('ChainAgentDown').replace('== 0', '== 1')})`,
]

withPrometheus('remote-write.yml', () => {
  withVictoria('a real VictoriaMetrics that a real Prometheus writes to', () => {
    const stops: (() => unknown)[] = []
    let prometheus: ShippedPrometheus
    let victoria: Victoria
    /** When all was there; what is asked of both is asked as of then. */
    let at: number

    /** Whether the newest samples up to that time are in both. */
    const hasArrived = async (time: number): Promise<boolean> => {
      for (const newest of ['timestamp(up)', 'timestamp(instance:chain_available:avg5m)']) {
        const [here, there] = [await prometheus.query(newest, time), await victoria.query(newest, time)]
        if (JSON.stringify(comparable(here)) !== JSON.stringify(comparable(there))) return false
      }
      return true
    }

    beforeAll(async () => {
      victoria = await startVictoria()
      stops.push(victoria.stop)
      const crashed = await serveExposition(CRASHED)
      stops.push(crashed.close)
      const demo = await startDemo('healthy')
      stops.push(demo.stop)
      prometheus = await startShipped({
        file: 'remote-write.yml',
        groups: [
          { targets: [`127.0.0.1:${demo.port}`], labels: { node: 'node-a', cluster: 'mainnet' } },
          { targets: [crashed.address], labels: { node: 'node-b', cluster: 'mainnet' } },
        ],
        victoria: victoria.address,
      })
      stops.push(prometheus.stop)
      // Something to take quantiles and rates of, and what is recorded of what is recorded.
      const recorded = 'count_over_time(instance:chain_available:avg5m[1m])'
      at = await eventually(
        async () => {
          const now = Math.floor(Date.now() / 1000) - 2
          const [seen] = await victoria.query(recorded, now)
          // On a busy machine a scrape may lack a reading of the demo, and the copy may arrive late.
          const here = await Promise.all(ANSWERED.map((expression) => prometheus.query(expression, now)))
          const isAnswered = (seen?.value ?? 0) >= 6 && here.every((answer) => answer.length > 0)
          return isAnswered && (await hasArrived(now)) ? now : 0
        },
        (seen) => seen > 0,
      )
    })
    afterAll(async () => {
      for (const stop of stops.toReversed()) await stop()
    })

    it.each(ANSWERED)('answers as Prometheus does: %s', async (expression) => {
      const answer = await prometheus.query(expression, at)
      expectSame(await victoria.query(expression, at), answer)
    })

    it('answers with nothing where Prometheus does: an absence that is none, an alert that is silent', async () => {
      for (const expression of ['absent(up)', ...['ChainAgentAbsent', 'ChainRpcDown'].map(expressionOf)]) {
        expect(await prometheus.query(expression, at), expression).toEqual([])
        expect(await victoria.query(expression, at), expression).toEqual([])
      }
    })

    it('counts the first value of a counter as an increase, which Prometheus does not: ChainServiceCrashed fires in neither', async () => {
      const crash = expressionOf('ChainServiceCrashed')
      const node = '{instance="node-b"}'
      const increase = `increase(chain_service_exits_total${node}[10m])`
      expect((await prometheus.query(increase, at))[0]?.value).toBe(0)
      expect((await victoria.query(increase, at))[0]?.value).toBe(3)
      expect(await prometheus.query(crash, at)).toEqual([])
      expect(await victoria.query(crash, at)).toEqual([])
      const alike = increase.replace('increase', 'increase_prometheus')
      expect((await victoria.query(alike, at))[0]?.value).toBe(0)
    })

    it('has the label that tells whose copy it is, and nothing of the jobs of others', async () => {
      const [height] = await victoria.query('chain_rpc_block_number{tag="latest"}', at)
      expect(height?.labels).toMatchObject({ instance: 'node-a', job: 'chain-agent', prometheus: 'a' })
      expect(await victoria.query('prometheus_build_info', at)).toEqual([])
    })
  })
})
