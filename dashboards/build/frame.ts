/* oxlint-disable typescript/no-deprecated -- the alternative of the SDK writes v2, which Grafana before 12 does not read */
import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
  type Dashboard,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { annotations } from './annotations.ts'
import { DATASOURCE, type Placed } from './panels/panel.ts'
import { runbookIndex } from './rules.ts'

export interface Row {
  readonly title: string
  readonly panels: readonly Placed[]
  readonly collapsed?: boolean
}

interface Frame {
  readonly uid: string
  readonly title: string
  readonly description: string
  readonly from: string
  /** Whether several nodes can be selected. */
  readonly many: boolean
  readonly rows: readonly Row[]
}

const TAG = 'chain-agent'

/** A dashboard: its rows, and the settings that all dashboards share. */
export const frame = ({ uid, title, description, from, many, rows }: Frame): Dashboard => {
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .readonly()
    .timezone('browser')
    .refresh('30s')
    .time({ from, to: 'now' })
    .tooltip(DashboardCursorSync.Crosshair)
    .links(links())
    .variables([datasource(), job(), instance(many)])
    .annotations(annotations(many))
  for (const row of rows) add(builder, row)
  const dashboard = builder.build()
  number(dashboard)
  show(dashboard)
  return dashboard
}

const add = (builder: DashboardBuilder, { title, panels, collapsed = false }: Row): void => {
  checkLines(title, panels)
  const row = new RowBuilder(title)
  if (collapsed) for (const { panel } of panels) row.withPanel(panel)
  builder.withRow(row)
  if (!collapsed) for (const { panel } of panels) builder.withPanel(panel)
}

/** The SDK starts a new line when 24 columns are full: incomplete lines would overlap. */
const checkLines = (row: string, panels: readonly Placed[]): void => {
  let x = 0
  let height = 0
  for (const panel of panels) {
    if (x > 0 && panel.height !== height) throw new Error(`${row}: ${panel.title} is not as high as its line`)
    height = panel.height
    x += panel.width
    if (x > 24) throw new Error(`${row}: ${panel.title} does not fit into its line`)
    if (x === 24) x = 0
  }
  if (x !== 0) throw new Error(`${row}: its last line is not full`)
}

const number = ({ panels = [] }: Dashboard): void => {
  let id = 0
  for (const panel of panels) {
    id += 1
    panel.id = id
    if (!('panels' in panel)) continue
    for (const inner of panel.panels) {
      id += 1
      inner.id = id
    }
  }
}

/** The SDK puts links and annotations into a menu; here they are always visible. */
const show = ({ links: inMenu = [], annotations: { list = [] } }: Dashboard): void => {
  for (const one of [...inMenu, ...list]) delete one.placement
}

const links = (): DashboardLinkBuilder[] => [
  new DashboardLinkBuilder('Dashboards')
    .type(DashboardLinkType.Dashboards)
    .tags([TAG])
    .asDropdown(false)
    .includeVars(true)
    .keepTime(true),
  new DashboardLinkBuilder('Runbooks')
    .type(DashboardLinkType.Link)
    .icon('doc')
    .tooltip('What each alert means, and what to do')
    .url(runbookIndex())
    .targetBlank(true),
]

const datasource = (): DatasourceVariableBuilder =>
  new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus')

const job = (): QueryVariableBuilder =>
  choice('job', 'label_values(chain_agent_build_info, job)')
    .label('Job')
    .current({ selected: true, text: TAG, value: TAG })

const instance = (many: boolean): QueryVariableBuilder => {
  const variable = choice('instance', 'label_values(up{job=~"$job"}, instance)').label(many ? 'Nodes' : 'Node')
  if (!many) return variable
  return (
    variable
      .multi(true)
      .includeAll(true)
      // Includes alerts without an instance, which are about all nodes.
      .allValue('.*')
      .current({ selected: true, text: 'All', value: '$__all' })
  )
}

const choice = (name: string, query: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .datasource(DATASOURCE)
    .query({ query, refId: name })
    .definition(query)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc)
