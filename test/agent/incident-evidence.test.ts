import { expect, test } from 'vitest'
import { describeAlert } from '../../src/agent/incident-evidence.ts'

test('no secret of an alert is in an incident, also of one that joins it later', () => {
  const text = 'https://h/KEY of /home/op/x, password=hunter2'
  const alert = describeAlert(
    {
      alert: 'ChainAssertion',
      severity: 'critical',
      component: 'services',
      state: 'firing',
      countsAs: 'critical',
      since: 0,
      for: 0,
      summary: 'It is.',
      description: text,
      advice: [],
      explainedBy: [],
      labels: { device: text },
    },
    0,
  )
  const redacted = 'https://h/… of ~/x, password=(redacted)'
  expect([alert.description, alert.labels]).toEqual([redacted, { device: redacted }])
})
