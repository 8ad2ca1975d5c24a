import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { createRuleEvaluator } from '../../src/health/promql/rules.ts'
import { renderTemplate } from '../../src/health/promql/template.ts'
import type { Labels } from '../../src/health/promql/series.ts'

const ALERTS = new URL('../../alerts/', import.meta.url)
const read = (file: string): unknown => parse(readFileSync(new URL(file, ALERTS), 'utf8'))
const labelsSchema = z.record(z.string(), z.string())

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const milliseconds = (text: string): number =>
  [...text.matchAll(/(\d+)(ms|[smhd])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? Number.NaN),
    0,
  )
const durationSchema = z.union([z.string(), z.number()]).transform((value) => milliseconds(String(value)))

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string().optional(),
          record: z.string().optional(),
          expr: z.string(),
          for: durationSchema.default(0),
          keep_firing_for: durationSchema.default(0),
          labels: labelsSchema.default({}),
          annotations: labelsSchema.default({}),
        }),
      ),
    }),
  ),
})

const testsSchema = z.object({
  rule_files: z.array(z.string()),
  evaluation_interval: durationSchema,
  tests: z.array(
    z.object({
      name: z.string().optional(),
      interval: durationSchema,
      input_series: z
        .array(z.object({ series: z.string(), values: z.union([z.string(), z.number()]).transform(String) }))
        .default([]),
      alert_rule_test: z
        .array(
          z.object({
            eval_time: durationSchema,
            alertname: z.string(),
            exp_alerts: z
              .array(z.object({ exp_labels: labelsSchema, exp_annotations: labelsSchema.default({}) }))
              .nullish(),
          }),
        )
        .default([]),
    }),
  ),
})

/** The notation of promtool: `1+2x3` is 1 3 5 7, `_` no sample, `stale` the end of the series. */
const valuesOf = (text: string): readonly (number | null)[] =>
  text
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const repeated = /^_x(\d+)$/.exec(word)
      if (repeated) return Array.from({ length: Number(repeated[1]) }, () => null)
      if (word === '_') return [null]
      if (word === 'stale') return [Number.NaN]
      const [, first, sign, step, count] = /^(-?[\d.e]+)(?:([+-])([\d.e]+))?x(\d+)$/.exec(word) ?? []
      if (count === undefined) return [Number(word)]
      const by = step === undefined ? 0 : Number(`${sign}${step}`)
      return Array.from({ length: Number(count) + 1 }, (_, index) => Number(first) + index * by)
    })

const seriesOf = (text: string): { readonly name: string; readonly labels: Labels } => {
  const [, name = '', body = ''] = /^([\w:]+)\s*(?:\{(.*)\})?$/s.exec(text) ?? []
  return {
    name,
    labels: Object.fromEntries(
      [...body.matchAll(/(\w+)\s*=\s*"([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
    ),
  }
}

const rulesIn = (files: readonly string[]) => {
  const rules = files.flatMap((file) => rulesSchema.parse(read(file)).groups.flatMap((group) => group.rules))
  return {
    recording: rules.flatMap(({ record, expr, labels }) => (record === undefined ? [] : [{ record, expr, labels }])),
    alerts: rules.flatMap(({ alert, keep_firing_for: keepFiringFor, ...rule }) =>
      alert === undefined ? [] : [{ ...rule, alert, keepFiringFor }],
    ),
  }
}

const FILES = readdirSync(ALERTS).filter((file) => file.endsWith('.test.yaml'))

/** The tests that promtool runs: the same rules on the same samples give the same alerts here. */
describe.each(FILES)('%s', (file) => {
  const { rule_files: files, evaluation_interval: every, tests } = testsSchema.parse(read(file))
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
            (alerts ?? []).map(({ exp_labels: labels, exp_annotations: texts }): readonly [Labels, string] => [
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

/** The rules of a file that fire in its tests if each series is scraped at this interval, in milliseconds. */
const firingAt = (file: string, scrapeInterval: number | undefined): readonly string[] => {
  const { rule_files: files, tests } = testsSchema.parse(read(file))
  return tests.flatMap(({ interval, input_series: input }, index) => {
    // Tests of hours have samples every minute or less often: an interval that is tested by that.
    const scraped = interval < 59_999 ? (scrapeInterval ?? interval) : interval
    const key = `${file} ${index} ${scraped}`
    const found = firing.get(key) ?? firingIn(rulesIn(files), { interval, input, scraped })
    firing.set(key, found)
    return [...found]
  })
}

/** File, test and interval → what fires. */
const firing = new Map<string, ReadonlySet<string>>()

interface Scraped {
  /** Of the samples that the test lists. */
  readonly interval: number
  readonly input: readonly { readonly series: string; readonly values: string }[]
  readonly scraped: number
}

const firingIn = (rules: ReturnType<typeof rulesIn>, { interval, input, scraped }: Scraped): ReadonlySet<string> => {
  const found = new Set<string>()
  const series = input.map(({ series: text, values }) => ({ ...seriesOf(text), values: valuesOf(values) }))
  const end = Math.max(0, ...series.map(({ values }) => values.length)) * interval
  // The interval of the rule groups, which need not be aligned with the scrapes.
  const every = end > 6 * 3_600_000 ? interval : 15_000
  const evaluator = createRuleEvaluator(rules)
  for (let at = 0; at <= end; at += every) {
    for (let scrape = at === 0 ? 0 : at - every + scraped - ((at - every) % scraped); scrape <= at; scrape += scraped) {
      const samples = series.flatMap(({ name, labels, values }) => {
        const value = values[Math.floor(scrape / interval)]
        return value === null || value === undefined ? [] : [{ name, labels, value }]
      })
      if (scrape === at) evaluator.evaluate(at, samples, { isPart: true })
      else evaluator.observe(scrape, samples, { isPart: true })
    }
    if (at % scraped !== 0) evaluator.evaluate(at, [], { isPart: true })
    for (const { labels, state } of evaluator.active()) {
      if (state === 'firing') found.add(`${labels['alertname']} ${labels['severity']}`)
    }
  }
  return found
}

const expected = new Map<string, ReadonlySet<string>>()
beforeAll(() => {
  for (const file of FILES) expected.set(file, new Set(firingAt(file, undefined)))
})

test.each([5, 15, 30, 60])('each rule that fires in its tests fires at a scrape interval of %i s, too', (seconds) => {
  const silent = FILES.flatMap((file) => {
    const found = new Set(firingAt(file, seconds * 1000))
    return [...(expected.get(file) ?? [])].filter((rule) => !found.has(rule))
  })
  expect(silent).toEqual([])
  const all = [...expected.values()].reduce((sum, { size }) => sum + size, 0)
  expect(all).toBeGreaterThan(100)
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

test.each<readonly [expr: string, value: number | undefined]>([
  // Of the samples at 60, 75 … 120 s, the first is at the start of the minute, which does not include it.
  ['count_over_time(a[1m])', 4],
  ['sum_over_time(a[1m])', 5 + 6 + 7 + 8],
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
