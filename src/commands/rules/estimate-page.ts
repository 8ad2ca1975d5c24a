import { count, duration, figure, utc } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import type { Tone } from '../../domain/health.ts'
import type { RuleSeverity } from '../../health/rules/rule.ts'
import { type Style, wrap } from '../../terminal/style.ts'
import type { Estimate, RuleEstimate } from './estimate.ts'

/** Times are RFC 3339. */
export const estimateAsJson = ({ from, to, rules, computed }: Estimate) => ({
  from: utc(from),
  to: utc(to),
  rules: rules.map((rule) => {
    if (rule.state !== 'fired') return rule
    const { firingMs, lastAt, ...rest } = rule
    return { ...rest, firingSeconds: firingMs / second, last: lastAt === null ? null : utc(lastAt) }
  }),
  computedRecordings: computed,
})

const TONES: Readonly<Record<RuleSeverity, Tone>> = { critical: 'bad', warning: 'notice', info: 'quiet', none: 'quiet' }
const COLUMNS = ['firings', 'severity', 'rule', 'firing', 'nodes', 'last (UTC)']
const NUMBERS: readonly string[] = ['firings', 'nodes']

/** The rules that would have fired as a table, then the others by the reason. */
export const estimatePage = ({ from, to, rules, computed }: Estimate, style: Style): readonly string[] => {
  const fired = rules.filter((rule) => rule.state === 'fired')
  const rows = fired.map(({ firings, severity, address, firingMs, nodes, lastAt }) => ({
    tone: TONES[severity],
    // An alert about a fleet has no node.
    cells: [
      figure(firings),
      severity,
      address,
      duration(firingMs),
      nodes === 0 ? '-' : figure(nodes),
      utc(lastAt ?? 0),
    ],
  }))
  const widths = COLUMNS.map((name, at) => Math.max(name.length, ...rows.map(({ cells }) => cells[at]?.length ?? 0)))
  const row = (cells: readonly string[], tone: Tone): readonly string[] => {
    const padded = cells.map((cell, at) => {
      const width = widths[at] ?? 0
      return NUMBERS.includes(COLUMNS[at] ?? '') ? cell.padStart(width) : cell.padEnd(width)
    })
    const line = padded.join('  ').trimEnd()
    // Without the blanks before a number, if it is wrapped.
    return (line.length <= (style.width ?? Infinity) ? [line] : wrap(line, style, '  ')).map((text) =>
      style.paint(tone, text),
    )
  }
  const silent = rules.filter(({ state }) => state === 'silent').length
  const title = `ESTIMATE: firings from ${utc(from)} to ${utc(to)}, ${duration(to - from)}`
  return [
    ...wrap(title, style).map((text) => style.paint('strong', text)),
    '',
    ...(rows.length === 0
      ? []
      : [...row(COLUMNS, 'quiet'), ...rows.flatMap(({ cells, tone }) => row(cells, tone)), '']),
    ...wrap(`${count(silent, 'rule')} would not have fired.`, style),
    ...groups('Could not be evaluated:', rules.map(errorOf), style),
    ...groups(
      'Need recorded series of days since the beginning: install the recording rules, or use fewer --days.',
      rules.map(recordsOf),
      style,
    ),
    ...groups('Cannot fire, because these metrics never had data:', rules.map(missingOf), style),
    ...wrap(
      [
        'Inhibitions and maintenance windows are not applied, and Alertmanager groups alerts: messages are fewer.',
        ...(computed.length === 0 ? [] : [`Computed without recording rules: ${computed.join(', ')}.`]),
      ].join('\n'),
      style,
    ).map((text) => style.paint('quiet', text)),
  ]
}

const missingOf = (rule: RuleEstimate) => (rule.state === 'no data' ? { rule, reason: rule.metrics.join(', ') } : null)
const recordsOf = (rule: RuleEstimate) =>
  rule.state === 'needs recording rules' ? { rule, reason: rule.records.join(', ') } : null
const errorOf = (rule: RuleEstimate) => (rule.state === 'failed' ? { rule, reason: rule.error } : null)

/** The rules by their reason. */
const groups = (
  heading: string,
  all: readonly ({ readonly rule: RuleEstimate; readonly reason: string } | null)[],
  style: Style,
): readonly string[] => {
  const byReason = new Map<string, Set<string>>()
  for (const one of all) {
    if (one) byReason.set(one.reason, (byReason.get(one.reason) ?? new Set()).add(one.rule.address))
  }
  const lines = [...byReason].flatMap(([reason, addresses]) =>
    wrap(`${reason}: ${[...addresses].join(', ')}`, style, '    ').map((line, at) => (at === 0 ? line.slice(2) : line)),
  )
  return lines.length === 0 ? [] : [...wrap(heading, style), ...lines]
}
