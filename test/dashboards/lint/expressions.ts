import { parser } from '@prometheus-io/lezer-promql'
import type { SyntaxNode } from '@lezer/common'
import { readPromql } from '../../support/promql.ts'
import { type Finding, finding, type Rule } from '../findings.ts'
import { type Dashboard, panelsOf, queryOf, titleOf } from '../model.ts'
import type { MetricDefinition } from '../../../src/core/metric.ts'
import { metrics } from '../../../src/metrics.ts'
import { alerts, rules } from '../../alerts/files.ts'

/** Checks of expressions: the metric catalogue, and what suits each kind of metric. */
export const lintExpressions = (name: string, dashboard: Dashboard): readonly Finding[] =>
  expressionsOf(name, dashboard).flatMap(({ where, expr }) => {
    const text = withoutVariables(expr)
    return [...lintSelectors(text), ...lintCalls(text, expr), ...lintGroupings(text)].map(({ rule, what }) =>
      finding(rule, where, what),
    )
  })

interface Expression {
  readonly where: string
  readonly expr: string
}

interface Fault {
  readonly rule: Rule
  readonly what: string
}

const expressionsOf = (name: string, dashboard: Dashboard): readonly Expression[] => [
  ...panelsOf(dashboard).flatMap((panel) =>
    (panel.targets ?? []).map(({ refId, expr }) => ({
      where: `${name}, panel ${titleOf(panel)}, target ${refId}`,
      expr,
    })),
  ),
  ...dashboard.annotations.list.map(({ name: title, expr }) => ({ where: `${name}, annotation "${title}"`, expr })),
  ...dashboard.templating.list.flatMap((variable) => {
    const [, expr] = /^label_values\((.+),\s*\w+\)$/s.exec(queryOf(variable)) ?? []
    return expr === undefined ? [] : [{ where: `${name}, variable "${variable.name}"`, expr }]
  }),
]

/** Replaces Grafana's duration variables by durations of the same text length, so that positions stay the same. */
const withoutVariables = (expr: string): string =>
  expr.replaceAll(/\$\{?__(?:rate_interval|interval|range)\}?/g, (word) => '1m'.padStart(word.length, '0'))

/** The labels that the variables of the dashboard select. */
const SCOPE = new Set(['job', 'cluster', 'instance'])

/** Metrics, labels and values in a PromQL expression that do not exist. */
export const lintSelectors = (text: string): readonly Fault[] =>
  readPromql(text).selected.flatMap(({ metric, matchers }) => {
    const known = knownMetric(metric)
    if (!known) return [{ rule: 'metric', what: `no source exposes or records ${metric}` }]
    const found: Fault[] = []
    for (const { label, comparison, value } of matchers) {
      if (SCOPE.has(label)) continue
      const values = known.labels[label]
      if (values === undefined) {
        found.push({ rule: 'metric', what: `${metric} has no label ${label}` })
        continue
      }
      if (values === 'open' || value.includes('$')) continue
      const asked = comparison.endsWith('~') ? value.split('|') : [value]
      for (const one of asked.filter((item) => /^[\w-]*$/.test(item) && !values.includes(item)))
        found.push({ rule: 'metric', what: `${label} of ${metric} is never "${one}"` })
    }
    return found
  })

const OVER_TIME = new Set(['rate', 'irate', 'increase', 'resets'])
const OF_COUNTERS = new Set([...OVER_TIME, 'changes', 'absent', 'absent_over_time', 'timestamp', 'count', 'group'])

/** Counters need a rate or increase, gauges must not have one, and rate windows must fit the step. */
const lintCalls = (text: string, original: string): readonly Fault[] => {
  const found: Fault[] = []
  parser.parse(text).iterate({
    enter: ({ node, name }) => {
      if (name !== 'VectorSelector') return
      const metric = /^[\w:]+/.exec(text.slice(node.from, node.to))?.[0] ?? ''
      const known = knownMetric(metric)
      const around = callsAround(node, text)
      const over = around.find((call) => OVER_TIME.has(call))
      if (known?.isCounter === true && !around.some((call) => OF_COUNTERS.has(call)))
        found.push({ rule: 'rate', what: `${metric} is a counter; expected its rate or increase` })
      if (known?.isCounter === false && over !== undefined)
        found.push({ rule: 'rate', what: `${metric} is a gauge; expected no ${over} of it` })
      const window = /^\s*\[([^\]:]+)/.exec(original.slice(node.to))?.[1] ?? ''
      if ((over === 'rate' || over === 'irate') && !/^\$\{?__(?:rate_interval|range)\}?$/.test(window))
        found.push({ rule: 'rate', what: `the ${over} of ${metric} is over ${window}; expected $__rate_interval` })
    },
  })
  return found
}

const ancestors = (node: SyntaxNode): readonly SyntaxNode[] =>
  node.parent ? [node.parent, ...ancestors(node.parent)] : []

const callsAround = (node: SyntaxNode, text: string): readonly string[] =>
  ancestors(node)
    .filter(({ name }) => name === 'FunctionCall' || name === 'AggregateExpr')
    .map(({ from, to }) => /^\w+/.exec(text.slice(from, to))?.[0] ?? '')

const lintGroupings = (text: string): readonly Fault[] => {
  // Functions add labels: an argument that is a word may be the name of one.
  const added = [...text.matchAll(/[(,]\s*"(\w+)"/g)].map(([, label = '']) => label)
  return readPromql(text)
    .groupings.filter((label) => !knownLabels.has(label) && !added.includes(label))
    .map((label) => ({ rule: 'metric', what: `no metric has the label ${label}, by which it groups` }))
}

interface Known {
  /** Label → its values, or `open` if they are not known in advance. */
  readonly labels: Readonly<Record<string, readonly string[] | 'open'>>
  /** Undefined if both forms of query are valid. */
  readonly isCounter?: boolean
}

const definitions: ReadonlyMap<string, MetricDefinition> = new Map(Object.entries(metrics))

/** Labels of a recorded series in addition to job and instance. */
const recordedLabels = (name: string): Known['labels'] => {
  const ruled = rules.filter(({ record }) => record === name)
  const values = ruled.flatMap(({ labels = {} }) => Object.entries(labels))
  const own = Object.fromEntries(
    values.map(([label]) => [label, values.filter(([other]) => other === label).map(([, value]) => value)]),
  )
  // The labels that the expression keeps, according to the level in the name of the rule.
  const level = name.split(':')[0]?.split('_').slice(1) ?? []
  return { ...Object.fromEntries(level.map((label) => [label, 'open' as const])), ...own }
}

const recorded: ReadonlyMap<string, Known> = new Map(
  rules.flatMap(({ record }) =>
    record === undefined ? [] : [[record, { labels: recordedLabels(record), isCounter: false }]],
  ),
)

const severities = [...new Set(alerts.flatMap(({ labels }) => labels?.['severity'] ?? []))]
const components = [...new Set(alerts.flatMap(({ labels }) => labels?.['component'] ?? []))]

/** Series of Prometheus itself about targets and alerts, and of a process. */
const OTHERS: Readonly<Record<string, Known>> = {
  up: { labels: {}, isCounter: false },
  scrape_duration_seconds: { labels: {}, isCounter: false },
  scrape_samples_post_metric_relabeling: { labels: {}, isCounter: false },
  ALERTS: {
    labels: {
      alertname: [...new Set(alerts.map(({ alert }) => alert))],
      alertstate: ['pending', 'firing'],
      severity: severities,
      component: components,
    },
    isCounter: false,
  },
  // Of prom-client.
  process_start_time_seconds: { labels: {}, isCounter: false },
  process_resident_memory_bytes: { labels: {}, isCounter: false },
  process_cpu_seconds_total: { labels: {}, isCounter: true },
  ALERTS_FOR_STATE: { labels: { severity: severities, component: components }, isCounter: false },
}

/** Labels and type of a metric; undefined if no source exposes it. */
const knownMetric = (name: string): Known | undefined => {
  const own = definitions.get(name)
  if (own && own.type !== 'histogram') return { labels: own.labels ?? {}, isCounter: own.type !== 'gauge' }
  const [, base = '', suffix = ''] = /^(\w+)_(bucket|sum|count)$/.exec(name) ?? []
  const whole = definitions.get(base)
  if (whole?.type === 'histogram') {
    const le = [...(whole.buckets ?? []), '+Inf'].map(String)
    return { labels: { ...whole.labels, ...(suffix === 'bucket' ? { le } : {}) }, isCounter: true }
  }
  // A selector by a name pattern: each matching name is a known metric.
  if (isPattern(name)) return [...recorded.keys()].some((key) => matches(name, key)) ? { labels: {} } : undefined
  return OTHERS[name] ?? recorded.get(name)
}

const isPattern = (name: string): boolean => !/^[\w:]*$/.test(name)
const matches = (pattern: string, name: string): boolean => new RegExp(`^(?:${pattern})$`).test(name)

/** All known labels. */
export const knownLabels: ReadonlySet<string> = new Set([
  'job',
  'cluster',
  'instance',
  'le',
  'alertname',
  'alertstate',
  'severity',
  'component',
  ...Object.values(metrics).flatMap(({ labels }) => Object.keys(labels ?? {})),
  ...rules.flatMap(({ labels = {} }) => Object.keys(labels)),
])
