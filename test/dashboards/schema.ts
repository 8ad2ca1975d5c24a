import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../support/programs.ts'
import { type Dashboard, type Panel } from './model.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SCHEMA = join(fileURLToPath(import.meta.resolve('@grafana/schema/package.json')), '../dist/types')

/** The module of each panel type in the schema. */
const MODULES: Readonly<Record<string, string>> = {
  bargauge: 'bargauge',
  stat: 'stat',
  'state-timeline': 'statetimeline',
  table: 'table',
  timeseries: 'timeseries',
}

/** Panel types that have no settings of single fields. */
const WITHOUT_FIELDS: readonly string[] = ['bargauge', 'stat']

/**
 * In JSON, a member of an enum is its value. Everything is optional, because Grafana adds its defaults when it loads a
 * dashboard.
 */
const HEAD = `
import type { Dashboard, DataSourceRef, FieldConfig, Panel, RowPanel } from '${SCHEMA}'
${Object.values(MODULES)
  .map((name) => `import type * as ${name} from '${SCHEMA}/raw/composable/${name}/panelcfg/x/types.gen.d.ts'`)
  .join('\n')}
type Json<T> = T extends string ? \`\${T}\`
  : T extends number ? (number extends T ? number : \`\${T}\` extends \`\${infer N extends number}\` ? N : never)
  : T extends readonly (infer I)[] ? Json<I>[]
  : T extends object ? { [K in keyof T]?: Json<T[K]> }
  : T
type Annotations = NonNullable<NonNullable<Dashboard['annotations']>['list']>
`

/** What the schema leaves to the data source. */
const OF_PROMETHEUS =
  '{ expr: string; step: string; titleFormat: string; textFormat: string; tagKeys: string; useValueForTime: boolean }'

/** What the compiler reports if the dashboard is not of the types that Grafana publishes; empty if it is. */
export const typeErrors = async (dashboard: Dashboard, directory: string): Promise<string> => {
  // `__requires` is for grafana.com.
  const { panels, annotations, __requires: _, ...rest } = dashboard
  const statements = [
    satisfies(rest, 'Json<Dashboard>'),
    ...annotations.list.map((one) => satisfies(one, `Json<Annotations[number]> & ${OF_PROMETHEUS}`)),
    ...panels.flatMap((panel) =>
      panel.type === 'row'
        ? [satisfies({ ...panel, panels: [] }, 'Json<RowPanel>'), ...panel.panels.flatMap(checksOf)]
        : checksOf(panel),
    ),
  ]
  const file = join(directory, 'dashboard.ts')
  await writeFile(file, [HEAD, ...statements, ''].join('\n'))
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'preserve', '--types', '']
  const { stdout } = await run(join(ROOT, 'node_modules/.bin/tsc'), [...options, file])
  return stdout
}

const checksOf = ({ options = {}, targets, fieldConfig, ...panel }: Panel): readonly string[] => {
  const module = MODULES[panel.type]
  if (module === undefined) throw new Error(`the module of ${panel.type} in the schema is not known`)
  if (targets === undefined) throw new Error(`${panel.title ?? ''} has no queries`)
  const { custom = {}, ...defaults } = fieldConfig?.defaults ?? {}
  const fields = WITHOUT_FIELDS.includes(panel.type) ? '{}' : `Json<${module}.FieldConfig>`
  return [
    satisfies(panel, 'Json<Panel>'),
    // Those of the queries are types of the data source.
    ...targets.map(({ datasource = {} }) => satisfies(datasource, 'Json<DataSourceRef>')),
    satisfies(options, `Json<${module}.Options>`),
    satisfies(defaults, `Json<Omit<FieldConfig, 'custom'>>`),
    satisfies(custom, fields),
    ...(fieldConfig?.overrides ?? [])
      .flatMap(({ properties }) => properties)
      .filter(({ id }) => id !== BEFORE_12_2)
      .map(({ id, value }) =>
        id.startsWith('custom.')
          ? satisfies(nested(id.split('.').slice(1), value), fields)
          : satisfies({ [id]: value }, `Json<Omit<FieldConfig, 'custom'>>`),
      ),
  ]
}

/** The schema has its successor `hideFrom.viz`, which the dashboards set, too. */
const BEFORE_12_2 = 'custom.hidden'

const nested = ([key = '', ...rest]: readonly string[], value: unknown): object => ({
  [key]: rest.length === 0 ? value : nested(rest, value),
})

const satisfies = (value: object, type: string): string => `void (${JSON.stringify(value)} satisfies ${type})`
