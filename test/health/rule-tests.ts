import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Labels } from '../../src/health/promql/series.ts'

const ALERTS = new URL('../../alerts/', import.meta.url)
const read = (file: string): unknown => parse(readFileSync(new URL(file, ALERTS), 'utf8'))
const labelsSchema = z.record(z.string(), z.string())

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const milliseconds = (text: string): number =>
  [...text.matchAll(/(\d+)(ms|[smhd])/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? Number.NaN),
    0,
  )
const durationSchema = z.union([z.string(), z.number()]).transform((value) => milliseconds(String(value)))

const rulesSchema = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string().optional(),
          record: z.string().optional(),
          expr: z.string(),
          for: durationSchema.default(0),
          keep_firing_for: durationSchema.default(0),
          labels: labelsSchema.default({}),
          annotations: labelsSchema.default({}),
        }),
      ),
    }),
  ),
})

const testsSchema = z.object({
  rule_files: z.array(z.string()),
  evaluation_interval: durationSchema,
  tests: z.array(
    z.object({
      name: z.string().optional(),
      interval: durationSchema,
      input_series: z
        .array(z.object({ series: z.string(), values: z.union([z.string(), z.number()]).transform(String) }))
        .default([]),
      alert_rule_test: z
        .array(
          z.object({
            eval_time: durationSchema,
            alertname: z.string(),
            exp_alerts: z
              .array(z.object({ exp_labels: labelsSchema, exp_annotations: labelsSchema.default({}) }))
              .nullish(),
          }),
        )
        .default([]),
    }),
  ),
})

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

export const seriesOf = (text: string): { readonly name: string; readonly labels: Labels } => {
  const [, name = '', body = ''] = /^([\w:]+)\s*(?:\{(.*)\})?$/s.exec(text) ?? []
  return {
    name,
    labels: Object.fromEntries(
      [...body.matchAll(/(\w+)\s*=\s*"([^"]*)"/g)].map(([, label = '', value = '']) => [label, value]),
    ),
  }
}

export const rulesIn = (files: readonly string[]) => {
  const rules = files.flatMap((file) => rulesSchema.parse(read(file)).groups.flatMap((group) => group.rules))
  return {
    recording: rules.flatMap(({ record, expr, labels }) => (record === undefined ? [] : [{ record, expr, labels }])),
    alerts: rules.flatMap(({ alert, keep_firing_for: keepFiringFor, ...rule }) =>
      alert === undefined ? [] : [{ ...rule, alert, keepFiringFor }],
    ),
  }
}

export const FILES = readdirSync(ALERTS).filter((file) => file.endsWith('.test.yaml'))

export const testsOf = (file: string) => testsSchema.parse(read(file))
