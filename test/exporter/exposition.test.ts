import { expect, test } from 'vitest'
import { createExposition } from '../../src/exporter/exposition.ts'
import { sample, type Sample } from '../../src/core/metric.ts'
import { agentMetrics } from '../../src/metrics.ts'
import { serviceMetrics } from '../../query/service/metrics.ts'

const ours = async (text: Promise<string>): Promise<readonly string[]> =>
  (await text).split('\n').filter((line) => line.startsWith('chain_'))

const exposition = () => {
  const complaints: string[] = []
  return { ...createExposition((message) => complaints.push(message), { catalogue: agentMetrics }), complaints }
}

test('says nothing of what is not known', async () => {
  const { render } = exposition()
  expect(await ours(render([]))).toEqual([])
  await render([sample('chain_rpc_up', 1), sample('chain_service_active', 1, { service: 'bft' })])
  expect(await ours(render([]))).toEqual([])
})

test('shows readings of this moment, and what was recorded since the beginning', async () => {
  const { render, recorder } = exposition()
  recorder.count('chain_ledger_own_timeouts_total', 0)
  recorder.count('chain_ledger_timeouts_total', 2n)
  recorder.observe('chain_ledger_finality_seconds', 0.9)
  expect(await ours(render([sample('chain_rpc_up', 1)]))).toEqual(
    expect.arrayContaining([
      'chain_rpc_up 1',
      'chain_ledger_own_timeouts_total 0',
      'chain_ledger_timeouts_total 2',
      'chain_ledger_finality_seconds_bucket{le="0.8"} 0',
      'chain_ledger_finality_seconds_bucket{le="1"} 1',
      'chain_ledger_finality_seconds_sum 0.9',
    ]),
  )
  const later = await ours(render([sample('chain_rpc_up', 0)]))
  expect(later).toContain('chain_rpc_up 0')
  expect(later).toContain('chain_ledger_timeouts_total 2')
})

test('a counter that an earlier version saved continues if it has the same labels', async () => {
  const { render, recorder } = exposition()
  recorder.countByName('chain_ledger_blocks_total', 7, { event: 'proposed' })
  for (const labels of [{ event: 'rejected' }, { event: 'proposed', own: 'yes' }, {}])
    recorder.countByName('chain_ledger_blocks_total', 1, labels)
  recorder.countByName('chain_ledger_of_0_2_0_total', 1, {})
  expect((await ours(render([]))).filter((line) => line.includes('ledger'))).toEqual([
    'chain_ledger_blocks_total{event="proposed"} 7',
  ])
})

test('two readings of one series are reported, never summed', async () => {
  const { render, complaints } = exposition()
  const twice: readonly Sample[] = [sample('chain_block_difference', 3), sample('chain_block_difference', 4)]
  expect(await ours(render(twice))).toEqual(['chain_block_difference 3'])
  expect(complaints).toEqual(['two readings have the series chain_block_difference; the first is exported'])
})

test('a counter of another process is exported by value, also when it decreases', async () => {
  const { render } = exposition()
  const restarts = (value: number) => ours(render([sample('chain_service_restarts_total', value, { service: 'rpc' })]))
  expect(await restarts(5)).toEqual(['chain_service_restarts_total{service="rpc"} 5'])
  expect(await restarts(0)).toEqual(['chain_service_restarts_total{service="rpc"} 0'])
})

test('concurrent scrapes each get all samples', async () => {
  const { render } = exposition()
  const samples = ['a', 'b', 'c'].map((service) => sample('chain_service_active', 1, { service }))
  const all = await Promise.all(Array.from({ length: 20 }, () => ours(render(samples))))
  for (const lines of all) expect(lines).toHaveLength(3)
})

test('the labels of a series are the same object in each evaluation, until it ends', async () => {
  const { values, recorder } = exposition()
  recorder.count('chain_consensus_messages_total', 1, { kind: 'committed_block' })
  const labelsOf = async (...services: readonly string[]) =>
    (await values(services.map((service) => sample('chain_service_active', 1, { service }))))
      .filter(({ name }) => ['chain_service_active', 'chain_consensus_messages_total'].includes(name))
      .map(({ labels }) => labels)
  const first = await labelsOf('rpc', 'bft')
  expect(first).toEqual([{ service: 'rpc' }, { service: 'bft' }, { kind: 'committed_block' }])
  const second = await labelsOf('bft', 'mpt')
  expect(second).toEqual([{ service: 'bft' }, { service: 'mpt' }, { kind: 'committed_block' }])
  expect(second[0]).toBe(first[1])
  expect(second[2]).toBe(first[2])
  expect((await labelsOf('rpc'))[0]).not.toBe(first[0])
})

test('the agent and the service export disjoint metrics', async () => {
  const told = async (text: Promise<string>): Promise<readonly string[]> =>
    [...(await text).matchAll(/^# HELP (chain_(?:query_service|rpc)_)/gm)].map(([, part = '']) => part)
  const service = createExposition(() => undefined, { catalogue: serviceMetrics })
  expect(new Set(await told(exposition().render([])))).toEqual(new Set(['chain_rpc_']))
  expect(new Set(await told(service.render([])))).toEqual(new Set(['chain_query_service_']))
})
