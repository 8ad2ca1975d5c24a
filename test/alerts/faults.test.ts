import { expect, test } from 'vitest'
import { FAULTS, WITHOUT_ROW } from '../../e2e/faults.ts'
import { parseScenario } from '../../simulator/scenario/scenario.ts'
import { alerts } from './files.ts'

test.each(FAULTS)('$fault: a valid scenario for an existing alert', (row) => {
  const { fault, alert, severity, lines, fixes } = row
  expect(lines.length + fixes.length).toBeGreaterThan(1)
  parseScenario(fault, [...lines, ...fixes].map((line) => `1s ${line}`).join('\n'))
  const found = alerts.filter((one) => one.alert === alert)
  expect(found.map(({ labels }) => labels?.['severity'])).toContain(severity)
})

test('every critical alert has an end-to-end scenario, or a reason why not', () => {
  const critical = alerts.filter(({ labels }) => labels?.['severity'] === 'critical')
  const named = [...FAULTS.map(({ alert }) => alert), ...WITHOUT_ROW.keys()]
  expect([...new Set(named)].toSorted()).toEqual([...new Set(critical.map(({ alert }) => alert))].toSorted())
  expect(FAULTS.filter(({ alert }) => WITHOUT_ROW.has(alert))).toEqual([])
})
