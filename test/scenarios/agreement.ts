import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createRuleEvaluator } from '../../src/health/promql/rules.ts'
import { RULE_FILES, ruleSet } from '../../src/health/rules/index.ts'
import { parsePrometheusText } from '../../src/parsers/prometheus-text.ts'
import { annotationsOf } from '../../src/health/rules/render.ts'
import { NEWEST, OLDER, promtool } from '../support/prometheus.ts'
import { run } from '../support/programs.ts'

interface Look {
  readonly second: number
  readonly metrics: string
}

const ALERTS = fileURLToPath(new URL('../../alerts/', import.meta.url))
const STEP_S = 15
/**
 * Between samples: none is at the start of a range, which Prometheus 2 counts and Prometheus 3 does not. For the same
 * reason none is at 0.
 */
const SCRAPE_MS = 14_999
const TARGET = { instance: 'a', job: 'chain-agent' }

/**
 * Compares the evaluation of all rules in the agent with that of each supported Prometheus: promtool evaluates the
 * generated files on the samples of a scenario and expects the alerts that the agent found, after each scrape. Returns
 * its report of differences; empty if there is none.
 */
export const differencesFromPrometheus = async (looks: readonly Look[]): Promise<string> => {
  const scrapes = looks.filter(({ second }) => second % STEP_S === 0)
  const startedAt = startOf(scrapes)
  const series = new Map<string, (number | null)[]>()
  const evaluator = createRuleEvaluator(ruleSet())
  const names = [...new Set(ruleSet().alerts.map(({ alert }) => alert))]
  const expected: string[] = []
  evaluator.evaluate(0, [])
  scrapes.forEach(({ metrics }, before) => {
    const index = before + 1
    const samples = fromEpoch(parsePrometheusText(metrics).samples, startedAt)
    const all = [
      ...samples.map(({ name, labels, value }) => ({ name, labels: { ...labels, ...TARGET }, value })),
      { name: 'up', labels: TARGET, value: 1 },
    ]
    evaluator.observe(index * SCRAPE_MS, all)
    evaluator.evaluate(index * STEP_S * 1000, [], { isPart: true })
    for (const { name, labels, value } of all) {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`)
      const key = `${name}{${pairs.join(',')}}`
      const values = series.get(key) ?? Array.from({ length: index }, () => null)
      series.set(key, values)
      values.push(value)
    }
    for (const values of series.values()) if (values.length === index) values.push(null)
    for (const alert of names) {
      const firing = evaluator.active().filter(({ rule, state }) => rule.alert === alert && state === 'firing')
      expected.push(
        JSON.stringify({
          eval_time: `${index * STEP_S}s`,
          alertname: alert,
          exp_alerts: firing.map(({ rule, labels: { alertname: _name, ...labels }, value }) => ({
            exp_labels: labels,
            exp_annotations: annotationsOf(rule.row, { labels, value }),
          })),
        }),
      )
    }
  })
  const files = readdirSync(ALERTS).filter((file) => file.endsWith('.rules.yaml'))
  const test = {
    rule_files: files.map((file) => join(ALERTS, file)),
    evaluation_interval: `${STEP_S}s`,
    group_eval_order: RULE_FILES.flatMap(({ groups }) => groups.map(({ name }) => name)),
    tests: [
      {
        interval: `${SCRAPE_MS}ms`,
        input_series: [...series].map(([key, values]) => ({ series: key, values: notation(values) })),
        alert_rule_test: expected.map((line): unknown => JSON.parse(line)),
      },
    ],
  }
  const folder = await mkdtemp(join(tmpdir(), 'chain-agent-agreement-'))
  try {
    const file = join(folder, 'agreement.yaml')
    await writeFile(file, JSON.stringify(test))
    const reports = await Promise.all(
      [NEWEST, ...OLDER].map(async (version) => {
        const { code, stdout, stderr } = await run(await promtool(version), ['test', 'rules', file])
        return code === 0 ? '' : `Prometheus ${version}:\n${stdout}${stderr}`
      }),
    )
    return reports.join('')
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** `_` is a missing sample; the first one after a sample ends the series. */
const notation = (values: readonly (number | null)[]): string =>
  values
    .map((value, index) => (value !== null ? String(value) : typeof values[index - 1] === 'number' ? 'stale' : '_'))
    .join(' ')

type Exposed = ReturnType<typeof parsePrometheusText>['samples']

/** The time of the first scrape, in seconds since the epoch: when the last collector succeeded. */
const startOf = (scrapes: readonly Look[]): number =>
  Math.max(
    ...parsePrometheusText(scrapes[0]?.metrics ?? '')
      .samples.filter(({ name }) => name === 'chain_agent_collector_last_success_timestamp_seconds')
      .map(({ value }) => value),
  )

/** promtool starts at the epoch, and the first evaluation with samples is a step later. */
const fromEpoch = (samples: Exposed, startedAt: number) =>
  samples.map((one) =>
    one.name.endsWith('_timestamp_seconds') ? { ...one, value: one.value - startedAt + STEP_S } : one,
  )
