import { describe, expect, test } from 'vitest'
import { createSampleIndex } from '../../src/core/metric.ts'
import { parseDuration } from '../../src/core/units.ts'
import { createRuleEvaluator, incidentsOf, type Firing, JOURNAL_RULES } from '../../src/health/incidents/incidents.ts'
import type { JournalRule, RuleInput } from '../../src/health/incidents/rule.ts'
import { createCounterHistory } from '../../src/health/incidents/counter-history.ts'
import { alerts } from '../alerts/files.ts'

describe('the journal rules', () => {
  const named = JOURNAL_RULES.map((row) => [`${row.alert} ${row.severity}`, row] as const)

  const ruleOf = ({ alert, severity }: JournalRule) => {
    const found = alerts.filter((rule) => rule.alert === alert && rule.labels?.['severity'] === severity)
    expect(found).toHaveLength(1)
    return found[0]
  }
  const inMs = (text: string | undefined): number => parseDuration(text ?? '0s') ?? Number.NaN

  test.each(named)('%s has the durations of its alert rule', (_, row) => {
    const rule = ruleOf(row)
    expect(row.for ?? 0).toBe(inMs(rule?.for))
    expect(row.keep ?? 0).toBe(inMs(rule?.keep_firing_for))
  })

  test.each(named)('%s has the figures of its alert rule, and the rule has no other', (_, row) => {
    // Names of metrics and join labels are not figures.
    const expression = (ruleOf(row)?.expr ?? '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/\bon \([^)]*\)/g, '')
      .replaceAll(/\b(?:chain|instance|instance_service):?[\w:]+/g, '')
    for (const figure of row.figures) expect(expression).toContain(figure)
    const reported = row.figures.join(' ')
    for (const [figure] of expression.matchAll(/(?:[<>=]=?|!=) ?[\d.]+|\[\w+\]/g)) {
      expect(reported).toContain(figure)
    }
    for (const [, pattern = ''] of expression.matchAll(/pattern=~?"([^"]+)"/g)) {
      for (const name of pattern.split('|')) expect(row.figures).toContain(name)
      expect(pattern.split('|')).toHaveLength(row.figures.filter((figure) => /^[a-z_]+$/.test(figure)).length)
    }
  })

  test('have each alert and severity once', () => {
    const names = named.map(([name]) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})

const quiet = (at: number): RuleInput => ({
  at,
  known: createSampleIndex([]),
  counters: createCounterHistory(),
  down: new Map(),
  isPartialRestart: false,
  syncedAt: null,
  bootedAt: null,
  textOf: () => undefined,
})

describe('the rule evaluator', () => {
  /** A rule that matches at these times, with the time as its value. */
  const ruleAt = (moments: readonly number[], times: Pick<JournalRule, 'for' | 'keep'>): JournalRule => ({
    alert: 'Test',
    severity: 'warning',
    figures: [],
    ...times,
    find: ({ at }) => (moments.includes(at) ? [{ subject: '', value: at, says: `at ${at}` }] : []),
  })
  const evaluated = (row: JournalRule, until = 60) => {
    const evaluator = createRuleEvaluator([row])
    for (let at = 0; at <= until; at += 5) evaluator.evaluate(quiet(at))
    return evaluator.firings().map(({ beganAt, firedAt, endedAt, says }) => ({
      beganAt,
      firedAt,
      endedAt,
      says,
    }))
  }

  test('fires after `for`, with the message of the worst time', () => {
    expect(evaluated(ruleAt([10, 15, 20, 25], { for: 10 }))).toEqual([
      { beganAt: 10, firedAt: 20, endedAt: 30, says: 'at 25' },
    ])
  })

  test('does not fire if the condition ended earlier', () => {
    expect(evaluated(ruleAt([10, 15, 25, 30], { for: 10 }))).toEqual([])
  })

  test('fires immediately without `for`, and keeps firing for `keep`', () => {
    expect(evaluated(ruleAt([10, 20], { keep: 15 }))).toEqual([
      { beganAt: 10, firedAt: 10, endedAt: 35, says: 'at 20' },
    ])
  })

  test('reports no end while it fires, and the time of a reset as its end', () => {
    expect(evaluated(ruleAt([55, 60], {}))).toEqual([{ beganAt: 55, firedAt: 55, endedAt: null, says: 'at 60' }])
    const evaluator = createRuleEvaluator([ruleAt([10], {})])
    evaluator.evaluate(quiet(10))
    evaluator.reset(12)
    expect(evaluator.firings().map(({ endedAt }) => endedAt)).toEqual([12])
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

  test('contain what begins within five minutes of each other', () => {
    const found = incidentsOf([
      firing('A', 0),
      firing('B', 4 * MINUTE),
      firing('C', 9 * MINUTE),
      firing('D', 14 * MINUTE + 1),
    ])
    expect(found.map(({ firings }) => firings.map(({ alert }) => alert))).toEqual([['A', 'B', 'C'], ['D']])
  })

  test('have the most severe first, and merge two severities of one alert', () => {
    const critical = { severity: 'critical', endedAt: 5 * MINUTE, says: 'worse' } as const
    const [incident] = incidentsOf([
      firing('Other', 0),
      firing('A', 1000, { endedAt: 8 * MINUTE }),
      firing('A', 2000, critical),
    ])
    expect(incident?.firings).toEqual([firing('A', 1000, { ...critical, endedAt: 8 * MINUTE }), firing('Other', 0)])
    expect(incident).toMatchObject({ severity: 'critical', beganAt: 0, endedAt: 8 * MINUTE })
  })
})

describe('the counter history', () => {
  test('returns the increase of a counter within a window', () => {
    const counters = createCounterHistory()
    const starts = (by: number) => {
      counters.recorder.count('chain_service_starts_total', by, { service: 'bft' })
    }
    const grown = (within: number) => counters.increase('chain_service_starts_total', within)
    starts(0)
    counters.mark(0)
    starts(2)
    counters.mark(1000)
    counters.mark(2000)
    starts(1)
    counters.mark(3000)
    expect([grown(1000), grown(2000), grown(2001), grown(60_000)]).toEqual([1, 1, 3, 3])
    // After an hour the window of an hour is empty.
    for (let at = 4000; at <= 3_700_000; at += 1000) counters.mark(at)
    expect(grown(3_600_000)).toBe(0)
  })

  test('returns the share of fast blocks, and null without blocks', () => {
    const counters = createCounterHistory()
    expect(counters.shareWithin(0.01, 60_000)).toBeNull()
    for (const seconds of [0.001, 0.01, 0.02, 0.06]) {
      counters.recorder.observe('chain_execution_block_duration_seconds', seconds, {
        phase: 'total',
      })
      counters.recorder.observe('chain_execution_block_duration_seconds', 9, { phase: 'commit' })
    }
    counters.mark(1000)
    expect([counters.shareWithin(0.01, 60_000), counters.shareWithin(0.05, 60_000)]).toEqual([0.5, 0.75])
  })
})
