// The inhibitions of `alerts/alertmanager.yaml`, from `explainedBy` of the rules.
import { addressOf, levelsOf, splitAddress } from '../../.cache/modules/src/health/rules/rule.js'

const BEGIN = 'in src/health/rules by npm run generate:\n'
const END = '  # end of the generated rules.\n'

/**
 * The configuration of Alertmanager with the inhibitions that follow from `explainedBy` between the two comments. A
 * warning does not inhibit a critical alert if its cause can be critical, too: until it is, it does not explain the page.
 */
export const renderAlertmanager = (text, rows) => {
  const [before, rest] = text.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) {
    throw new Error('Cannot write the inhibitions: alertmanager.yaml lacks the comments around the generated rules.')
  }
  // A label that is missing on both sides counts as equal: hence the matcher on the first label.
  const rules = merged(rows).map(
    ({ sources, source, targets, target, equal }) =>
      `  - source_matchers: ${list([matcher('alertname', sources), ...source, `${equal[0]}!=""`])}\n` +
      `    target_matchers: ${list([...target, matcher('alertname', targets), `${equal[0]}!=""`])}\n` +
      `    equal: [${equal.join(', ')}]\n`,
  )
  return [before, BEGIN, ...rules, END, after].join('')
}

const merged = (rows) => {
  const bySource = mergedBy(
    inhibitionsOf(rows.flatMap(levelsOf)),
    ({ sources: _sources, ...rest }) => rest,
    (one, other) => ({ ...one, sources: union(one.sources, other.sources) }),
  )
  return mergedBy(
    bySource,
    ({ targets: _targets, ...rest }) => rest,
    (one, other) => ({ ...one, targets: union(one.targets, other.targets) }),
  )
}

/**
 * The rows of the names `sources` inhibit those of `targets`; `source` and `target` are further matchers, `equal` are labels
 * that both have. One or more for each cause of each name, which together match the rows that the cause explains.
 */
const inhibitionsOf = (levels) => {
  const rowsOf = (name) => levels.filter(({ alert }) => alert === name)
  const edges = levels.flatMap((row) =>
    (row.explainedBy ?? []).flatMap(({ alerts, services, scope }) =>
      [...new Set(alerts.map((address) => splitAddress(address).alert))].map((name) => {
        const causes = rowsOf(name).filter((one) => alerts.includes(addressOf(one)))
        const severities = new Set(causes.map(({ severity }) => severity))
        const mayBeCritical = severities.size > 1 && severities.has('critical')
        const whys = [...new Set(causes.map(({ why = '' }) => why))]
        const isWhole = rowsOf(name).every(({ why = '' }) => whys.includes(why))
        return {
          row,
          sources: [name],
          source: [
            ...(isWhole ? [] : [matcher('why', whys)]),
            ...(services ? [matcher('service', services)] : []),
            ...(mayBeCritical && !services && row.severity === 'critical' ? ['severity="critical"'] : []),
          ],
          equal: scope === 'fleet' ? ['job', 'cluster'] : ['instance', 'job', 'cluster'],
        }
      }),
    ),
  )
  return mergedBy(
    edges.map(({ row, ...cause }) => ({ cause, alert: row.alert, explained: [row] })),
    ({ cause, alert }) => [cause, alert],
    (one, other) => ({ ...one, explained: [...one.explained, ...other.explained] }),
  ).flatMap(({ cause, alert, explained }) =>
    targetsOf(explained, rowsOf(alert)).map((target) => ({ ...cause, targets: [alert], target })),
  )
}

/** The matchers, in addition to the name, of the explained rows among all rows of a name. */
const targetsOf = (explained, all) => {
  const whys = [...new Set(all.map(({ why = '' }) => why))].map((why) => {
    const severities = [...new Set(all.filter((row) => (row.why ?? '') === why).map(({ severity }) => severity))]
    const found = severities.filter((severity) =>
      explained.some((row) => (row.why ?? '') === why && row.severity === severity),
    )
    return { why, found, isWhole: found.length === severities.length }
  })
  if (whys.every(({ isWhole }) => isWhole)) return [[]]
  const hasOthers = whys.length > 1
  const whole = whys.filter(({ isWhole }) => isWhole).map(({ why }) => why)
  return [
    ...(whole.length === 0 ? [] : [[matcher('why', whole)]]),
    ...whys
      .filter(({ isWhole }) => !isWhole)
      .flatMap(({ why, found }) =>
        found.map((severity) => [`severity="${severity}"`, ...(hasOthers ? [matcher('why', [why])] : [])]),
      ),
  ]
}

const mergedBy = (all, keyOf, merge) => {
  const found = new Map()
  for (const one of all) {
    const key = JSON.stringify(keyOf(one))
    const other = found.get(key)
    found.set(key, other ? merge(other, one) : one)
  }
  return [...found.values()]
}

const union = (one, other) => [...new Set([...one, ...other])].toSorted((a, b) => (a < b ? -1 : 1))

const matcher = (label, values) => (values.length === 1 ? `${label}="${values[0]}"` : `${label}=~"${values.join('|')}"`)

const list = (matchers) => `[${matchers.map((one) => `'${one}'`).join(', ')}]`
