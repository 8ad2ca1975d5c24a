import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** What the tests use of a dashboard: schema.ts compares every setting with the types that Grafana publishes. */

const own = z.record(z.string(), z.unknown())

const target = z.looseObject({
  refId: z.string(),
  datasource: own.optional(),
  expr: z.string(),
  range: z.boolean().optional(),
  instant: z.boolean().optional(),
  legendFormat: z.string().optional(),
})

const fieldConfig = z.looseObject({
  defaults: z.looseObject({ custom: own.optional() }),
  overrides: z.array(
    z.looseObject({
      matcher: z.looseObject({ id: z.string(), options: z.unknown() }),
      properties: z.array(z.looseObject({ id: z.string(), value: z.unknown() })),
    }),
  ),
})

const gridPos = z.strictObject({ x: z.int(), y: z.int(), w: z.int(), h: z.int() })

const visualPanel = z.looseObject({
  id: z.int(),
  type: z.enum(['stat', 'bargauge', 'timeseries', 'state-timeline', 'table']),
  title: z.string().optional(),
  description: z.string().optional(),
  gridPos,
  targets: z.array(target).optional(),
  links: z.array(own).optional(),
  options: own.optional(),
  fieldConfig: fieldConfig.optional(),
})

const rowPanel = z.looseObject({
  id: z.int(),
  type: z.literal('row'),
  title: z.string(),
  gridPos,
  panels: z.array(visualPanel),
})

const variable = z.looseObject({
  name: z.string(),
  type: z.enum(['datasource', 'query']),
  label: z.string(),
  query: z.union([z.string(), z.strictObject({ query: z.string(), refId: z.string() })]),
  multi: z.boolean(),
  includeAll: z.boolean(),
  allValue: z.string().optional(),
})

const annotation = z.looseObject({
  name: z.string(),
  enable: z.boolean(),
  iconColor: z.string(),
  expr: z.string(),
  titleFormat: z.string(),
  textFormat: z.string(),
  useValueForTime: z.union([z.boolean(), z.string()]),
})

export const dashboardSchema = z.looseObject({
  title: z.string(),
  time: z.strictObject({ from: z.string(), to: z.string() }),
  links: z.array(own),
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
