import { beforeAll, expect, test } from 'vitest'
import { createRuleEvaluator } from '../../src/health/promql/rules.ts'
import { rowOf, rulesIn, seriesOf, testFiles, testsOf, valuesOf } from './files.ts'

/** The rules of a file that fire in its tests if each series is scraped at this interval, in milliseconds. */
const firingAt = (file: string, scrapeInterval: number | undefined): readonly string[] => {
  const { rule_files: files, tests } = testsOf(file)
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
      if (state === 'firing') found.add(`${labels['alertname']} ${rowOf(labels)}`)
    }
  }
  return found
}

/** By the interval in seconds. Between two scrapes of a minute the last advance of the RPC is older than the 30 s of its rule. */
const SILENT: Readonly<Record<number, readonly string[]>> = { 60: ['ChainLogsIncomplete no-new-entries warning'] }

const expected = new Map<string, ReadonlySet<string>>()
beforeAll(() => {
  for (const file of testFiles) expected.set(file, new Set(firingAt(file, undefined)))
})

test.each([5, 15, 30, 60])('each rule that fires in its tests fires at a scrape interval of %i s, too', (seconds) => {
  const silent = testFiles.flatMap((file) => {
    const found = new Set(firingAt(file, seconds * 1000))
    return [...(expected.get(file) ?? [])].filter((rule) => !found.has(rule))
  })
  expect(silent).toEqual(SILENT[seconds] ?? [])
  const all = [...expected.values()].reduce((sum, { size }) => sum + size, 0)
  expect(all).toBeGreaterThan(100)
})
