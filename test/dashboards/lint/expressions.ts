import { parser } from '@prometheus-io/lezer-promql'
import type { SyntaxNode } from '@lezer/common'
import { readPromql } from '../../support/promql.ts'
import { type Finding, finding, type Rule } from '../findings.ts'
import { type Dashboard, panelsOf, queryOf, titleOf } from '../model.ts'
import { knownLabels, knownMetric } from './metric-labels.ts'

/** Checks of expressions: the metric catalogue, and what suits each kind of metric. */
export const lintExpressions = (name: string, dashboard: Dashboard): readonly Finding[] =>
  expressionsOf(name, dashboard).flatMap(({ where, expr, isOverTime = false }) => {
    const text = withoutVariables(expr)
    return [
      ...lintSelectors(text),
      ...lintCalls(text, expr),
      ...lintGroupings(text),
      ...(isOverTime ? lintChoices(text) : []),
    ].map(({ rule, what }) => finding(rule, where, what))
  })

interface Expression {
  readonly where: string
  readonly expr: string
  /** Whether it is a range query. */
  readonly isOverTime?: boolean
}

interface Fault {
  readonly rule: Rule
  readonly what: string
}

const expressionsOf = (name: string, dashboard: Dashboard): readonly Expression[] => [
  ...panelsOf(dashboard).flatMap((panel) =>
    (panel.targets ?? []).map(({ refId, expr, instant = false }) => ({
      where: `${name}, panel ${titleOf(panel)}, target ${refId}`,
      expr,
      isOverTime: !instant,
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
        found.push({
          rule: 'rate',
          what: `the ${over} of ${metric} is over ${window}; expected $__rate_interval`,
        })
      if (metric.endsWith('_bucket') && !keepsBuckets(node, text))
        found.push({
          rule: 'rate',
          what: `${metric} is summed without le; expected it among the groupings`,
        })
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

/** Above a quantile there are no buckets. */
const keepsBuckets = (node: SyntaxNode, text: string): boolean => {
  const all = ancestors(node)
  const quantile = all.findIndex(
    ({ name, from, to }) => name === 'FunctionCall' && text.slice(from, to).startsWith('histogram_quantile'),
  )
  return all
    .slice(0, quantile < 0 ? all.length : quantile)
    .filter(({ name }) => name === 'AggregateExpr')
    .every((aggregate) => {
      const modifier = aggregate.getChild('AggregateModifier')
      return modifier !== null && /\ble\b/.test(text.slice(modifier.from, modifier.to))
    })
}

/** topk at each step gives lines that come and go: over time it must be evaluated once. */
const lintChoices = (text: string): readonly Fault[] => {
  const found: Fault[] = []
  parser.parse(text).iterate({
    enter: ({ name, from, to }) => {
      const [choose] = /^(?:topk|bottomk)\b/.exec(text.slice(from, to)) ?? []
      if (name !== 'AggregateExpr' || choose === undefined) return
      if (!/@ (?:start|end) ?\(\)\)+$/.test(text.slice(from, to)))
        found.push({
          rule: 'many',
          what: `its ${choose} chooses again at each step; expected @ end()`,
        })
    },
  })
  return found
}

/** The labels that functions add. */
const labelsMade = (text: string): ReadonlySet<string> => {
  const made = new Set([...text.matchAll(/count_values\w*\s*\(\s*"(\w+)"/g)].map(([, label = '']) => label))
  parser.parse(text).iterate({
    enter: ({ name, from, to, node }) => {
      if (name !== 'FunctionCall' || !/^label_(?:replace|join)\b/.test(text.slice(from, to))) return
      const [literal] = node.getChild('FunctionCallBody')?.getChildren('StringLiteral') ?? []
      if (literal) made.add(text.slice(literal.from + 1, literal.to - 1))
    },
  })
  return made
}

const lintGroupings = (text: string): readonly Fault[] => {
  const own = labelsMade(text)
  return readPromql(text)
    .groupings.filter((label) => !knownLabels.has(label) && !own.has(label))
    .map((label) => ({ rule: 'metric', what: `no metric has the label ${label}, by which it groups` }))
}
