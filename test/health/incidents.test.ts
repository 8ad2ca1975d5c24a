import { describe, expect, test } from 'vitest'
import { createSampleIndex } from '../../src/core/sample-index.ts'
import { parseDuration } from '../../src/core/units.ts'
import { incidentsOf } from '../../src/health/incidents/incidents.ts'
import { createJudge, type Firing } from '../../src/health/incidents/judge.ts'
import type { AlertRow, Moment } from '../../src/health/incidents/row.ts'
import { TABLE } from '../../src/health/incidents/table.ts'
import { createTallies } from '../../src/health/incidents/tallies.ts'
import { alerts } from '../alerts/files.ts'

describe('the table of incidents', () => {
  const named = TABLE.map((row) => [`${row.alert} ${row.severity}`, row] as const)

  const ruleOf = ({ alert, severity }: AlertRow) => {
    const found = alerts.filter(
      (rule) => rule.alert === alert && rule.labels?.['severity'] === severity,
    )
    expect(found).toHaveLength(1)
    return found[0]
  }
  const inMs = (text: string | undefined): number => parseDuration(text ?? '0s') ?? Number.NaN

  test.each(named)('%s waits as long as its rule', (_, row) => {
    const rule = ruleOf(row)
    expect(row.for ?? 0).toBe(inMs(rule?.for))
    expect(row.keep ?? 0).toBe(inMs(rule?.keep_firing_for))
  })

  test.each(named)('%s has the figures of its rule, and its rule has no other', (_, row) => {
    // The names of metrics and of labels to join on are no figures.
    const expression = (ruleOf(row)?.expr ?? '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/\bon \([^)]*\)/g, '')
      .replaceAll(/\b(?:chain|instance|instance_service):?[\w:]+/g, '')
    for (const figure of row.figures) expect(expression).toContain(figure)
    const told = row.figures.join(' ')
    for (const [figure] of expression.matchAll(/(?:[<>=]=?|!=) ?[\d.]+|\[\w+\]/g)) {
      expect(told).toContain(figure)
    }
    for (const [, pattern = ''] of expression.matchAll(/pattern=~?"([^"]+)"/g)) {
      for (const name of pattern.split('|')) expect(row.figures).toContain(name)
      expect(pattern.split('|')).toHaveLength(
        row.figures.filter((figure) => /^[a-z_]+$/.test(figure)).length,
      )
    }
  })

  test('knows each alert and severity once', () => {
    const names = named.map(([name]) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})

const quiet = (at: number): Moment => ({
  at,
  known: createSampleIndex([]),
  tallies: createTallies(),
  down: new Map(),
  isPartialRestart: false,
  syncedAt: null,
  bootedAt: null,
  said: () => undefined,
})

describe('the judge', () => {
  /** Holds at these moments, each as bad as it is late. */
  const rowAt = (moments: readonly number[], times: Pick<AlertRow, 'for' | 'keep'>): AlertRow => ({
    alert: 'Test',
    severity: 'warning',
    figures: [],
    ...times,
    find: ({ at }) => (moments.includes(at) ? [{ subject: '', value: at, says: `at ${at}` }] : []),
  })
  const judged = (row: AlertRow, until = 60) => {
    const judge = createJudge([row])
    for (let at = 0; at <= until; at += 5) judge.judge(quiet(at))
    return judge.firings().map(({ beganAt, firedAt, endedAt, says }) => ({
      beganAt,
      firedAt,
      endedAt,
      says,
    }))
  }

  test('fires once it has held for long enough, and tells the worst', () => {
    expect(judged(rowAt([10, 15, 20, 25], { for: 10 }))).toEqual([
      { beganAt: 10, firedAt: 20, endedAt: 30, says: 'at 25' },
    ])
  })

  test('does not fire for what was over before', () => {
    expect(judged(rowAt([10, 15, 25, 30], { for: 10 }))).toEqual([])
  })

  test('fires at once where nothing is to be waited for, and goes on as long as the rule keeps it', () => {
    expect(judged(rowAt([10, 20], { keep: 15 }))).toEqual([
      { beganAt: 10, firedAt: 10, endedAt: 35, says: 'at 20' },
    ])
  })

  test('tells what is not over as not over, and what is lost as over', () => {
    expect(judged(rowAt([55, 60], {}))).toEqual([
      { beganAt: 55, firedAt: 55, endedAt: null, says: 'at 60' },
    ])
    const judge = createJudge([rowAt([10], {})])
    judge.judge(quiet(10))
    judge.lose(12)
    expect(judge.firings().map(({ endedAt }) => endedAt)).toEqual([12])
  })
})

describe('incidents', () => {
  const firing = (alert: string, beganAt: number, more: Partial<Firing> = {}): Firing => ({
    alert,
    severity: 'warning',
    subject: '',
    beganAt,
    firedAt: beganAt,
    endedAt: beganAt + 1000,
    says: '',
    ...more,
  })
  const MINUTE = 60_000

  test('are what begins within five minutes of each other', () => {
    const found = incidentsOf([
      firing('A', 0),
      firing('B', 4 * MINUTE),
      firing('C', 9 * MINUTE),
      firing('D', 14 * MINUTE + 1),
    ])
    expect(found.map(({ firings }) => firings.map(({ alert }) => alert))).toEqual([
      ['A', 'B', 'C'],
      ['D'],
    ])
  })

  test('begin with the worst, and tell one alert of two severities once, from first to last', () => {
    const critical = { severity: 'critical', endedAt: 5 * MINUTE, says: 'worse' } as const
    const [incident] = incidentsOf([
      firing('Other', 0),
      firing('A', 1000, { endedAt: 8 * MINUTE }),
      firing('A', 2000, critical),
    ])
    expect(incident?.firings).toEqual([
      firing('A', 1000, { ...critical, endedAt: 8 * MINUTE }),
      firing('Other', 0),
    ])
    expect(incident).toMatchObject({ severity: 'critical', beganAt: 0, endedAt: 8 * MINUTE })
  })
})

describe('tallies', () => {
  test('tell by how much a counter has grown within a window', () => {
    const tallies = createTallies()
    const starts = (by: number) => {
      tallies.recorder.count('chain_service_starts_total', by, { service: 'bft' })
    }
    const grown = (within: number) => tallies.increase('chain_service_starts_total', within)
    starts(0)
    tallies.mark(0)
    starts(2)
    tallies.mark(1000)
    tallies.mark(2000)
    starts(1)
    tallies.mark(3000)
    expect([grown(1000), grown(2000), grown(2001), grown(60_000)]).toEqual([1, 1, 3, 3])
    // An hour later all of it has left the hour.
    for (let at = 4000; at <= 3_700_000; at += 1000) tallies.mark(at)
    expect(grown(3_600_000)).toBe(0)
  })

  test('know the share of blocks that were quick, and of none that it is unknown', () => {
    const tallies = createTallies()
    expect(tallies.shareWithin(0.01, 60_000)).toBeNull()
    for (const seconds of [0.001, 0.01, 0.02, 0.06]) {
      tallies.recorder.observe('chain_execution_block_duration_seconds', seconds, {
        phase: 'total',
      })
      tallies.recorder.observe('chain_execution_block_duration_seconds', 9, { phase: 'commit' })
    }
    tallies.mark(1000)
    expect([tallies.shareWithin(0.01, 60_000), tallies.shareWithin(0.05, 60_000)]).toEqual([
      0.5, 0.75,
    ])
  })
})
