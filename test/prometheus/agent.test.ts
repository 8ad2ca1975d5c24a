import { afterAll, beforeAll, expect, it } from 'vitest'
import { startDemo, type Watched } from '../support/agent.ts'
import { eventually } from '../support/eventually.ts'
import { checkMetrics, requirePrometheus, type Prometheus, startPrometheus } from '../support/prometheus.ts'

const describe = await requirePrometheus()

describe('a real Prometheus', () => {
  let demo: Watched
  let prometheus: Prometheus

  beforeAll(async () => {
    demo = await startDemo('healthy')
    prometheus = await startPrometheus([`127.0.0.1:${demo.port}`])
  })
  afterAll(async () => {
    await prometheus.stop()
    await demo.stop()
  })

  const valueOf = async (expression: string): Promise<number | undefined> =>
    (await prometheus.query(expression))[0]?.value

  it('scrapes the agent', async () => {
    await eventually(
      async () => valueOf('up'),
      (up) => up === 1,
    )
    expect(await valueOf('scrape_samples_scraped')).toBeGreaterThan(100)
  })

  it('keeps what the agent says', async () => {
    const height = await eventually(
      async () => valueOf('chain_rpc_block_number{tag="latest"}'),
      (seen) => seen !== undefined,
    )
    const now = (await demo.look()).value('chain_rpc_block_number', { tag: 'latest' })
    expect(now).toBeGreaterThanOrEqual(height ?? Infinity)
  })

  it('sees counters grow from their first event', async () => {
    const blocks = 'increase(chain_ledger_blocks_total{event="proposed"}[1m])'
    expect(
      await eventually(
        async () => valueOf(blocks),
        (seen) => (seen ?? 0) > 0,
      ),
    ).toBeGreaterThan(0)
  })

  it('computes quantiles of the histograms', async () => {
    const quantile = 'histogram_quantile(0.5, chain_ledger_block_interval_seconds_bucket)'
    const median = await eventually(
      async () => valueOf(quantile),
      (seen) => seen !== undefined && !Number.isNaN(seen),
    )
    expect(median).toBeGreaterThan(0.3)
    expect(median).toBeLessThan(0.5)
  })

  it('finds nothing to criticise in names, types and help', async () => {
    expect(await checkMetrics((await demo.look()).text)).toBe('')
  })
})
