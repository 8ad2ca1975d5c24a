import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/**
 * The part of the classic dashboard schema that the dashboards use, and nothing else. The options of each panel type are
 * not checked here.
 */

const own = z.record(z.string(), z.unknown())
const datasource = z.strictObject({ type: z.string(), uid: z.string() })

const target = z.strictObject({
  refId: z.string(),
  datasource: datasource.optional(),
  expr: z.string(),
  range: z.boolean().optional(),
  instant: z.boolean().optional(),
  format: z.literal('table').optional(),
  legendFormat: z.string().optional(),
})

const link = z.strictObject({
  title: z.string(),
  type: z.enum(['link', 'dashboards']).optional(),
  icon: z.string().optional(),
  tooltip: z.string().optional(),
  url: z.string().optional(),
  tags: z.array(z.string()).optional(),
  asDropdown: z.boolean().optional(),
  targetBlank: z.boolean().optional(),
  includeVars: z.boolean().optional(),
  keepTime: z.boolean().optional(),
})

const fieldConfig = z.strictObject({
  defaults: z.strictObject({
    unit: z.string().optional(),
    decimals: z.number().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    noValue: z.string().optional(),
    color: z.strictObject({ mode: z.string(), fixedColor: z.string().optional() }).optional(),
    mappings: z.array(own).optional(),
    thresholds: z
      .strictObject({
        mode: z.enum(['absolute', 'percentage']),
        steps: z.array(z.strictObject({ value: z.number().nullable(), color: z.string() })),
      })
      .optional(),
    links: z.array(link).optional(),
    custom: own.optional(),
  }),
  overrides: z.array(
    z.strictObject({
      matcher: z.strictObject({ id: z.string(), options: z.unknown() }),
      properties: z.array(z.strictObject({ id: z.string(), value: z.unknown() })),
    }),
  ),
})

const gridPos = z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() })

const visualPanel = z.strictObject({
  id: z.int(),
  type: z.enum(['stat', 'bargauge', 'timeseries', 'state-timeline', 'table']),
  title: z.string().optional(),
  description: z.string().optional(),
  datasource: datasource.optional(),
  gridPos,
  targets: z.array(target).optional(),
  links: z.array(link).optional(),
  transformations: z.array(z.strictObject({ id: z.string(), options: own })).optional(),
  options: own.optional(),
  fieldConfig: fieldConfig.optional(),
})

const rowPanel = z.strictObject({
  id: z.int(),
  type: z.literal('row'),
  title: z.string(),
  collapsed: z.boolean(),
  gridPos,
  panels: z.array(visualPanel),
})

const variable = z.strictObject({
  name: z.string(),
  type: z.enum(['datasource', 'query']),
  label: z.string(),
  query: z.union([z.string(), z.strictObject({ query: z.string(), refId: z.string() })]),
  datasource: datasource.optional(),
  refresh: z.number().optional(),
  sort: z.number().optional(),
  multi: z.boolean(),
  includeAll: z.boolean(),
  allValue: z.string().optional(),
  skipUrlSync: z.boolean(),
  allowCustomValue: z.boolean(),
  current: own.optional(),
})

const annotation = z.strictObject({
  name: z.string(),
  datasource,
  enable: z.boolean(),
  hide: z.boolean(),
  builtIn: z.number(),
  iconColor: z.string(),
  expr: z.string(),
  titleFormat: z.string(),
  textFormat: z.string(),
  tagKeys: z.string(),
  step: z.string(),
  useValueForTime: z.union([z.boolean(), z.string()]),
})

export const dashboardSchema = z.strictObject({
  /** Shown on grafana.com; Grafana itself ignores it. */
  __requires: z.array(own),
  uid: z.string(),
  title: z.string(),
  description: z.string(),
  tags: z.array(z.string()),
  editable: z.boolean(),
  schemaVersion: z.int(),
  graphTooltip: z.int(),
  timezone: z.string(),
  refresh: z.string(),
  fiscalYearStartMonth: z.int(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  links: z.array(link),
  templating: z.strictObject({ list: z.array(variable) }),
  annotations: z.strictObject({ list: z.array(annotation) }),
  panels: z.array(z.discriminatedUnion('type', [rowPanel, visualPanel])),
})

export type Dashboard = z.output<typeof dashboardSchema>
export type Panel = z.output<typeof visualPanel>
export type Target = z.output<typeof target>
export type Variable = z.output<typeof variable>
export type Annotation = z.output<typeof annotation>

const FOLDER = fileURLToPath(new URL('../../dashboards', import.meta.url))

/** The committed dashboards: file name → content. */
export const committed = (): ReadonlyMap<string, unknown> =>
  new Map(
    readdirSync(FOLDER)
      .filter((file) => file.endsWith('.json') && !file.startsWith('tsconfig'))
      .map((file) => [file.replace(/\.json$/, ''), JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))]),
  )

/** All panels but rows, whether their row is collapsed or not. */
export const panelsOf = ({ panels }: Dashboard): readonly Panel[] =>
  panels.flatMap((panel) => (panel.type === 'row' ? panel.panels : [panel]))

export const titleOf = ({ title, id }: Pick<Panel, 'title' | 'id'>): string =>
  title === undefined || title === '' ? `number ${id}` : `"${title}"`

/** The query of a variable, in either form. */
export const queryOf = ({ query }: Variable): string => (typeof query === 'string' ? query : query.query)
