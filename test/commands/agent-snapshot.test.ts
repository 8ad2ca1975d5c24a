import { expect, test } from 'vitest'
import { decodeReadings, indexSamples } from '../../src/commands/shared/agent-snapshot.ts'
import { parsePrometheusText } from '../../src/parsers/prometheus-text.ts'

test('an exposition holds gauges and the counters of others; what the agent counts is left out', () => {
  const { samples } = parsePrometheusText(
    [
      'chain_service_active{service="bft"} 1',
      'chain_service_restarts_total{service="bft"} 3',
      'chain_service_starts_total{service="bft"} 4',
      'node_load1 5',
      '',
    ].join('\n'),
  )
  const known = indexSamples(samples)
  expect(known.value('chain_service_active', { service: 'bft' })).toBe(1)
  expect(known.value('chain_service_restarts_total', { service: 'bft' })).toBe(3)
  const names = ['chain_service_starts_total', 'node_load1']
  // @ts-expect-error -- they are not names of readings
  expect(names.flatMap((name) => known.series(name))).toEqual([])
})

test('readings are decoded to the types of the collectors', () => {
  const oldestEntryAt = { bft: '2026-03-01T12:00:00.000Z' }
  const { execution, logs, maintenance, version } = decodeReadings({
    execution: { block: { number: '18446744073709551615', at: '2026-03-01T12:00:00.250Z' } },
    logs: { lastEntryAt: null, trouble: { bft: ['assertion: x'] }, oldestEntryAt },
    maintenance: { reason: 'upgrade', until: '2026-03-01T12:30:00.000Z', note: null },
    version: { package: { ok: false, error: 'no dpkg' }, programs: { rpc: { ok: true, value: { version: '1.2.3' } } } },
  })
  const noon = Date.UTC(2026, 2, 1, 12)
  expect(execution?.block).toEqual({ number: 18_446_744_073_709_551_615n, at: noon + 250 })
  expect(logs).toEqual({
    lastEntryAt: null,
    trouble: { bft: ['assertion: x'] },
    oldestEntryAt: new Map([['bft', noon]]),
    states: new Map(),
  })
  expect(maintenance?.until).toBe('2026-03-01T12:30:00.000Z')
  expect(version?.package.error).toEqual(new Error('no dpkg'))
  expect(version?.programs.get('rpc')?.value?.version).toBe('1.2.3')
})

test('a field that an agent of another version lacks, or has with another type, is unknown', () => {
  const readings = decodeReadings({
    rpc: { up: 'yes' },
    services: { services: [{ service: 'bft', restarts: 'many', startedAt: 5 }, 7] },
    consensus: { round: '12', epoch: '1e3', committing: 1, messages: [], votedAt: 'yesterday' },
    logs: { trouble: 3, oldestEntryAt: { bft: 4 } },
    keys: 'none',
    version: { forks: {} },
    status: null,
    lifecycle: {},
    another: { up: true },
  })
  expect(readings.rpc).toBeUndefined()
  const [bft, second] = readings.services?.services ?? []
  expect(bft).toMatchObject({ service: 'bft', unit: null, restarts: null, startedAt: null })
  expect(second).toMatchObject({ service: null, restarts: null })
  const { round, epoch, committing, messages, votedAt } = readings.consensus ?? {}
  expect([round, epoch, committing, messages, votedAt]).toEqual([12n, null, null, {}, null])
  expect(readings.logs).toEqual({
    lastEntryAt: null,
    trouble: null,
    oldestEntryAt: new Map([['bft', null]]),
    states: new Map(),
  })
  expect(readings.keys).toEqual([])
  expect(readings.version?.forks).toBeNull()
  expect(Object.keys(readings)).not.toEqual(expect.arrayContaining(['status', 'lifecycle', 'another']))
})
