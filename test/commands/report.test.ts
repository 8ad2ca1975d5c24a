import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openHost } from '../support/host.ts'

test('without an agent: what it would have saved is unknown, with the reason', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false })
  const { code, out } = await host.run(['report', '--json'])
  expect(code).toBe(0)
  const noHour = 'nothing is recorded yet; the running agent records it every five minutes'
  const noAgent: unknown = expect.stringContaining('the agent is not running')
  expect(JSON.parse(out)).toMatchObject({
    availability: null,
    incidents: null,
    restarts: { runs: [] },
    disk: { databaseDaysLeft: null },
    versions: { changes: null },
    unknownBecause: { availability: noHour, incidents: noAgent },
  })
})

test('availability from the hours that an agent has saved, and what is left of the budget', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false })
  const hour = host.now() - (host.now() % 3_600_000)
  const saved = (hoursAgo: number, fresh: number) => ({
    from: hour - hoursAgo * 3_600_000,
    known: 3_600_000,
    fresh,
    led: 0,
    missed: 0,
  })
  // The oldest one is before the interval.
  const hours = [saved(101, 0), saved(100, 3_600_000), saved(50, 3_420_000), saved(1, 3_600_000)]
  await mkdir(join(host.directory, 'state'), { recursive: true })
  await writeFile(join(host.directory, 'state', 'slo.json'), JSON.stringify(hours))
  const { out } = await host.run(['report', '--since', '100h', '--json'])
  const { availability } = z.object({ availability: z.record(z.string(), z.unknown()) }).parse(JSON.parse(out))
  expect(availability).toMatchObject({
    fromAt: new Date(hour - 100 * 3_600_000).toISOString(),
    // 3 minutes of 3 hours.
    uptimeRatio: 177 / 180,
    downSeconds: 180,
    objective: 0.98,
  })
  // 2 % of 100 hours and 58 minutes are 121.2 minutes.
  expect(availability['budgetRemainingRatio']).toBeCloseTo(1 - 3 / 121.2, 3)
  // The hours of a new installation begin later than the interval.
  const since = new Date(hour - 101 * 3_600_000).toISOString().replace('.000Z', 'Z')
  expect((await host.run(['report', '--since', '200h'])).out.replaceAll(/\s+/g, ' ')).toContain(
    `4 h since ${since} with`,
  )
  const { out: text } = await host.run(['report', '--since', '30m'])
  expect(text).toContain('unknown: nothing is recorded of this time')
  for (const label of ['availability', 'own rounds', 'restarts', 'incidents', 'disk', 'versions', 'rewards'])
    expect(text).toMatch(new RegExp(`^ {2}${label} +\\S`, 'm'))
})
