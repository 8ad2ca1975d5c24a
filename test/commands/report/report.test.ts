import { describe, expect, test } from 'vitest'
import { diskOf, incidentsIn, rewardsIn, type Report } from '../../../src/commands/report/report.ts'
import type { Event } from '../../../src/domain/event.ts'
import { createSampleIndex, sample } from '../../../src/core/metric.ts'
import { digestOf } from '../../../src/commands/report/action.ts'

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

const [DAY, HOUR] = [86_400_000, 3_600_000]
/** A Monday. */
const NOW = Date.UTC(2026, 2, 2, 8)
const FROM = NOW - 7 * DAY

interface IncidentOptions {
  readonly severity: 'critical' | 'warning'
  /** Since the begin of the week. */
  readonly days: number
  readonly lasted: number | null
  readonly alert: string
  readonly subject: string
}

const incident = ({ severity, days, lasted, alert, subject }: IncidentOptions) => {
  const beganAt = FROM + days * DAY
  const endedAt = lasted === null ? null : beganAt + lasted
  return {
    severity,
    beganAt,
    endedAt,
    firings: [{ alert, subject, severity, beganAt, firedAt: beganAt, endedAt, summary: '' }],
  }
}

/** A week of a validator with two incidents. */
const WEEK: Report = {
  from: FROM,
  to: NOW,
  // Of 168 h, 167 h were known, and 25 min of them without a fresh block; 2 % of 168 h are 201.6 min.
  availability: {
    value: { fromAt: FROM, recordedFrom: FROM, objective: 0.98, known: 167 * HOUR, fresh: 167 * HOUR - 25 * MINUTE },
    unknownBecause: null,
  },
  duties: { value: null, unknownBecause: 'the journal has no ledger stream' },
  restarts: { value: null, unknownBecause: 'not read' },
  incidents: {
    value: {
      fromAt: FROM,
      incidents: [
        incident({ severity: 'critical', days: 1, lasted: 25 * MINUTE, alert: 'ChainServiceDown', subject: 'bft' }),
        incident({ severity: 'warning', days: 6, lasted: null, alert: 'ChainDiskFull', subject: '/' }),
      ],
    },
    unknownBecause: null,
  },
  disk: { databaseUsedRatio: 0.215, databaseDaysLeft: 41.9, filesystemFreeRatio: 0.5 },
  versions: {
    installed: '0.16.1',
    running: [{ source: 'rpc', version: '0.16.0' }],
    changes: [{ at: FROM + 2 * DAY, subject: 'installed version', from: '0.16.0', to: '0.16.1' }],
  },
  rewards: { value: null, unknownBecause: 'not read' },
}

test('a week as a message: the rows of the page', () => {
  const { summary, description } = digestOf(WEEK)
  expect([summary, ...description.split('\n')]).toEqual([
    // 9,995 of 10,020 min.
    'Report of 7 d: 1 critical and 1 warning incidents, 99.75% available',
    'availability: 99.75% of the known 6 d 23 h since 2026-02-23T08:00:00Z with a fresh block, 25 min without; budget of 2.00% downtime: 87.60% left',
    'own rounds: unknown: the journal has no ledger stream',
    'restarts: unknown: not read',
    'incidents: 1 critical and 1 warning incidents; events from 2026-02-23T08:00:00Z',
    'disk: database 21.50% used, compaction in 41 days, fullest file system 50.00% free',
    'versions: 0.16.1 installed; 0.16.0 (rpc) running; 2026-02-25T08:00:00Z installed version 0.16.0 → 0.16.1',
    'rewards: unknown: not read',
    '2026-02-24T08:00:00Z: critical, 25 min: ChainServiceDown bft',
    '2026-03-01T08:00:00Z: warning, 1 d, firing: ChainDiskFull /',
  ])
})

test('without incidents, and with none known', () => {
  const none = { value: { fromAt: FROM, incidents: [] }, unknownBecause: null }
  const quiet = digestOf({ ...WEEK, incidents: none })
  expect(quiet.summary).toBe('Report of 7 d: no incident, 99.75% available')
  const unknown = { value: null, unknownBecause: 'the agent is not running' }
  const blind = digestOf({ ...WEEK, incidents: unknown, availability: unknown })
  expect(blind.summary).toBe('Report of 7 d: incidents unknown')
  expect(blind.description).toContain('incidents: unknown: the agent is not running\n')
})

test('text of other programs is one short line', () => {
  const hostile = { value: null, unknownBecause: `first\nsecond \u001b[31m${'x'.repeat(1000)}` }
  const { description } = digestOf({ ...WEEK, duties: hostile, availability: hostile })
  const lines = description.split('\n')
  expect(lines).toHaveLength(9)
  expect(lines[1]).toMatch(/^own rounds: unknown: first; second /)
  expect(lines.every((line) => line.length <= 300 && !line.includes('\u001b'))).toBe(true)
})
