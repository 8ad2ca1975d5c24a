import { expect, test } from 'vitest'
import { FAULTS, WITHOUT_ROW } from '../../e2e/faults.ts'
import { parseScenario } from '../../simulator/scenario/scenario.ts'
import { addressOf, alerts } from './files.ts'

test.each(FAULTS)('$fault: a valid scenario for an existing alert', (row) => {
  const { fault, alert, severity, lines, fixes } = row
  expect(lines.length + fixes.length).toBeGreaterThan(1)
  parseScenario(fault, [...lines, ...fixes].map((line) => `1s ${line}`).join('\n'))
  const found = alerts.filter((one) => addressOf(one) === alert)
  expect(found.map(({ labels }) => labels?.['severity'])).toContain(severity)
})

test('every critical alert has an end-to-end scenario, or a reason why not', () => {
  const critical = new Set(alerts.filter(({ labels }) => labels?.['severity'] === 'critical').map(({ alert }) => alert))
  const named = new Set([...FAULTS.map(({ alert }) => alert.replace(/\..*/, '')), ...WITHOUT_ROW.keys()])
  const without = [...critical].filter((alert) => !named.has(alert))
  expect(without, 'a critical alert needs a row in TABLE of e2e/faults.ts, or a reason in WITHOUT_ROW').toEqual([])
  expect([...named].filter((alert) => !critical.has(alert))).toEqual([])
  expect(FAULTS.filter(({ alert }) => WITHOUT_ROW.has(alert))).toEqual([])
})
