import { readdirSync, readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { parse } from 'yaml'
import { z } from 'zod'

/** A number that an alert compares with a metric. */
export interface Limit {
  readonly alert: string
  readonly severity: Severity
  /** Whether higher or lower values are bad. */
  readonly bad: 'above' | 'below'
  readonly inclusive: boolean
  readonly value: number
}

export type Severity = 'critical' | 'warning' | 'info' | 'none'

/** The limits of an alert on a metric, one per rule with the metric. Throws if there is none, or one of another form. */
export const limitsOf = (alert: string, metric: string): readonly Limit[] => {
  const rules = rulesOf(alert)
  const about = rules.filter(({ expr }) => expr.includes(metric))
  return (about.length > 0 ? about : rules).map(({ expr, labels }) => {
    const found = comparisons(expr).filter(({ left }) => left.includes(metric))
    const exact = found.filter(({ left }) => left === metric)
    const [first, ...others] = exact.length > 0 ? exact : found
    if (!first || others.length > 0) {
      throw new Error(`${alert} compares ${metric} with ${first ? 'several numbers' : 'no number'}`)
    }
    const { operator, value } = first
    return {
      alert,
      severity: labels.severity,
      bad: operator.startsWith('>') ? 'above' : 'below',
      inclusive: operator.endsWith('='),
      value,
    }
  })
}

/** The number that a recorded boolean series compares with. */
export const limitRecorded = (record: string): number => {
  const [found, ...others] = recordings
    .filter((rule) => rule.record === record)
    .flatMap(({ expr }) => comparisons(expr))
  if (!found || others.length > 0) throw new Error(`${record} compares with no one number`)
  return found.value
}

/** The label values that an alert selects, one for each of its severities. */
export const askedOf = (alert: string, label: string): readonly AskedOf[] =>
  rulesOf(alert).flatMap(({ expr, labels: { severity } }) =>
    [...expr.matchAll(new RegExp(String.raw`\b${label}="([^"]+)"`, 'g'))].map(([, value = '']) => ({
      severity,
      value,
    })),
  )

interface AskedOf {
  readonly severity: Severity
  readonly value: string
}

export const runbookOf = (address: string): string => {
  const [rule] = rulesOf(address)
  return address.includes('.') ? rule.annotations.runbook_url : rule.annotations.runbook_url.replace(/#.*/, '')
}

/** Log patterns that an alert selects: those of trouble lines. */
export const troublePatterns = (): readonly string[] =>
  [
    ...new Set(
      alerts
        .flatMap(({ expr }) => [...expr.matchAll(/\bpattern=~?"([^"]+)"/g)])
        .flatMap(([, names = '']) => names.split('|')),
    ),
  ].toSorted()

/** The index of all runbooks. */
export const runbookIndex = (): string => runbookPage('index')

/** The URL of a runbook. */
const runbookPage = (name: string): string => runbookOf('ChainWatchdog').replace(/[^/]+$/, () => name)

const alertSchema = z.object({
  alert: z.string(),
  expr: z.string(),
  labels: z.object({ severity: z.enum(['critical', 'warning', 'info', 'none']), why: z.string().optional() }),
  annotations: z.object({ runbook_url: z.url() }),
})
type Alert = z.output<typeof alertSchema>

const recordingSchema = z.object({ record: z.string(), expr: z.string() })
type Recording = z.output<typeof recordingSchema>

const fileSchema = z.object({
  groups: z.array(z.object({ rules: z.array(z.union([alertSchema, recordingSchema])) })),
})

const FOLDER = 'alerts'

const rules: readonly (Alert | Recording)[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.rules.yaml'))
  .flatMap((file) => fileSchema.parse(parse(readFileSync(`${FOLDER}/${file}`, 'utf8'))).groups)
  .flatMap((group) => group.rules)

const alerts = rules.flatMap((rule) => ('alert' in rule ? [rule] : []))
const recordings = rules.flatMap((rule) => ('record' in rule ? [rule] : []))

/** The rules of an address: `NAME.why`, or `NAME` for those without `why`, or for all if each has one. */
const rulesOf = (address: string): readonly [Alert, ...Alert[]] => {
  const [name, why] = address.split('.')
  const named = alerts.filter((rule) => rule.alert === name)
  const exact = named.filter(({ labels }) => labels.why === why)
  // A panel names the warning before the critical limit.
  const isCritical = ({ labels }: Alert): number => Number(labels.severity === 'critical')
  const [first, ...others] = (why === undefined && exact.length === 0 ? named : exact).toSorted(
    (a, b) => isCritical(a) - isCritical(b),
  )
  if (!first) throw new Error(`no rule in ${FOLDER}/ gives the alert ${address}`)
  return [first, ...others]
}

const COMPARISON = /^(?:Gtr|Gte|Lss|Lte)$/

/** The comparison of an expression with a number: `a - b > 5` is the left side `a - b`, the operator and 5. */
const comparisons = (expr: string) => {
  const seen: { left: string; operator: string; value: number }[] = []
  parser.parse(expr).iterate({
    enter: ({ name, node }) => {
      const left = node.firstChild
      const right = node.lastChild
      const operator = left?.nextSibling
      if (name !== 'BinaryExpr' || right?.name !== 'NumberDurationLiteral') return
      if (!left || !operator || !COMPARISON.test(operator.name)) return
      const textOf = ({ from, to }: { from: number; to: number }) => expr.slice(from, to)
      // `a < 7 > 0` compares the result of a comparison again: only the inner one is a limit of `a`.
      if (left.firstChild?.nextSibling && COMPARISON.test(left.firstChild.nextSibling.name)) return
      seen.push({ left: textOf(left), operator: textOf(operator), value: Number(textOf(right)) })
    },
  })
  return seen
}

/** Link from a cell with the name of an alert to its runbook. */
export const RUNBOOK_LINK = { title: 'Runbook of ${__value.raw}', url: runbookPage('${__value.raw}') }
