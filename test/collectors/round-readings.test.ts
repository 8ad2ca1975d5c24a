import { expect, test } from 'vitest'
import { createRoundReadings } from '../../src/collectors/schedule/round-readings.ts'
import { createSampleIndex } from '../../src/core/metric.ts'
import { second } from '../../src/core/units.ts'

const AT = Date.UTC(2026, 2, 1, 12)
const DOWN = 'the service of consensus was not active'

/** Whether consensus was active, by the seconds since the round. */
test.each([
  ['stopped after the round', [1, 1, 1, 1, 0], null],
  ['stopped between the two readings around the round', [1, 1, 0, 0, 0], null],
  ['not active before and after the round', [1, 0, 0, 0, 1], DOWN],
  ['not active at the reading before the round', [1, 0, 1, 1, 1], DOWN],
  ['active again before the round', [0, 1, 1, 1, 1], null],
])('a service that was %s: %j', (_, active, expected) => {
  const readings = createRoundReadings()
  const seconds = [-26, -11, 4, 19, 34]
  for (const [index, value] of active.entries()) {
    const known = createSampleIndex([{ name: 'chain_service_active', labels: { service: 'bft' }, value }])
    readings.add(known, AT + (seconds[index] ?? 0) * second)
  }
  expect(readings.around(AT).outage).toBe(expected)
})

/** Counters at the readings before and after a round, which are 45 s apart. */
test.each([
  ['that increase', [10, 1000, 100, 3], [11, 1099, 109, 5], { udp: 0.01, disk: 0.2, lagging: 2 }],
  [
    'that begin again, as after a restart',
    [10, 1000, 100, 3],
    [5, 95, 50, 1],
    { udp: null, disk: null, lagging: null },
  ],
])('counters %s', (...[, before, after, expected]) => {
  const readings = createRoundReadings()
  for (const [seconds, [errors = 0, received = 0, stalled = 0, value = 0]] of [
    [-15, before] as const,
    [30, after] as const,
  ]) {
    const known = createSampleIndex([
      { name: 'chain_host_udp_errors_total', labels: { kind: 'receive_buffer' }, value: errors },
      { name: 'chain_host_udp_received_total', labels: {}, value: received },
      { name: 'chain_host_pressure_stalled_seconds_total', labels: { resource: 'io' }, value: stalled },
      { name: 'chain_native_events_total', labels: { event: 'execution_lagging' }, value },
    ])
    readings.add(known, AT + seconds * second)
  }
  const { udpDropRatio: udp, diskStalledRatio: disk, executionLagging: lagging } = readings.around(AT)
  expect({ udp, disk, lagging }).toEqual(expected)
})
