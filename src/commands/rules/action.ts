import { stringify } from 'yaml'
import { loadFor } from '../../terminal/config.ts'
import { type ActionContext, unlessInterrupted, UsageError, writeAll } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { createProgress } from '../../terminal/progress.ts'
import { day, second } from '../../core/units.ts'
import { clientOf } from '../shared/alert-request.ts'
import { estimateFirings, type Estimate, type RuleEstimate, createPrometheusApi } from './estimate.ts'
import type { Config } from '../../config/schema.ts'
import { ruleFiles, type Tuning } from '../../health/rules/index.ts'
import { RENDER_DEFAULTS, renderPrometheusRule, renderRuleFile } from '../../health/rules/render.ts'
import type { RuleFile } from '../../health/rules/rule.ts'
import { alertProblem, readLimits, type WrittenLimits } from '../../health/settings.ts'
import { readShipped, writeFiles } from '../shared/write-files.ts'
import { count, duration, figure, utc } from '../../core/format.ts'
import { SEVERITY_TONES, type Tone } from '../../domain/health.ts'
import type { Style } from '../../terminal/style.ts'

interface RulesOptions extends OutputOptions {
  readonly config?: string
  readonly output?: string
  readonly format: 'prometheus' | 'prometheusrule' | 'template'
  readonly runbooks?: string
  readonly dashboards?: string
  readonly job?: string
  readonly set: readonly string[]
  readonly disable: readonly string[]
  readonly labels?: readonly string[]
  readonly resourceLabel: readonly string[]
  readonly estimate?: string
  readonly days?: number
}

/** `chain-agent rules`: writes the rules, or with --estimate reports what they would do. */
export const runRules = async (context: ActionContext<RulesOptions>): Promise<void> => {
  const { estimate, json, days } = context.options
  if (days !== undefined && estimate === undefined) throw new UsageError('--days is for --estimate')
  if (json && estimate === undefined) throw new UsageError('--json is for --estimate')
  if (estimate !== undefined) await estimateRules(context, estimate)
  else await writeRules(context)
}

const DEFAULT_DAYS = 30

const estimateRules = async ({ io, exit, options }: ActionContext<RulesOptions>, url: string): Promise<void> => {
  const { config } = loadFor(io, options.config)
  const { job = RENDER_DEFAULTS.job, labels: targetLabels = RENDER_DEFAULTS.targetLabels } = options
  const files = ruleFiles(tuningOf(config.health, options))
  const to = io.clock.now()
  const progress = createProgress(io)
  const estimate = await unlessInterrupted(io, async () => {
    return estimateFirings({
      api: createPrometheusApi(await clientOf(io, config), url, io.signal),
      files,
      from: to - (options.days ?? DEFAULT_DAYS) * day,
      to,
      targets: { job, targetLabels },
      onProgress: progress.show,
    })
  }).finally(progress.end)
  printResult(
    { io, options },
    { document: () => estimateAsJson(estimate), lines: (style) => estimatePage(estimate, style) },
  )
  exit(estimate.rules.some(({ state }) => state === 'fired' || state === 'silent') ? 0 : 1)
}

const writeRules = async ({ io, exit, options }: ActionContext<RulesOptions>): Promise<void> => {
  const { output, format, resourceLabel } = options
  const { runbooks = RENDER_DEFAULTS.runbooks, dashboards = RENDER_DEFAULTS.dashboards } = options
  const { job = RENDER_DEFAULTS.job, labels: targetLabels = RENDER_DEFAULTS.targetLabels } = options
  const { health, prefix } = loadFor(io, options.config).config
  const files = ruleFiles(tuningOf(health, options))
  const template = await readShipped('alerts/chain.tmpl', 'the template of the messages')
  const links = { ...RENDER_DEFAULTS, ...(prefix !== 'auto' && { prefix }), runbooks, dashboards, job, targetLabels }
  const labels = Object.fromEntries(resourceLabel.map((text) => splitAt(text, '=')))
  const render = (file: RuleFile, name: string): string =>
    format === 'prometheus' ? renderRuleFile(file, links) : renderPrometheusRule(file, { ...links, name, labels })

  const isPlain = format === 'prometheus'
  if (format === 'template') {
    if (output !== undefined) throw new UsageError('--format template is one document on stdout: leave out --output')
    await writeAll(io, template)
  } else if (output === undefined) {
    const all = render({ name: 'all', groups: files.flatMap(({ groups }) => groups) }, 'chain-agent')
    await writeAll(io, isPlain ? all : `${all}---\n${renderTemplateMap(template)}`)
  } else {
    const ending = isPlain ? '.rules.yaml' : '.prometheusrule.yaml'
    const texts = new Map([
      ...files.map((file) => [`${file.name}${ending}`, render(file, `chain-agent-${file.name}`)] as const),
      isPlain ? ['chain.tmpl', template] : ['chain-agent-templates.configmap.yaml', renderTemplateMap(template)],
    ])
    await writeFiles(io, output, { ending, texts })
  }
  exit(0)
}

/** A ConfigMap that an Alertmanager of the Prometheus Operator mounts: `configMaps` of its resource. */
const renderTemplateMap = (template: string): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'chain-agent-templates' },
    data: { 'chain.tmpl': template },
  })

/** The tuning of the configuration, overridden by the command line. Throws a UsageError. */
const tuningOf = (health: Config['health'], { set, disable }: RulesOptions): Tuning => {
  const written: Record<string, Record<string, string | number>> = {}
  for (const text of set) {
    const [target, value] = splitAt(text, '=')
    const dot = target.lastIndexOf('.')
    const [alert, setting] = [target.slice(0, dot), target.slice(dot + 1)]
    written[alert] = { ...health.limits[alert], ...written[alert], [setting]: value }
  }
  const { limits, problems } = readLimits(written satisfies WrittenLimits)
  const complaints = [
    ...problems.map(({ path, message }) => `--set ${path.join('.')}: ${message}`),
    ...disable.flatMap((alert) => {
      const problem = alertProblem(alert)
      return problem === undefined ? [] : [`--disable ${alert}: ${problem}`]
    }),
  ]
  if (complaints.length > 0) throw new UsageError(complaints.join('\n'))
  return { ...health, limits: { ...health.limits, ...limits }, disable: [...health.disable, ...disable] }
}

const splitAt = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Times are RFC 3339. */
const estimateAsJson = ({ from, to, rules, computed }: Estimate) => ({
  from: utc(from),
  to: utc(to),
  rules: rules.map((rule) => {
    if (rule.state !== 'fired') return rule
    const { firingMs, lastAt, ...rest } = rule
    return { ...rest, firingSeconds: firingMs / second, last: lastAt === null ? null : utc(lastAt) }
  }),
  computedRecordings: computed,
})

const COLUMNS = ['firings', 'severity', 'rule', 'firing', 'nodes', 'last (UTC)']
const NUMBERS: readonly string[] = ['firings', 'nodes']

/** The rules that would have fired as a table, then the others by the reason. */
const estimatePage = ({ from, to, rules, computed }: Estimate, style: Style): readonly string[] => {
  const fired = rules.filter((rule) => rule.state === 'fired')
  const rows = fired.map(({ firings, severity, address, firingMs, nodes, lastAt }) => ({
    tone: SEVERITY_TONES[severity],
    // An alert about a fleet has no node.
    cells: [figure(firings), severity, address, duration(firingMs), nodes ? figure(nodes) : '-', utc(lastAt ?? 0)],
  }))
  const widths = COLUMNS.map((name, at) => Math.max(name.length, ...rows.map(({ cells }) => cells[at]?.length ?? 0)))
  const row = (cells: readonly string[], tone: Tone): readonly string[] => {
    const padded = cells.map((cell, at) =>
      NUMBERS.includes(COLUMNS[at] ?? '') ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0),
    )
    const line = padded.join('  ').trimEnd()
    // Without the blanks before a number, if it is wrapped.
    return (line.length <= (style.width ?? Infinity) ? [line] : style.wrap(line, '  ')).map((text) =>
      style.paint(tone, text),
    )
  }
  /** The rules by their reason. */
  const listed = (heading: string, reasonOf: (rule: RuleEstimate) => string | null): readonly string[] => {
    const byReason = new Map<string, Set<string>>()
    for (const rule of rules) {
      const reason = reasonOf(rule)
      if (reason !== null) byReason.set(reason, (byReason.get(reason) ?? new Set()).add(rule.address))
    }
    const lines = [...byReason].flatMap(([reason, addresses]) =>
      style.marked('  ', `${reason}: ${[...addresses].join(', ')}`, '    '),
    )
    return lines.length === 0 ? [] : [...style.wrap(heading), ...lines]
  }
  const silent = rules.filter(({ state }) => state === 'silent').length
  const title = `ESTIMATE: firings from ${utc(from)} to ${utc(to)}, ${duration(to - from)}`
  return [
    ...style.paragraph('strong', title),
    '',
    ...(rows.length === 0
      ? []
      : [...row(COLUMNS, 'quiet'), ...rows.flatMap(({ cells, tone }) => row(cells, tone)), '']),
    ...style.wrap(`${count(silent, 'rule')} would not have fired.`),
    ...listed('Could not be evaluated:', (rule) => (rule.state === 'failed' ? rule.error : null)),
    ...listed(
      'Need recorded series of days since the beginning: install the recording rules, or use fewer --days.',
      (rule) => (rule.state === 'needs recording rules' ? rule.records.join(', ') : null),
    ),
    ...listed('Cannot fire, because these metrics never had data:', (rule) =>
      rule.state === 'no data' ? rule.metrics.join(', ') : null,
    ),
    ...style.paragraph(
      'quiet',
      [
        'Inhibitions and maintenance windows are not applied, and Alertmanager groups alerts: messages are fewer.',
        ...(computed.length === 0 ? [] : [`Computed without recording rules: ${computed.join(', ')}.`]),
      ].join('\n'),
    ),
  ]
}
