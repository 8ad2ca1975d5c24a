// The section `In Prometheus` of a runbook: what the alert measures as PromQL, and the panel that shows it.
import { parser } from '@prometheus-io/lezer-promql'
import { expressionOf } from '../../.cache/modules/src/health/rules/render.js'
import { levelsOf } from '../../.cache/modules/src/health/rules/rule.js'

const HEADING = '## In Prometheus\n'
const NEXT = '## Mitigation\n'

/** An alert with more expressions than this has a query for the labels of those that fire. */
const MOST_EXPRESSIONS = 3
/** A name with more rows has one query for those that fire. */
const MOST_ROWS = 6
/** A selection of more values is left out. */
const MOST_VALUES = 8

const COMPARISON = new Set(['Gtr', 'Gte', 'Lss', 'Lte', 'Eql', 'Neq'])
/** What only selects the nodes to which the rest of an expression applies. */
const SELECTION =
  /^(?:group by|count by|last_over_time|chain_service_expected|chain_node_role|chain_agent_collector_(?:enabled|up)\b)/
/** Functions whose first argument is what the alert measures. */
const WRAPPER = /^(?:absent|label_replace)\(/

/** The runbook with the section before its mitigation. */
export const renderRunbook = (page, alert, { rows, dashboards }) => {
  const [before, after, ...more] = page.split(NEXT)
  if (after === undefined || more.length > 0) throw new Error(`${alert}.md has not one section Mitigation`)
  const [written] = before.split(HEADING)
  const named = rows.filter((row) => row.alert === alert)
  if (named.length === 0) throw new Error(`no rule gives the alert ${alert}`)
  const whys = [...new Set(named.map(({ why }) => why))]
  const isLong = whys.length > MOST_ROWS
  const expressions = isLong ? [alertsOf(alert)] : whys.length > 1 ? [] : expressionsOf(alert, named)
  const listed = isLong
    ? [[undefined, expressions]]
    : whys.map((why) => [
        why,
        expressionsOf(
          alert,
          named.filter((row) => row.why === why),
        ),
      ])
  // The panel is about the row that the name means, if there is one.
  const [, shown] = listed.find(([why]) => why === undefined) ?? [null, listed.flatMap(([, found]) => found)]
  // The list of alerts shows those of nodes only.
  const hasList = named.every(({ dashboard }) => dashboard !== 'd/chain-fleet')
  const panel = isLong && !hasList ? undefined : panelOf(alert, shown, dashboards)
  const link =
    panel === undefined
      ? []
      : [
          `Panel **${panel.title}** of the dashboard **${panel.dashboard}**: \`/d/${panel.uid}?viewPanel=${panel.id}\``,
          '',
        ]
  return [
    `${written}${HEADING}`,
    ...link,
    ...expressions.flatMap((expression) => ['```promql', expression, '```', '']),
    ...(expressions.length === 0 ? [...listed.map(lineOf), ''] : []),
    `${NEXT}${after}`,
  ].join('\n')
}

const alertsOf = (alert) => `ALERTS{alertname="${alert}"}`

/** What a row of an alert measures, as an item of a list. */
const lineOf = ([why, expressions]) =>
  `- ${why === undefined ? 'without `why`' : `\`${why}\``}: ${expressions.map((one) => `\`${one.replaceAll(/\s+/g, ' ')}\``).join(', ')}`

/** What the rules of an alert measure, each once: their expressions without limits and exceptions. */
const expressionsOf = (alert, rows) => {
  const parsed = rows.flatMap(levelsOf).map((row) => partsOf(expressionOf(row).trim()))
  const measured = [...new Set(parsed.flatMap((one) => one.measured))]
  const conditions = parsed.flatMap((one) => one.conditions)
  if (measured.length > MOST_EXPRESSIONS || measured.every((one) => metricsOf(one).length === 0))
    return [alertsOf(alert)]
  return [...new Set([...measured, ...conditions])].slice(0, Math.max(2, measured.length))
}

const partsOf = (expr) => {
  const conditions = []
  const textOf = ({ from, to }) => expr.slice(from, to)
  const operandsOf = (node) => ({
    left: node.firstChild,
    operator: node.firstChild.nextSibling.name,
    right: node.lastChild,
  })
  const inner = (node) => (node.name === 'ParenExpr' ? inner(node.firstChild) : node)

  const measured = (outer) => {
    const node = inner(outer)
    if (node.name === 'FunctionCall' && WRAPPER.test(textOf(node))) {
      return measured(node.getChild('FunctionCallBody').firstChild)
    }
    if (node.name !== 'BinaryExpr') return [node]
    const { left, operator, right } = operandsOf(node)
    if (operator === 'Or') return [...measured(left), ...measured(right)]
    if (operator === 'And' || operator === 'Unless') {
      const found = measured(left)
      const isSelected = found.every((one) => SELECTION.test(textOf(one)))
      const condition = inner(right)
      const compared = condition.name === 'BinaryExpr' ? operandsOf(condition).operator : ''
      if (isSelected && (operator === 'Unless' || compared !== '')) return measured(right)
      if (COMPARISON.has(compared) && compared !== (operator === 'And' ? 'Neq' : 'Eql'))
        conditions.push(...measured(condition))
      return found
    }
    if (!COMPARISON.has(operator)) return [node]
    return right.name === 'NumberDurationLiteral' ? measured(left) : [...measured(left), ...measured(right)]
  }
  const found = measured(parser.parse(expr).topNode.firstChild)
  const written = (nodes) => nodes.map((node) => shortened(dedented(textOf(node))))
  return { measured: written(found), conditions: written(conditions).filter((text) => !SELECTION.test(text)) }
}

const dedented = (text) => {
  const [first, ...lines] = text.split('\n')
  const indent = Math.min(...lines.map((line) => line.search(/\S/)))
  return [first, ...lines.map((line) => line.slice(indent))].join('\n')
}

/** Without a long selection, only what is not zero. */
const shortened = (text) => {
  const [matcher, values] = /\{\w+=~"([^"]+)"\}/.exec(text) ?? []
  if (matcher === undefined || values.split('|').length <= MOST_VALUES) return text
  return `${text.replace(matcher, '').replaceAll(/\s*\n\s*/g, '')} > 0`
}

/** The panel that shows it best: one that names the alert, with its metrics, over time, of one node and not of the fleet. */
const panelOf = (alert, expressions, dashboards) => {
  const wanted = new Set(expressions.flatMap(metricsOf))
  const panels = dashboards
    .flatMap(({ title, uid, panels: top }) => panelsIn(top).map((panel) => ({ ...panel, dashboard: title, uid })))
    .map((panel) => {
      const shown = new Set((panel.targets ?? []).flatMap(({ expr }) => metricsOf(expr)))
      const shared = [...wanted].filter((metric) => shown.has(metric)).length
      const isNamed = new RegExp(`\\[${alert}[.\\]]`).test(panel.description ?? '')
      return { ...panel, shared, isNamed, others: shown.size - shared }
    })
  const isList = wanted.has('ALERTS')
  if (isList && !panels.some(({ isNamed }) => isNamed)) return undefined
  const scoreOf = ({ shared, isNamed, type, uid }) =>
    (isNamed ? 6 : 0) +
    (shared > 0 ? (isList ? 7 : 3 + shared) : 0) +
    (type === (isList ? 'table' : 'timeseries') ? 1 : 0) -
    (uid === 'chain-fleet' ? 5 : 0)
  const [best] = panels
    .filter(({ shared, isNamed }) => isNamed || (shared > 0 && shared === wanted.size))
    .toSorted((a, b) => scoreOf(b) - scoreOf(a) || a.others - b.others || ORDER.indexOf(a.uid) - ORDER.indexOf(b.uid))
  return best
}

/** The dashboards of a node come before that of the fleet. */
const ORDER = [
  'chain-node',
  'chain-consensus',
  'chain-storage',
  'chain-duties',
  'chain-staking',
  'chain-agent',
  'chain-query-service',
  'chain-fleet',
]

/** With those of collapsed rows. */
const panelsIn = (panels) => panels.flatMap((panel) => (panel.type === 'row' ? panelsIn(panel.panels ?? []) : [panel]))

const metricsOf = (expr) => {
  const names = []
  parser.parse(expr).iterate({
    enter: ({ name, from, to }) => {
      if (name === 'Identifier') names.push(expr.slice(from, to))
    },
  })
  return names.filter((name) => /^(?:\w+:)?(?:chain_|ALERTS|up$|scrape_|prometheus|alertmanager)/.test(name))
}
