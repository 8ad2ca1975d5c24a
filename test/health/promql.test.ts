import { describe, expect, test } from 'vitest'
import { createRuleEvaluator } from '../../src/health/promql/rules.ts'
import { renderTemplate } from '../../src/health/promql/template.ts'
import { NODE_VARIABLES } from '../../src/health/rules/rule.ts'
import type { Labels } from '../../src/health/promql/series.ts'
import { rulesIn, seriesOf, testFiles, testsOf, valuesOf } from '../alerts/files.ts'

/** The tests that promtool runs: the same rules on the same samples give the same alerts here. */
describe.each(testFiles)('%s', (file) => {
  const { rule_files: files, evaluation_interval: every, tests } = testsOf(file)
  const rules = rulesIn(files)
  test.each(tests.map((one, index) => [one.name ?? `test ${index + 1}`, one] as const))('%s', (_, one) => {
    const evaluator = createRuleEvaluator(rules)
    const series = one.input_series.map(({ series: text, values }) => ({ ...seriesOf(text), values: valuesOf(values) }))
    const times = [...new Set(one.alert_rule_test.map(({ eval_time: at }) => at))].toSorted((a, b) => a - b)
    const expected: unknown[] = []
    const found: unknown[] = []
    let scrape = 0
    for (let at = 0; at <= (times.at(-1) ?? 0); at += every) {
      for (; scrape * one.interval <= at; scrape += 1) {
        const samples = series.flatMap(({ name, labels, values }) => {
          const value = values[scrape]
          return value === null || value === undefined ? [] : [{ name, labels, value }]
        })
        evaluator.observe(scrape * one.interval, samples, { isPart: true })
      }
      evaluator.evaluate(at, [], { isPart: true })
      for (const { eval_time: time, alertname, exp_alerts: alerts } of one.alert_rule_test) {
        if (time < at || time >= at + every) continue
        expected.push([
          time,
          alertname,
          sorted(
            alerts.map(({ exp_labels: labels, exp_annotations: texts }): readonly [Labels, string] => [
              { ...labels, alertname },
              texts['description'] ?? '',
            ]),
          ),
        ])
        found.push([
          time,
          alertname,
          sorted(
            evaluator
              .active()
              .filter(({ labels, state }) => labels['alertname'] === alertname && state === 'firing')
              .map(({ labels, value, rule }): readonly [Labels, string] => [
                labels,
                renderTemplate(rule.annotations['description'] ?? '', { labels, value }),
              ]),
          ),
        ])
      }
    }
    expect([...evaluator.failures().values()].map(({ message }) => message)).toEqual([])
    expect(found).toEqual(expected)
  })
})

const sorted = (all: readonly (readonly [Labels, string])[]): readonly string[] =>
  all
    .map(([labels, description]) =>
      JSON.stringify([
        Object.entries(labels)
          .filter(([, value]) => value !== '')
          .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        description,
      ]),
    )
    .toSorted()

test('while a rule cannot be evaluated its alerts stay as they are', () => {
  const rule = { alert: 'Above', expr: 'a > on (x) b', labels: {}, for: 0, keepFiringFor: 0 }
  const evaluator = createRuleEvaluator({ recording: [], alerts: [rule] })
  const sampleOf = (name: string, value: number, labels: Labels = {}) => ({
    name,
    value,
    labels: { x: '1', ...labels },
  })
  const active = (at: number, ...samples: ReturnType<typeof sampleOf>[]): readonly string[] => {
    evaluator.evaluate(at, samples)
    return [...evaluator.active().map(({ state }) => state), ...(evaluator.failures().size > 0 ? ['failed'] : [])]
  }
  expect(active(0, sampleOf('a', 2), sampleOf('b', 1))).toEqual(['firing'])
  // Two elements on the right for one on the left.
  expect(active(15_000, sampleOf('a', 0), sampleOf('b', 1), sampleOf('b', 1, { y: '2' }))).toEqual(['firing', 'failed'])
  expect(active(30_000, sampleOf('a', 0), sampleOf('b', 1))).toEqual([])
})

test.each([
  ['a > 5 and on (x) (a > on (x) b)', []],
  ['a > 5 unless on (x) (a > on (x) b)', []],
  ['a > 1 and on (x) (a > on (x) b)', ['failed']],
  ['a > 5 or on (x) (a > on (x) b)', ['failed']],
])('what cannot add elements to an empty side is not evaluated: %s', (expr, expected) => {
  const evaluator = createRuleEvaluator({
    recording: [],
    alerts: [{ alert: 'Any', expr, labels: {}, for: 0, keepFiringFor: 0 }],
  })
  const labels = { x: '1' }
  evaluator.evaluate(0, [
    { name: 'a', labels, value: 2 },
    { name: 'b', labels, value: 1 },
    { name: 'b', labels: { ...labels, y: '2' }, value: 1 },
  ])
  expect([...evaluator.active(), ...[...evaluator.failures()].map(() => 'failed')]).toEqual(expected)
})

test.each<readonly [expr: string, value: number | undefined]>([
  // Of the samples at 60, 75 … 120 s, the first is at the start of the minute, which does not include it.
  ['count_over_time(a[1m])', 4],
  ['avg_over_time(a[1m])', (5 + 6 + 7 + 8) / 4],
  ['count_over_time(a[1m:15s])', 4],
  // From 61 s on.
  ['count_over_time(a[59s:15s])', 4],
  ['rate(a[15s])', undefined],
  // Three intervals with 1 each: 3 in 45 s, and 60 s are 4.
  ['increase(a[1m])', 4],
  // 105, 106, 1, 2: it began again at 0. Three in 45 s, and 60 s are 4.
  ['increase(restarted[1m])', 4],
  ['rate(restarted[1m])', 4 / 60],
  // As a gauge it fell by 103 in 45 s.
  ['delta(restarted[1m])', (-103 * 60) / 45],
  // From 75 s on 9, 19, 29, 39. The start is further away than 1.1 intervals, so half of one is added: 30 + 5. Its value
  // at the start of the 45 s would be 0 only 13.5 s before them.
  ['increase(late[2m])', 35],
  // Its value would be 0 already 3 s before: 30 + 2.
  ['increase(later[2m])', 32],
])('as in Prometheus 3: %s is %s', (expr, value) => {
  const rule = { alert: 'Any', expr, labels: {}, for: 0, keepFiringFor: 0 }
  const evaluator = createRuleEvaluator({ recording: [], alerts: [rule] })
  for (let index = 0; index <= 8; index += 1) {
    const late = index < 5 ? [] : [['late', 9] as const, ['later', 2] as const]
    const started = late.map(([name, first]) => ({ name, labels: {}, value: first + 10 * (index - 5) }))
    const restarted = index < 7 ? 100 + index : index - 6
    evaluator.observe(index * 15_000, [
      { name: 'a', labels: {}, value: index },
      { name: 'restarted', labels: {}, value: restarted },
      ...started,
    ])
  }
  evaluator.evaluate(120_000, [], { isPart: true })
  expect(evaluator.active().map((alert) => Math.round(alert.value * 1e9) / 1e9)).toEqual(
    value === undefined ? [] : [Math.round(value * 1e9) / 1e9],
  )
})

test.each([
  ['of a cluster', { job: 'j', cluster: 'north', instance: 'a' }, 'var-job=j&var-cluster=north&var-instance=a'],
  ['without a cluster', { job: 'j', instance: 'a' }, 'var-job=j&var-instance=a'],
])('the dashboard of a node %s', (_what, labels, expected) => {
  expect(renderTemplate(NODE_VARIABLES, { labels, value: 1 })).toBe(expected)
})
