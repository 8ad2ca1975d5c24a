import { expect, test } from 'vitest'
import { openHost } from '../support/host.ts'

test('a host with an agent: every line has what is known of it', async () => {
  const host = await openHost({ scenario: 'service-crash', second: 300 })
  const { code, out, err } = await host.run(['report', '--since', '4m'])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^REPORT: .*, 4 min(?: \d+ s)?$/m)
  for (const label of ['availability', 'own rounds', 'restarts', 'incidents', 'disk', 'versions', 'rewards']) {
    expect(out).toMatch(new RegExp(`^ {2}${label} +\\S`, 'm'))
  }
})

test('without an agent: what it would have saved is unknown, with the reason', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false })
  const { code, out } = await host.run(['report', '--json'])
  expect(code).toBe(0)
  const noHour: unknown = expect.stringContaining('has no hour of the interval')
  const noAgent: unknown = expect.stringContaining('the agent is not running')
  expect(JSON.parse(out)).toMatchObject({
    availability: null,
    incidents: null,
    restarts: { runs: [] },
    disk: { databaseDaysLeft: null },
    versions: { changes: null },
    unknownBecause: {
      availability: noHour,
      incidents: noAgent,
    },
  })
})

test('--since that is no time is a usage error', async () => {
  const host = await openHost({ scenario: 'healthy', second: 1, agent: false })
  const { code, err } = await host.run(['report', '--since', 'soon'])
  expect(code).toBe(2)
  expect(err).toContain('expected a time')
})
