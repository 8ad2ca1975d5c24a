import { type AlertRow, levelsOf } from './rule.ts'

/** The alerts of `names` inhibit those whose label `label` has one of `values`; the other matchers are as written. */
interface Inhibition {
  readonly names: readonly string[]
  /** Labels that source and target have in common. */
  readonly equal: readonly string[]
  readonly source: readonly string[]
  readonly label: string
  readonly values: readonly string[]
  readonly target: readonly string[]
}

const BEGIN = 'in src/health/rules by npm run generate:\n'
const END = '  # end of the generated rules.\n'

/**
 * The configuration of Alertmanager with the inhibitions that follow from `explainedBy` between the two comments. A
 * warning does not inhibit a critical alert if its cause can be critical, too: until it is, it does not explain the page.
 */
export const renderAlertmanager = (text: string, rows: readonly AlertRow[]): string => {
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) {
    throw new Error('Cannot write the inhibitions: alertmanager.yaml lacks the comments around the generated rules.')
  }
  // A label that is missing on both sides counts as equal: hence the matcher on the first label.
  const rules = merged(rows).map(
    ({ names, equal, source, label, values, target }) =>
      `  - source_matchers: ${list([matcher('alertname', names), ...source, `${equal[0]}!=""`])}\n` +
      `    target_matchers: ${list([...target, matcher(label, values), `${equal[0]}!=""`])}\n` +
      `    equal: [${equal.join(', ')}]\n`,
  )
  return [before, BEGIN, ...rules, END, after].join('')
}

const merged = (rows: readonly AlertRow[]): readonly Inhibition[] => {
  const bySource = mergedBy(
    edgesOf(rows),
    ({ equal, source, label, values, target }) => [equal, source, label, values, target],
    (one, other) => ({ ...one, names: union(one.names, other.names) }),
  )
  return mergedBy(
    bySource,
    ({ names, equal, source, label, target }) => [names, equal, source, label, target],
    (one, other) => ({ ...one, values: union(one.values, other.values) }),
  )
}

/** One for each cause of each alert; if it does not explain every severity of the alert, with the severity that it does. */
const edgesOf = (rows: readonly AlertRow[]): readonly Inhibition[] => {
  const levels = rows.flatMap(levelsOf)
  const severitiesOf = (name: string) =>
    new Set(levels.filter(({ alert }) => alert === name).map(({ severity }) => severity))
  const edges = levels.flatMap(({ alert, severity, labels = {}, explainedBy = [] }) => {
    const [[label, value] = ['alertname', alert]] = Object.entries(labels)
    return explainedBy.flatMap(({ alerts, services, scope }) =>
      alerts.map((name) => {
        const mayBeCritical = severitiesOf(name).size > 1 && severitiesOf(name).has('critical')
        const source = [
          ...(services ? [matcher('service', services)] : []),
          ...(mayBeCritical && !services && severity === 'critical' ? ['severity="critical"'] : []),
        ]
        const target = label === 'alertname' ? [] : [matcher('alertname', [alert])]
        const equal = scope === 'fleet' ? ['job', 'cluster'] : ['instance', 'job', 'cluster']
        return { edge: { names: [name], equal, source, label, values: [value], target }, alert, severity }
      }),
    )
  })
  const keyOf = ({ edge }: (typeof edges)[number]): string => JSON.stringify(edge)
  return edges.map(({ edge, alert, severity }) => {
    const explained = edges.filter((other) => keyOf(other) === JSON.stringify(edge)).map((other) => other.severity)
    const isWhole = edge.label !== 'alertname' || severitiesOf(alert).size === new Set(explained).size
    return isWhole ? edge : { ...edge, target: [`severity="${severity}"`, ...edge.target] }
  })
}

const mergedBy = (
  all: readonly Inhibition[],
  keyOf: (one: Inhibition) => unknown,
  merge: (one: Inhibition, other: Inhibition) => Inhibition,
): readonly Inhibition[] => {
  const found = new Map<string, Inhibition>()
  for (const one of all) {
    const key = JSON.stringify(keyOf(one))
    const other = found.get(key)
    found.set(key, other ? merge(other, one) : one)
  }
  return [...found.values()]
}

const union = (one: readonly string[], other: readonly string[]): readonly string[] =>
  [...new Set([...one, ...other])].toSorted()

const matcher = (label: string, values: readonly string[]): string =>
  values.length === 1 ? `${label}="${values[0]}"` : `${label}=~"${values.join('|')}"`

const list = (matchers: readonly string[]): string => `[${matchers.map((one) => `'${one}'`).join(', ')}]`
