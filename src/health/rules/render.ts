import { humanizeDuration, renderTemplate, type TemplateData } from '../promql/template.ts'
import { withPrefix } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import type { RecoveryAction } from '../../domain/health.ts'
import {
  type AlertRow,
  levelsOf,
  NODE_VARIABLES,
  recovers,
  type RecordingRow,
  type RuleFile,
  SEVERITIES,
} from './rule.ts'

interface LinkOptions {
  /** Where the runbooks are published; `{alert}` stands for the name of the alert, which is appended otherwise. Null: no link. */
  readonly runbooks: string | null
  /** The address of Grafana. */
  readonly dashboards: string | null
  /** The name prefix of the units in actions. */
  readonly prefix: string
}

export interface RenderOptions extends LinkOptions {
  readonly runbooks: string
  readonly dashboards: string
  /** The scrape job of the agents. */
  readonly job: string
  /** Labels of the targets that every rule keeps, in addition to `instance` and `job`. */
  readonly targetLabels: readonly string[]
}

/** Placeholders: names in `.example` never resolve. */
export const RENDER_DEFAULTS: RenderOptions = {
  runbooks: 'https://chain-agent.example/runbooks',
  dashboards: 'https://grafana.example',
  prefix: 'chain',
  job: 'chain-agent',
  targetLabels: ['cluster'],
}

const DASHBOARD = `d/chain-node?${NODE_VARIABLES}`

/** Interval at which Prometheus evaluates a group without one of its own. */
export const INTERVAL = '15s'

const HEADER =
  '# Generated from src/health/rules. Developers change the rows there; operators set limits with `chain-agent rules`.'

/** A rule file for Prometheus. */
export const renderRuleFile = (file: RuleFile, options = RENDER_DEFAULTS): string =>
  [HEADER, ...comments(file.comment, ''), ...groupLines(file, options), ''].join('\n')

interface ResourceOptions extends RenderOptions {
  /** The name of the resource. */
  readonly name: string
  /** The labels by which a Prometheus selects its rules. */
  readonly labels: Readonly<Record<string, string>>
}

/** The same as a custom resource of the Prometheus Operator. */
export const renderPrometheusRule = (file: RuleFile, { name, labels, ...options }: ResourceOptions): string =>
  [
    HEADER,
    ...comments(file.comment, ''),
    'apiVersion: monitoring.coreos.com/v1',
    'kind: PrometheusRule',
    'metadata:',
    `  name: ${name}`,
    `  labels: ${JSON.stringify(labels)}`,
    'spec:',
    ...groupLines(file, options).map((line) => `  ${line}`.trimEnd()),
    '',
  ].join('\n')

const groupLines = ({ groups }: RuleFile, options: RenderOptions): readonly string[] =>
  groups.length === 0
    ? ['groups: []']
    : [
        'groups:',
        ...groups.flatMap(({ comment: why, name, interval = INTERVAL, rules }) => [
          ...comments(why, '  '),
          `  - name: ${name}`,
          `    interval: ${interval}`,
          '    rules:',
          ...rules.flatMap((rule) => [
            ...comments(rule.comment, '      '),
            ...('alert' in rule
              ? levelsOf(rule).map((level) => alertLines(level, options))
              : [recordingLines(rule, options)]
            ).flatMap((lines) => lines.map((line, index) => `      ${index === 0 ? '- ' : '  '}${line}`)),
          ]),
        ]),
      ]

const recordingLines = ({ record, labels, expr }: RecordingRow, options: RenderOptions): readonly string[] => [
  `record: ${record}`,
  ...block('expr', forTargets(expr, options)),
  ...(labels ? mapLines('labels', labels) : []),
]

const alertLines = (row: AlertRow, options: RenderOptions): readonly string[] => [
  `alert: ${row.alert}`,
  ...block('expr', forTargets(expressionOf(row), options)),
  ...(row.for === undefined ? [] : [`for: ${row.for}`]),
  ...(row.keepFiringFor === undefined ? [] : [`keep_firing_for: ${row.keepFiringFor}`]),
  ...mapLines('labels', labelsOf(row)),
  ...mapLines('annotations', {
    ...templatesOf(row, options),
    ...(recovers(row) && recoveryTemplates(row, options)),
    ...(hasVantagePoints(row) && { seen: seenTemplate(row, options) }),
  }),
]

/** The rules as written group and match by `job, cluster`. */
export const forTargets = (expr: string, { job, targetLabels }: Pick<RenderOptions, 'job' | 'targetLabels'>): string =>
  expr
    .replaceAll(`job="${RENDER_DEFAULTS.job}"`, () => `job=${JSON.stringify(job)}`)
    .replaceAll(['job', ...RENDER_DEFAULTS.targetLabels].join(', '), ['job', ...targetLabels].join(', '))

/** The annotations of an alert, as templates. */
const templatesOf = (
  row: AlertRow,
  { runbooks, dashboards, prefix }: LinkOptions,
): Readonly<Record<string, string>> => ({
  summary: row.summary,
  ...(row.advice?.[0] !== undefined && { action: withPrefix(labelled(row.advice[0]), prefix) }),
  description: descriptionOf(row),
  ...(row.causedBy !== undefined && { cause: CAUSES[row.causedBy] }),
  ...(hasVantagePoints(row) && { seen: row.seen ?? '' }),
  rank: rankOf(row),
  ...(runbooks !== null && { runbook_url: runbookLink(runbooks, row) }),
  ...(dashboards !== null && { dashboard_url: `${dashboards}/${row.dashboard ?? DASHBOARD}` }),
})

/** The line of a message. */
const CAUSES: Readonly<Record<NonNullable<AlertRow['causedBy']>, string>> = {
  network: 'Caused by the network, not by this node.',
  others: 'Caused by others, not by this node.',
}

/** Of a message: critical alerts come first, of them those with the recovery of the node, and causes before consequences. */
const rankOf = (row: AlertRow): string =>
  `${SEVERITIES.indexOf(row.severity)}${Math.min(4, row.depth ?? 0) + (recovers(row) ? 0 : 5)}`

const labelled = (step: string): string =>
  step.replaceAll(/\b(?:SERVICE|DIRECTORY|DEVICE)\b/g, (word) => `{{ $labels.${word.toLowerCase()} }}`)

/** The action of a node that needs a recovery: that of its diagnosis, which the agent exports, and the time that is left. */
const recoveryTemplates = (row: AlertRow, options: RenderOptions): Readonly<Record<string, string>> => {
  const names = ['instance', 'job', ...options.targetLabels]
  const values = names.map((name) => `$labels.${name}`).join(' ')
  const query = (metric: string, rest = ''): string =>
    `query (printf \`${metric}{${names.map((name) => `${name}=%q`).join(',')}}${rest}\` ${values})`
  const action = recoveryStep('{{ . | first | label "action" }}')
  return {
    action: `{{ with ${query('chain_node_recovery_info')} }}${action}{{ else }}${templatesOf(row, options)['action'] ?? ''}{{ end }}`,
    deadline: `{{ with ${query('chain_node_recovery_deadline_timestamp_seconds', ' - time() > 0')} }}{{ . | first | value | humanizeDuration }}{{ end }}`,
  }
}

/** Whether a message has who observes the fault and who does not. */
const hasVantagePoints = (row: AlertRow): boolean => recovers(row) || row.seen !== undefined

/**
 * The alert of a watcher has whether Prometheus reaches the agent of the node, and the others have what a watcher sees:
 * `watched.name` is the instance of the node. Without a watcher nothing is known from outside.
 */
const seenTemplate = ({ seen = 'Seen by its agent.' }: AlertRow, { job }: RenderOptions): string =>
  seen.includes('$labels.watcher')
    ? `${seen}{{ with query (printf \`up{instance=%q,job=${JSON.stringify(job)}}\` $labels.instance) }}{{ if eq (. | first | value) 1.0 }} Prometheus scrapes its agent.{{ else }} Prometheus cannot scrape its agent either.{{ end }}{{ end }}`
    : `{{ with query (printf \`chain_watched_port{node=%q} == 1\` $labels.instance) }}${seen} From the watcher {{ . | first | label "instance" }}: port {{ . | first | label "state" }}.{{ end }}`

const recoveryStep = (action: string): string => `${action}: \`chain-agent recover\`.`

/** The page of the name, at the section of the row. */
export const runbookLink = (runbooks: string, { alert, why }: Pick<AlertRow, 'alert' | 'why'>): string => {
  const page = runbooks.includes('{alert}') ? runbooks.replaceAll('{alert}', () => alert) : `${runbooks}/${alert}`
  return why === undefined ? page : `${page}#${why}`
}

/** The annotations of an alert for one series, as Prometheus renders them; `at` in milliseconds since the epoch. */
export const annotationsOf = (
  row: AlertRow,
  { at, recovery, ...data }: TemplateData & { readonly at: number; readonly recovery: RecoveryAction | null },
  links: LinkOptions = RENDER_DEFAULTS,
): Readonly<Record<string, string>> => {
  // An alert about several nodes, or about another one, has no recovery of this one.
  const own = data.labels['instance'] === undefined || data.labels['watcher'] !== undefined ? null : recovery
  return {
    ...Object.fromEntries(
      Object.entries(templatesOf(row, links)).map(([name, template]) => [name, renderTemplate(template, data)]),
    ),
    ...(recovers(row) && own !== null && { action: recoveryStep(own.action) }),
    ...(recovers(row) && { deadline: leftUntil(own?.deadline ?? null, at) }),
  }
}

const leftUntil = (deadline: number | null, at: number): string =>
  deadline === null || deadline <= at ? '' : humanizeDuration((deadline - at) / second)

export const labelsOf = ({ severity, component, why }: AlertRow): Readonly<Record<string, string>> => ({
  severity,
  component,
  ...(why !== undefined && { why }),
})

export const expressionOf = ({ expr, limit = 0 }: Pick<AlertRow, 'expr' | 'limit'>): string =>
  typeof expr === 'string' ? expr : expr(limit)

export const descriptionOf = ({ description, limit = 0 }: Pick<AlertRow, 'description' | 'limit'>): string =>
  typeof description === 'string' ? description : description(limit)

const block = (key: string, text: string): readonly string[] => [
  `${key}: |-`,
  ...text
    .trim()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd()),
]

const mapLines = (key: string, entries: Readonly<Record<string, string>>): readonly string[] => [
  `${key}:`,
  ...Object.entries(entries).map(([name, value]) => `  ${name}: ${scalar(value)}`),
]

/** A JSON string is a YAML string. */
const scalar = (text: string): string => (/^[a-z]+$/.test(text) ? text : JSON.stringify(text))

const WIDTH = 120

const comments = (text: string | undefined, indent: string): readonly string[] => {
  const lines: string[] = []
  for (const word of text?.split(' ') ?? []) {
    const line = lines.at(-1)
    if (line !== undefined && `${line} ${word}`.length <= WIDTH) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(`${indent}# ${word}`)
  }
  return lines
}
