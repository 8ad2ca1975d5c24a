import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const ALERTS = join(ROOT, 'alerts')
export const RUNBOOKS = join(ROOT, 'docs/runbooks')

const texts = z.record(z.string(), z.string())
const ruleSchema = z.strictObject({
  alert: z.string().optional(),
  record: z.string().optional(),
  expr: z.string(),
  for: z.string().optional(),
  keep_firing_for: z.string().optional(),
  labels: texts.optional(),
  annotations: texts.optional(),
})
const rulesSchema = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      interval: z.string().optional(),
      rules: z.array(ruleSchema),
    }),
  ),
})
const testsSchema = z.object({
  rule_files: z.array(z.string()),
  tests: z.array(
    z.object({
      alert_rule_test: z
        .array(
          z.object({
            alertname: z.string(),
            exp_alerts: z.array(z.object({ exp_labels: texts.optional() })).optional(),
          }),
        )
        .optional(),
    }),
  ),
})

export type Rule = z.output<typeof ruleSchema>
export type Alert = Rule & { readonly alert: string; readonly file: string }

const namesOf = (suffix: string): readonly string[] =>
  readdirSync(ALERTS)
    .filter((file) => file.endsWith(suffix))
    .map((file) => file.slice(0, -suffix.length))
    .toSorted()

/** `consensus`, `sync` … */
export const ruleFiles = namesOf('.rules.yaml')
export const testFiles = namesOf('.test.yaml')

const read = (file: string): unknown => parse(readFileSync(join(ALERTS, file), 'utf8'))

const rulesOf = (name: string): readonly Rule[] =>
  rulesSchema.parse(read(`${name}.rules.yaml`)).groups.flatMap(({ rules }) => rules)

/** All rules. */
export const rules: readonly Rule[] = ruleFiles.flatMap(rulesOf)

export const alerts: readonly Alert[] = ruleFiles.flatMap((file) =>
  rulesOf(file).flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert, file }])),
)

/** `ChainDiskFull`, `ChainDiskFull.filling`. */
export const addressOf = ({ alert, labels }: Pick<Alert, 'alert' | 'labels'>): string =>
  labels?.['why'] === undefined ? alert : `${alert}.${labels['why']}`

/** For each name in the tests of a file: the rows that are expected to fire, each as its `why` and severity. */
export const expectations = (name: string) =>
  testsSchema.parse(read(`${name}.test.yaml`)).tests.flatMap(({ alert_rule_test: cases = [] }) =>
    cases.map(({ alertname, exp_alerts: expected = [] }) => ({
      alert: alertname,
      rows: expected.map(({ exp_labels: labels = {} }) => rowOf(labels)),
    })),
  )

/** What distinguishes the rows of a name. */
export const rowOf = ({ why = '', severity = '' }: Readonly<Record<string, string>>): string => `${why} ${severity}`
