import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'
import { parseDuration } from '../../src/core/units.ts'

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
  groups: z.array(z.strictObject({ name: z.string(), interval: z.string().optional(), rules: z.array(ruleSchema) })),
})
const duration = z.union([z.string(), z.number()]).transform((value) => parseDuration(String(value)) ?? 0)
const testsSchema = z.object({
  rule_files: z.array(z.string()),
  evaluation_interval: duration,
  tests: z.array(
    z.object({
      name: z.string().optional(),
      interval: duration,
      input_series: z
        .array(z.object({ series: z.string(), values: z.union([z.string(), z.number()]).transform(String) }))
        .default([]),
      alert_rule_test: z
        .array(
          z.object({
            eval_time: duration,
            alertname: z.string(),
            exp_alerts: z
              .array(z.object({ exp_labels: texts.default({}), exp_annotations: texts.default({}) }))
              .nullish()
              .transform((alerts) => alerts ?? []),
          }),
        )
        .default([]),
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

/** The unit tests of a file, with durations in milliseconds. */
export const testsOf = (name: string) => testsSchema.parse(read(`${name}.test.yaml`))

/** For each name in the tests of a file: the rows that are expected to fire, each as its `why` and severity. */
export const expectations = (name: string) =>
  testsOf(name).tests.flatMap(({ alert_rule_test: cases }) =>
    cases.map(({ alertname, exp_alerts: expected }) => ({
      alert: alertname,
      rows: expected.map(({ exp_labels: labels }) => rowOf(labels)),
    })),
  )

/** The rules of these files as an evaluator takes them. */
export const rulesIn = (files: readonly string[]) => {
  const found = files.flatMap((file) => rulesOf(file.replace(/\.rules\.yaml$/, '')))
  const milliseconds = (text = ''): number => parseDuration(text) ?? 0
  return {
    recording: found.flatMap(({ record, expr, labels = {} }) =>
      record === undefined ? [] : [{ record, expr, labels }],
    ),
    alerts: found.flatMap(({ alert, expr, labels = {}, annotations = {}, for: pending, keep_firing_for: kept }) =>
      alert === undefined
        ? []
        : [{ alert, expr, labels, annotations, for: milliseconds(pending), keepFiringFor: milliseconds(kept) }],
    ),
  }
}

/** What distinguishes the rows of a name. */
export const rowOf = ({ why = '', severity = '' }: Readonly<Record<string, string>>): string => `${why} ${severity}`

/** The notation of promtool: `1+2x3` is 1 3 5 7, `_` no sample, `stale` the end of the series. */
export const valuesOf = (text: string): readonly (number | null)[] =>
  text
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const repeated = /^_x(\d+)$/.exec(word)
      if (repeated) return Array.from({ length: Number(repeated[1]) }, () => null)
      if (word === '_') return [null]
      if (word === 'stale') return [Number.NaN]
      const [, first, sign, step, count] = /^(-?[\d.e]+)(?:([+-])([\d.e]+))?x(\d+)$/.exec(word) ?? []
      if (count === undefined) return [Number(word)]
      const by = step === undefined ? 0 : Number(`${sign}${step}`)
      return Array.from({ length: Number(count) + 1 }, (_, index) => Number(first) + index * by)
    })

export const seriesOf = (text: string) => {
  const [, name = '', body = ''] = /^([\w:]+)\s*(?:\{(.*)\})?$/s.exec(text) ?? []
  return {
    name,
    labels: Object.fromEntries(
      [...body.matchAll(/(\w+)\s*=\s*"([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
    ),
  }
}
