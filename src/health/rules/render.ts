import { renderTemplate, type TemplateData } from '../promql/template.ts'
import { type AlertRow, levelsOf, NODE_VARIABLES, type RecordingRow, type RuleFile } from './rule.ts'

interface LinkOptions {
  /** Where the runbooks are published; `{alert}` stands for the name of the alert, which is appended otherwise. Null: no link. */
  readonly runbooks: string | null
  /** The address of Grafana. */
  readonly dashboards: string | null
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
  job: 'chain-agent',
  targetLabels: ['cluster'],
}

const DASHBOARD = `d/chain-node?${NODE_VARIABLES}`

/** Interval at which Prometheus evaluates the rules. */
const INTERVAL = '15s'

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
        ...groups.flatMap(({ comment: why, name, rules }) => [
          ...comments(why, '  '),
          `  - name: ${name}`,
          `    interval: ${INTERVAL}`,
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
  ...mapLines('annotations', templatesOf(row, options)),
]

/** The rules as written group and match by `job, cluster`. */
const forTargets = (expr: string, { job, targetLabels }: RenderOptions): string =>
  expr
    .replaceAll(`job="${RENDER_DEFAULTS.job}"`, () => `job=${JSON.stringify(job)}`)
    .replaceAll(['job', ...RENDER_DEFAULTS.targetLabels].join(', '), ['job', ...targetLabels].join(', '))

/** The annotations of an alert, as templates. */
const templatesOf = (row: AlertRow, { runbooks, dashboards }: LinkOptions): Readonly<Record<string, string>> => ({
  summary: row.summary,
  description: descriptionOf(row),
  ...(runbooks !== null && { runbook_url: runbookLink(runbooks, row.alert) }),
  ...(dashboards !== null && { dashboard_url: `${dashboards}/${row.dashboard ?? DASHBOARD}` }),
})

export const runbookLink = (runbooks: string, alert: string): string =>
  runbooks.includes('{alert}') ? runbooks.replaceAll('{alert}', () => alert) : `${runbooks}/${alert}`

/** The annotations of an alert for one series. */
export const annotationsOf = (
  row: AlertRow,
  data: TemplateData,
  links: LinkOptions = RENDER_DEFAULTS,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(templatesOf(row, links)).map(([name, template]) => [name, renderTemplate(template, data)]),
  )

export const labelsOf = ({ severity, component, labels }: AlertRow): Readonly<Record<string, string>> => ({
  severity,
  component,
  ...labels,
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
