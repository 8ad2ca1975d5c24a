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
