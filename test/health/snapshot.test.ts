import { expect, test } from 'vitest'
import { indexSamples } from '../../src/health/snapshot.ts'

test('an exposition holds gauges and the counters of others; what the agent counts is left out', () => {
  const labels = { service: 'bft' }
  const known = indexSamples([
    { name: 'chain_service_active', labels, value: 1 },
    { name: 'chain_service_restarts_total', labels, value: 3 },
    { name: 'chain_service_starts_total', labels, value: 4 },
    { name: 'node_load1', labels: {}, value: 5 },
  ])
  expect(known.value('chain_service_active', { service: 'bft' })).toBe(1)
  expect(known.value('chain_service_restarts_total', { service: 'bft' })).toBe(3)
  const names = ['chain_service_starts_total', 'node_load1']
  // @ts-expect-error -- they are not names of readings
  expect(names.flatMap((name) => known.series(name))).toEqual([])
})
