import { readFileSync } from 'node:fs'
import * as grafanaUnits from '@grafana/grafana-foundation-sdk/units'
import { parser } from '@prometheus-io/lezer-promql'
import { parse } from 'yaml'
import { z } from 'zod'
import { readPromql } from '../../support/promql.ts'
import { type Dashboard, type Panel, panelsOf, queryOf } from '../model.ts'

/** The rules of Grafana's dashboard-linter on a Prometheus dashboard, by name: the panels that break them, or '' for the dashboard. */
type Rules = Readonly<Record<string, (dashboard: Dashboard) => readonly string[]>>

const SOURCE = ['$datasource', '${datasource}']
const UNITS = new Set<unknown>(Object.values(grafanaUnits))
const WITH_UNIT = new Set<Panel['type']>(['stat', 'table', 'timeseries', 'gauge'])

const unless = (isRight: boolean): readonly string[] => (isRight ? [] : [''])

const panels =
  (isRight: (panel: Panel) => boolean) =>
  (dashboard: Dashboard): readonly string[] =>
    panelsOf(dashboard)
      .filter((panel) => !isRight(panel))
      .map(({ title = '' }) => title)

const expressions = (isRight: (expr: string) => boolean) =>
  panels(({ targets = [] }) => targets.every(({ expr }) => isRight(plain(expr))))

/** Grafana's durations are not PromQL. */
const plain = (expr: string): string =>
  expr.replaceAll(/\$__(?:interval|range)\b/g, '1h').replaceAll('$__rate_interval', '9m')

const variable = (name: string, label: string) => (dashboard: Dashboard) => {
  const found = dashboard.templating.list.find((one) => one.name === name)
  return unless(
    found?.type === 'query' &&
      SOURCE.includes(found.datasource?.uid ?? '') &&
      found.label === label &&
      found.multi === true &&
      found.allValue === '.+',
  )
}

const matches = (label: string) =>
  expressions((expr) =>
    readPromql(expr).selected.every(({ matchers }) =>
      matchers.some((one) => one.label === label && one.comparison === '=~' && one.value === `$${label}`),
    ),
  )

/** Each selector of a counter is within a rate or an increase. */
const countersAreRates = (expr: string): boolean => {
  let isRight = true
  parser.parse(expr).iterate({
    enter: ({ node, name }) => {
      if (name !== 'VectorSelector' || !/^\w+_total\b/.test(expr.slice(node.from, node.to))) return
      const call = node.parent?.parent?.parent
      const around = call ? expr.slice(call.from, call.to) : ''
      if (!/^(?:rate|irate|increase)\b/.test(around)) isRight = false
    },
  })
  return isRight
}

const parses = (expr: string): boolean => {
  try {
    readPromql(expr)
    return true
  } catch {
    return false
  }
}

const hasUnit = ({ type, fieldConfig }: Panel): boolean => !WITH_UNIT.has(type) || UNITS.has(fieldConfig?.defaults.unit)

export const RULES: Rules = {
  'template-datasource-rule': ({ templating: { list } }) =>
    unless(list.some((one) => one.type === 'datasource' && one.name === 'datasource' && one.label === 'Data source')),
  'template-job-rule': variable('job', 'Job'),
  'template-instance-rule': variable('instance', 'Instance'),
  'template-label-promql-rule': ({ templating: { list } }) =>
    unless(
      list.every((one) => {
        const [, expr] = /^label_values\((.+),\s*\w+\)$/.exec(queryOf(one)) ?? []
        return one.type !== 'query' || (expr !== undefined && parses(expr))
      }),
    ),
  'template-on-time-change-reload-rule': ({ templating: { list } }) =>
    unless(list.every(({ type, refresh }) => type !== 'query' || refresh === 2)),
  'panel-datasource-rule': panels(({ datasource }) => SOURCE.includes(datasource?.uid ?? '')),
  'panel-title-description-rule': panels(({ title = '', description = '' }) => title !== '' && description !== ''),
  'panel-units-rule': panels(hasUnit),
  'panel-no-targets-rule': panels(({ targets = [] }) => targets.length > 0),
  'target-promql-rule': expressions(parses),
  'target-rate-interval-rule': panels(({ targets = [] }) =>
    targets.every(({ expr }) => !/\bi?rate\((?:[^()[\]]|\{[^}]*\})*\[(?!\$__rate_interval\])/.test(expr)),
  ),
  'target-job-rule': matches('job'),
  'target-instance-rule': matches('instance'),
  'target-counter-agg-rule': expressions(countersAreRates),
  'uneditable-dashboard': ({ editable }) => unless(!editable),
}

const exclusionsSchema = z.strictObject({
  exclusions: z.record(
    z.string(),
    z.strictObject({
      reason: z.string().min(20),
      entries: z.array(z.strictObject({ dashboard: z.string(), panel: z.string() })).optional(),
    }),
  ),
})

/** The exclusions of dashboards/.lint, each with its reason. */
export const { exclusions } = exclusionsSchema.parse(parse(readFileSync('dashboards/.lint', 'utf8')))
