import { describe, expect, test } from 'vitest'
import { diskOf, incidentsIn, rewardsIn } from '../../../src/commands/report/report.ts'
import type { Event } from '../../../src/domain/event.ts'
import { createSampleIndex, sample } from '../../../src/core/metric.ts'

const NOON = Date.UTC(2026, 2, 1, 12)
const MINUTE = 60_000
const at = (minutes: number): number => NOON + minutes * MINUTE

type Row = readonly [minutes: number, subject: string, to: string]

/** Events of alerts; the subject `agent` is the agent itself. */
const incidents = (rows: readonly Row[], since = at(-1000)) => {
  const events = rows.map(([minutes, subject, to], id): Event => {
    const [, severity] = /^(critical|warning|info): /.exec(to) ?? []
    const isAgent = subject === 'agent'
    return {
      id,
      at: at(minutes),
      collector: isAgent ? 'agent' : 'alerts',
      subject: isAgent ? null : subject,
      from: null,
      to,
      severity: severity === 'critical' || severity === 'warning' ? severity : 'info',
    }
  })
  return incidentsIn({ events, oldestAt: events[0]?.at ?? null }, since).incidents.map((one) => ({
    severity: one.severity,
    from: (one.beganAt - NOON) / MINUTE,
    to: one.endedAt === null ? null : (one.endedAt - NOON) / MINUTE,
    alerts: one.firings.map(({ alert, subject }) => `${alert ?? ''} ${subject}`.trim()),
  }))
}

describe('incidents', () => {
  test('are alerts that began within five minutes of each other', () => {
    expect(
      incidents([
        [0, 'ChainServiceDown bft', 'critical: down'],
        [4, 'ChainBehind', 'warning: behind'],
        [5, 'ChainServiceDown bft', 'not firing'],
        [6, 'ChainBehind', 'critical: far behind'],
        [9, 'ChainBehind', 'not firing'],
        [20, 'ChainDiskFull /', 'warning: full'],
      ]),
    ).toEqual([
      { severity: 'critical', from: 0, to: 9, alerts: ['ChainServiceDown bft', 'ChainBehind'] },
      { severity: 'warning', from: 20, to: null, alerts: ['ChainDiskFull /'] },
    ])
  })

  test('leave out what is info, and what ended before the interval', () => {
    const rows: readonly Row[] = [
      [0, 'ChainChecked 1', 'info: ready'],
      [0, 'ChainBehind', 'warning: behind'],
      [1, 'ChainBehind', 'not firing'],
    ]
    expect(incidents(rows)).toHaveLength(1)
    expect(incidents(rows, at(1))).toHaveLength(1)
    expect(incidents(rows, at(2))).toEqual([])
  })

  test('continue after a restart of the agent if the alert fires again within an hour', () => {
    const rows = (again: number): readonly Row[] => [
      [0, 'ChainBehind', 'warning: behind'],
      [10, 'agent', 'started, version 1'],
      [again, 'ChainBehind', 'warning: behind'],
      [again + 1, 'ChainBehind', 'not firing'],
    ]
    expect(incidents(rows(70))).toMatchObject([{ from: 0, to: 71 }])
    expect(incidents(rows(71))).toMatchObject([
      { from: 0, to: 10 },
      { from: 71, to: 72 },
    ])
  })
})

describe('rewards', () => {
  const rewards = [
    { epoch: 5n, pool: 10n, commission: 1n, fromAt: at(0), toAt: at(10) },
    { epoch: 6n, pool: 20n, commission: 2n, fromAt: at(10), toAt: at(20) },
    { epoch: 7n, pool: 30n, commission: 3n, fromAt: at(20), toAt: at(30) },
  ]

  test('are the sum of the epochs that reach into the interval', () => {
    expect(rewardsIn(rewards, at(20)).value).toEqual({ firstEpoch: 6n, lastEpoch: 7n, pool: 50n, commission: 5n })
  })

  test('are unknown without a reading, and without an epoch in the interval', () => {
    expect(rewardsIn(undefined, at(0)).unknownBecause).toBe('the collector staking has no reading')
    expect(rewardsIn(rewards, at(31)).unknownBecause).toBe('the agent has measured none in the interval')
  })

  test('an unknown commission makes the sum unknown', () => {
    const last = { epoch: 8n, pool: 1n, commission: null, fromAt: at(30), toAt: at(40) }
    expect(rewardsIn([...rewards, last], at(20)).value).toMatchObject({ pool: 51n, commission: null })
  })
})

describe('disk', () => {
  const filesystem = (directory: string, size: number, available: number) => [
    sample('chain_host_filesystem_size_bytes', size, { directory }),
    sample('chain_host_filesystem_available_bytes', available, { directory }),
  ]

  test('the free share is that of the fullest file system, not of the smallest', () => {
    const known = createSampleIndex([
      ...filesystem('/', 100, 90),
      ...filesystem('/home', 1000, 250),
      ...filesystem('/empty', 0, 0),
    ])
    expect(diskOf({ known }).filesystemFreeRatio).toBe(0.25)
  })

  test('without a reading it is unknown', () => {
    expect(diskOf({ known: createSampleIndex([]) })).toEqual({
      databaseUsedRatio: null,
      databaseDaysLeft: null,
      filesystemFreeRatio: null,
    })
  })
})
