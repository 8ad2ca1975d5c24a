import { renderTemplate, type TemplateData } from '../promql/template.ts'
import { type AlertRow, levelsOf, type RecordingRow, type RuleFile } from './rule.ts'

interface RenderOptions {
  /** Where the runbooks are published. */
  readonly runbooks: string
  /** The address of Grafana. */
  readonly dashboards: string
}

const DEFAULTS: RenderOptions = {
  runbooks: 'https://chain-agent.example/runbooks',
  dashboards: 'https://grafana.example',
}

const DASHBOARD = 'd/chain-node?var-job={{ $labels.job }}&var-instance={{ $labels.instance }}'

/** Interval at which Prometheus evaluates the rules. */
const INTERVAL = '15s'

/** A rule file for Prometheus. */
export const renderRuleFile = ({ comment, groups }: RuleFile, options: RenderOptions = DEFAULTS): string =>
  [
    '# Generated from src/health/rules. Developers change the rows there; operators may change the copy that they install.',
    ...comments(comment, ''),
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
          : [recordingLines(rule)]
        ).flatMap((lines) => lines.map((line, index) => `      ${index === 0 ? '- ' : '  '}${line}`)),
      ]),
    ]),
    '',
  ].join('\n')

const recordingLines = ({ record, labels, expr }: RecordingRow): readonly string[] => [
  `record: ${record}`,
  ...block('expr', expr),
  ...(labels ? mapLines('labels', labels) : []),
]

const alertLines = (row: AlertRow, options: RenderOptions): readonly string[] => [
  `alert: ${row.alert}`,
  ...block('expr', expressionOf(row)),
  ...(row.for === undefined ? [] : [`for: ${row.for}`]),
  ...(row.keepFiringFor === undefined ? [] : [`keep_firing_for: ${row.keepFiringFor}`]),
  ...mapLines('labels', labelsOf(row)),
  ...mapLines('annotations', templatesOf(row, options)),
]

/** The annotations of an alert, as templates. */
const templatesOf = (row: AlertRow, { runbooks, dashboards }: RenderOptions) => ({
  summary: row.summary,
  description: descriptionOf(row),
  runbook_url: `${runbooks}/${row.alert}`,
  dashboard_url: `${dashboards}/${row.dashboard ?? DASHBOARD}`,
})

/** The annotations of an alert for one series. */
export const annotationsOf = (row: AlertRow, data: TemplateData): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(templatesOf(row, DEFAULTS)).map(([name, template]) => [name, renderTemplate(template, data)]),
  )

export const labelsOf = ({ severity, component, labels }: AlertRow): Readonly<Record<string, string>> => ({
  severity,
  component,
  ...labels,
})

export const expressionOf = ({ expr, limit = 0 }: Pick<AlertRow, 'expr' | 'limit'>): string =>
  typeof expr === 'string' ? expr : expr(limit)

const descriptionOf = ({ description, limit = 0 }: Pick<AlertRow, 'description' | 'limit'>): string =>
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
