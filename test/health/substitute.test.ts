import { describe, expect, test } from 'vitest'
import { compilePromql } from '../../src/health/promql/evaluate.ts'
import { createRuleEvaluator } from '../../src/health/promql/rules.ts'
import { ruleSet } from '../../src/health/rules/index.ts'
import { missingMetrics, substituteRecordings } from '../../src/health/rules/substitute.ts'

const recording = (record: string, expr: string, labels: Readonly<Record<string, string>> = {}) => ({
  record,
  expr,
  labels,
})

const RECORDINGS = [
  recording('node:load:max', 'max by (instance) (load) or idle'),
  recording('node:busy:bool', 'node:load:max > bool 3'),
  recording('node:reading:unknown', 'up unless clock', { reading: 'clock' }),
  recording('node:reading:unknown', 'up unless disk', { reading: 'disk' }),
  recording('node:busy:avg1d', 'avg_over_time(node:busy:bool[1d])'),
]
const substitute = (expr: string) => substituteRecordings(expr, RECORDINGS)

describe('the expression of a recording', () => {
  test.each([
    ['load > 3', 'load > 3'],
    ['node:load:max > 3', '(max by (instance) (load) or idle) > 3'],
    ['node:busy:bool == 1', '((max by (instance) (load) or idle) > bool 3) == 1'],
    ['max_over_time(node:load:max[5m]) > 3', 'max_over_time(((max by (instance) (load) or idle) * 1)[5m:15s]) > 3'],
    ['count_over_time(node:load:max[1h:5m])', 'count_over_time(((max by (instance) (load) or idle) * 1)[1h:5m])'],
    [
      'node:reading:unknown',
      '(label_replace((up unless clock), "reading", "clock", "", "") or label_replace((up unless disk), "reading", "disk", "", ""))',
    ],
    // A matcher on a label of the recording selects its rows.
    ['node:reading:unknown{reading=~"disk|fan"}', 'label_replace((up unless disk), "reading", "disk", "", "")'],
    [
      'node:load:max{instance="a.b"} > 3',
      'label_replace(label_replace((max by (instance) (load) or idle), "__m", "1", "instance", "a\\\\.b") and on (__m) label_replace(vector(1), "__m", "1", "", ""), "__m", "", "", "") > 3',
    ],
  ])('%s', (expr, expected) => {
    expect(substitute(expr).expr).toBe(expected)
  })

  test('of a day or more is named, also below another one', () => {
    expect(substitute('node:busy:avg1d < 0.5')).toMatchObject({
      substituted: ['node:load:max', 'node:busy:bool', 'node:busy:avg1d'],
      long: ['node:busy:avg1d'],
    })
    expect(substitute('node:busy:bool').long).toEqual([])
  })

  test.each(['=', '=~', '!=', '!~'])('selects with the matcher %s what the recorded series do', (operator) => {
    const rule = (expr: string) => ({ alert: 'A', labels: {}, for: 0, keepFiringFor: 0, expr })
    const written = `node:load:max{instance${operator}"a|b"} > 0`
    const samples = ['a', 'b', 'a|b', 'c'].map((instance) => ({ name: 'load', labels: { instance }, value: 1 }))
    const alertsOf = (expr: string, recordings: typeof RECORDINGS) => {
      const evaluator = createRuleEvaluator({ recording: recordings, alerts: [rule(expr)] })
      evaluator.evaluate(15_000, samples)
      expect([...evaluator.failures().values()]).toEqual([])
      // The label that selects is empty, which is no label in Prometheus.
      return evaluator.active().map(({ labels: { __m, ...labels } }) => ({ labels, mark: __m ?? '' }))
    }
    const found = alertsOf(written, RECORDINGS)
    expect(found.length).toBeGreaterThan(0)
    expect(alertsOf(substitute(written).expr, [])).toEqual(found)
  })

  test('is PromQL in every rule', () => {
    const { alerts, recording: recordings } = ruleSet()
    const names = new Set(recordings.map(({ record }) => record))
    for (const { expr } of alerts) {
      const { expr: complete } = substituteRecordings(expr, recordings)
      expect(() => compilePromql(complete), complete).not.toThrow()
      expect(missingMetrics(complete, new Set()).filter((metric) => names.has(metric))).toEqual([])
    }
  })
})

describe('the metrics without which an expression returns nothing', () => {
  test.each([
    ['a > 1', 'b', ['a']],
    ['a > 1 and on (x) (b == 1)', 'a', ['b']],
    ['a / on (x) b > 1', '', ['a', 'b']],
    ['a unless on (x) b', 'a', []],
    ['a unless on (x) b', 'b', ['a']],
    ['a or b', 'b', []],
    ['a or b', '', ['a', 'b']],
    ['a and (b or c)', 'a', ['b', 'c']],
    ['absent(a)', '', []],
    ['absent(a{x="1"}) unless on (x) (b == 0)', '', []],
    ['vector(1)', '', []],
    ['sum by (x) (rate(a{y!="z"}[5m])) > 1', '', ['a']],
    ['time() - a > 60', '', ['a']],
    ['a > 0 and a < 5', '', ['a']],
    ['max by (x) ({__name__=~"a|b"})', 'b', []],
    ['max by (x) ({__name__=~"a|b"})', 'c', ['a', 'b']],
    ['avg_over_time((a > bool 1)[1h:15s])', '', ['a']],
  ])('%s with "%s"', (expr, names, expected) => {
    expect(missingMetrics(expr, new Set(names.split(' ')))).toEqual(expected)
  })
})
