import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/**
 * The part of the classic dashboard schema that the dashboards use, and nothing else: Grafana ignores unknown keys, so
 * only this schema detects a misspelt one. The options of each panel type are not checked here.
 */

const own = z.record(z.string(), z.unknown())
const datasource = z.strictObject({ type: z.string(), uid: z.string() })
const color = z.strictObject({
  mode: z.string(),
  fixedColor: z.string().optional(),
  seriesBy: z.enum(['last', 'min', 'max']).optional(),
})

const target = z.strictObject({
  refId: z.string(),
  datasource: datasource.optional(),
  expr: z.string(),
  range: z.boolean().optional(),
  instant: z.boolean().optional(),
  exemplar: z.boolean().optional(),
  hide: z.boolean().optional(),
  format: z.enum(['time_series', 'table', 'heatmap']).optional(),
  legendFormat: z.string().optional(),
  interval: z.string().optional(),
  intervalFactor: z.number().optional(),
  editorMode: z.enum(['code', 'builder']).optional(),
  queryType: z.string().optional(),
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
  placement: z.literal('inControlsMenu').optional(),
})

const property = z.strictObject({ id: z.string(), value: z.unknown() })

const fieldConfig = z.strictObject({
  defaults: z.strictObject({
    unit: z.string().optional(),
    decimals: z.number().optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    noValue: z.string().optional(),
    displayName: z.string().optional(),
    color: color.optional(),
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
      properties: z.array(property),
    }),
  ),
})

const gridPos = z.strictObject({
  x: z.int().min(0),
  y: z.int().min(0),
  w: z.int().min(1),
  h: z.int().min(1),
})

const visualPanel = z.strictObject({
  id: z.int(),
  type: z.enum([
    'stat',
    'gauge',
    'bargauge',
    'timeseries',
    'state-timeline',
    'status-history',
    'table',
    'heatmap',
    'piechart',
    'text',
  ]),
  title: z.string().optional(),
  description: z.string().optional(),
  transparent: z.boolean().optional(),
  datasource: datasource.optional(),
  gridPos,
  targets: z.array(target).optional(),
  links: z.array(link).optional(),
  interval: z.string().optional(),
  maxDataPoints: z.number().optional(),
  timeFrom: z.string().optional(),
  hideTimeOverride: z.boolean().optional(),
  repeat: z.string().optional(),
  repeatDirection: z.enum(['h', 'v']).optional(),
  maxPerRow: z.number().optional(),
  pluginVersion: z.string().optional(),
  transformations: z.array(z.strictObject({ id: z.string(), options: own })).optional(),
  options: own.optional(),
  fieldConfig: fieldConfig.optional(),
})

const rowPanel = z.strictObject({
  id: z.int(),
  type: z.literal('row'),
  title: z.string(),
  collapsed: z.boolean(),
  datasource: datasource.optional(),
  gridPos,
  panels: z.array(visualPanel),
})

const variable = z.strictObject({
  name: z.string(),
  type: z.enum(['datasource', 'query', 'custom', 'constant', 'textbox', 'interval']),
  label: z.string().optional(),
  description: z.string().optional(),
  query: z.union([z.string(), z.strictObject({ query: z.string(), refId: z.string() })]),
  datasource: datasource.optional(),
  refresh: z.number().optional(),
  regex: z.string().optional(),
  sort: z.number().optional(),
  multi: z.boolean().optional(),
  includeAll: z.boolean().optional(),
  allValue: z.string().optional(),
  hide: z.number().optional(),
  skipUrlSync: z.boolean().optional(),
  allowCustomValue: z.boolean().optional(),
  current: own.optional(),
  options: z.array(own).optional(),
})

const annotation = z.strictObject({
  name: z.string(),
  type: z.string().optional(),
  datasource,
  enable: z.boolean(),
  hide: z.boolean().optional(),
  builtIn: z.number().optional(),
  iconColor: z.string(),
  expr: z.string().optional(),
  titleFormat: z.string().optional(),
  textFormat: z.string().optional(),
  tagKeys: z.string().optional(),
  step: z.string().optional(),
  placement: z.literal('inControlsMenu').optional(),
  useValueForTime: z.union([z.boolean(), z.string()]).optional(),
})

export const dashboardSchema = z.strictObject({
  /** Shown on grafana.com; Grafana itself ignores it. */
  __requires: z
    .array(z.strictObject({ type: z.string(), id: z.string(), name: z.string(), version: z.string() }))
    .optional(),
  uid: z.string(),
  title: z.string(),
  description: z.string().optional(),
  tags: z.array(z.string()),
  editable: z.boolean(),
  schemaVersion: z.int(),
  version: z.int().optional(),
  graphTooltip: z.int().optional(),
  timezone: z.string().optional(),
  refresh: z.string().optional(),
  fiscalYearStartMonth: z.int().optional(),
  liveNow: z.boolean().optional(),
  preload: z.boolean().optional(),
  weekStart: z.string().optional(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  timepicker: own.optional(),
  links: z.array(link).optional(),
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
