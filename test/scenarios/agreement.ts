import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createRuleEvaluator } from '../../src/health/promql/rules.ts'
import { RULE_FILES, ruleSet } from '../../src/health/rules/index.ts'
import { parsePrometheusText } from '../../src/parsers/prometheus-text.ts'
import type { RecoveryAction } from '../../src/domain/health.ts'
import type { StoredSample } from '../../src/health/promql/series.ts'
import { annotationsOf } from '../../src/health/rules/render.ts'
import { NEWEST, type PrometheusVersion, promtool } from '../support/prometheus.ts'
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
const NODE = { instance: 'a', job: 'chain-agent', cluster: 'north' }
/** Of the same name, in another cluster of the same Prometheus. */
const TWIN = { ...NODE, cluster: 'south' }

/**
 * Compares the evaluation of all rules in the agent with that of these versions of Prometheus: promtool evaluates the
 * generated files on the samples of a scenario and expects the alerts that the agent found, after each scrape. With the
 * looks of a `twin`, Prometheus has both nodes at once, and the agent each alone: an alert of one must not need, hide
 * or concern the other. Returns its report of differences; empty if there is none.
 */
export const differencesFromPrometheus = async (
  looks: readonly Look[],
  twin: readonly Look[] = [],
  versions: readonly PrometheusVersion[] = [NEWEST],
): Promise<string> => {
  const scrapes = looks.filter(({ second }) => second % STEP_S === 0)
  const nodes = [evaluate(scrapes, NODE)]
  if (twin.length > 0) {
    const others = twin.filter(({ second }) => second % STEP_S === 0)
    if (others.length < scrapes.length) throw new Error(`${others.length} scrapes of the twin for ${scrapes.length}`)
    nodes.push(evaluate(others.slice(0, scrapes.length), TWIN))
  }
  const names = [...new Set(ruleSet().alerts.map(({ alert }) => alert))]
  const expected = scrapes.flatMap((_, before) =>
    names.map((alert) => ({
      eval_time: `${(before + 1) * STEP_S}s`,
      alertname: alert,
      exp_alerts: withoutRepeats(
        nodes.flatMap(({ firing }) => (firing[before] ?? []).filter(({ name }) => name === alert)),
      ).map(({ labels, annotations }) => ({ exp_labels: labels, exp_annotations: annotations })),
    })),
  )
  const files = readdirSync(ALERTS).filter((file) => file.endsWith('.rules.yaml'))
  const test = {
    rule_files: files.map((file) => join(ALERTS, file)),
    evaluation_interval: `${STEP_S}s`,
    group_eval_order: RULE_FILES.flatMap(({ groups }) => groups.map(({ name }) => name)),
    tests: [
      {
        interval: `${SCRAPE_MS}ms`,
        input_series: nodes.flatMap(({ series }) =>
          [...series].map(([key, values]) => ({ series: key, values: notation(values) })),
        ),
        alert_rule_test: expected,
      },
    ],
  }
  const folder = await mkdtemp(join(tmpdir(), 'chain-agent-agreement-'))
  try {
    const file = join(folder, 'agreement.yaml')
    await writeFile(file, JSON.stringify(test))
    const reports = await Promise.all(
      versions.map(async (version) => {
        const { code, stdout, stderr } = await run(await promtool(version), ['test', 'rules', file])
        return code === 0 ? '' : `Prometheus ${version}:\n${stdout}${stderr}`
      }),
    )
    return reports.join('')
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Firing {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** The series that Prometheus has of one node, and the alerts of the agent after each scrape. */
const evaluate = (scrapes: readonly Look[], target: typeof NODE) => {
  const startedAt = startOf(scrapes)
  const series = new Map<string, (number | null)[]>()
  const evaluator = createRuleEvaluator(ruleSet())
  evaluator.evaluate(0, [])
  /** Prometheus renders no annotations of an alert that it keeps firing. */
  const rendered = new Map<string, Firing['annotations']>()
  const firing = scrapes.map(({ metrics }, before): readonly Firing[] => {
    const index = before + 1
    const samples = fromEpoch(parsePrometheusText(metrics).samples, startedAt)
    const all = [
      ...samples.map(({ name, labels, value }) => ({ name, labels: { ...ownOf(labels, target), ...target }, value })),
      { name: 'up', labels: target, value: 1 },
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
    return evaluator
      .active()
      .filter(({ state }) => state === 'firing')
      .map(({ rule, labels: { alertname: _name, ...labels }, value, keptSince }) => {
        const key = `${rule.alert} ${JSON.stringify(labels)}`
        const at = index * STEP_S * 1000
        const now = annotationsOf(rule.row, { labels, value, at, recovery: recoveryIn(samples) })
        const annotations = keptSince === undefined ? now : (rendered.get(key) ?? now)
        rendered.set(key, annotations)
        return { name: rule.alert, labels, annotations }
      })
  })
  return { series, firing }
}

/** What the agent of these samples would send by itself. */
const recoveryIn = (samples: readonly StoredSample[]): RecoveryAction | null => {
  const of = (name: string) => samples.find((one) => one.name === name)
  const action = of('chain_node_recovery_info')?.labels['action']
  const until = of('chain_node_recovery_deadline_timestamp_seconds')
  return action === undefined ? null : { action, deadline: until === undefined ? null : until.value * 1000 }
}

/** Each simulated node has the same key; two nodes with one key are a fault wherever they are. */
const ownOf = ({ identity, ...labels }: Readonly<Record<string, string>>, { cluster }: typeof NODE) =>
  identity === undefined ? labels : { ...labels, identity: `${identity}-${cluster}` }

/** Alerts without a node, such as ChainWatchdog, are one however many nodes there are. */
const withoutRepeats = (alerts: readonly Firing[]): readonly Firing[] => [
  ...new Map(alerts.map((alert) => [JSON.stringify(alert.labels), alert])).values(),
]

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
