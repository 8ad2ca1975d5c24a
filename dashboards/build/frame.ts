/* oxlint-disable typescript/no-deprecated -- the alternative of the SDK writes v2, which Grafana before 12 does not read */
import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
  type Dashboard,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { annotations } from './annotations.ts'
import { ALERT_LIST, type DashboardName, panelIdOf, toPanel, uidOf } from './links.ts'
import { DATASOURCE, type Placed } from './panels/panel.ts'
import { runbookIndex } from './rules.ts'

export interface Row {
  /** Only the first row of a dashboard has none: its panels begin at the top. */
  readonly title?: string
  readonly panels: readonly Placed[]
  readonly collapsed?: boolean
}

interface Frame {
  readonly name: DashboardName
  readonly description: string
  readonly from: string
  readonly rows: readonly Row[]
}

const TAG = 'chain-agent'

/** The newest schema that Grafana 10.4 reads. A newer Grafana migrates it; an older one does not read a newer schema. */
const SCHEMA = 39
const OLDEST_GRAFANA = '10.4.0'

const TITLES: Readonly<Record<DashboardName, string>> = {
  fleet: 'Chain fleet',
  node: 'Chain node',
  consensus: 'Chain node: consensus and execution',
  storage: 'Chain node: storage and host',
  'query-service': 'Chain query service',
  duties: 'Chain duties and objective',
  staking: 'Chain staking',
  agent: 'Chain agent',
}

/** Dashboards on which several nodes can be selected. */
const OF_MANY: readonly DashboardName[] = ['fleet', 'duties', 'staking', 'agent']

/** A dashboard: its rows, and the settings that all dashboards share. */
export const frame = ({ name, description, from, rows }: Frame) => {
  const many = OF_MANY.includes(name)
  const builder = new DashboardBuilder(TITLES[name])
    .uid(uidOf(name))
    .description(description)
    .tags([TAG])
    .readonly()
    .timezone('browser')
    .refresh('30s')
    .time({ from, to: 'now' })
    .tooltip(DashboardCursorSync.Crosshair)
    .links(linksOf(name))
    .variables([datasource(), job(), cluster(), instance(many)])
    .annotations(annotations(many))
  for (const row of rows) add(builder, row)
  const dashboard = builder.build()
  identify(dashboard)
  clean(dashboard)
  linkAlerts(name, dashboard)
  return { __requires: requirementsOf(dashboard), ...dashboard, schemaVersion: SCHEMA }
}

const add = (builder: DashboardBuilder, { title, panels, collapsed = false }: Row): void => {
  checkLines(title ?? 'the first row', panels)
  if (title !== undefined) {
    const row = new RowBuilder(title)
    if (collapsed) for (const { panel } of panels) row.withPanel(panel)
    builder.withRow(row)
  }
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

const allPanels = ({ panels = [] }: Dashboard) =>
  panels.flatMap((panel) => ('panels' in panel ? [panel, ...panel.panels] : [panel]))

const identify = (dashboard: Dashboard): void => {
  const titles = new Map<number, string>()
  for (const panel of allPanels(dashboard)) {
    const title = 'panels' in panel ? `row ${panel.title ?? ''}` : (panel.title ?? '')
    panel.id = panelIdOf(title)
    const other = titles.get(panel.id)
    if (other !== undefined) throw new Error(`${dashboard.title ?? ''}: ${title} and ${other} have the same id`)
    titles.set(panel.id, title)
  }
}

/** Removes what the SDK writes although it is Grafana's default, or is not in the schema of Grafana. */
const clean = (dashboard: Dashboard): void => {
  for (const variable of dashboard.templating?.list ?? []) {
    delete variable.auto
    delete variable.auto_min
    delete variable.auto_count
  }
  // The SDK puts links and annotations into a menu; here they are always visible.
  for (const one of [...(dashboard.links ?? []), ...(dashboard.annotations?.list ?? [])]) delete one.placement
  for (const panel of allPanels(dashboard)) {
    if ('panels' in panel) continue
    delete panel.transparent
    delete panel.repeatDirection
    // Grafana 13 has no such option any more; the footer of a table is a setting of its fields.
    const options: unknown = panel.options
    if (typeof options === 'object' && options !== null) Object.assign(options, { footer: undefined })
    const { defaults } = panel.fieldConfig ?? {}
    if (defaults?.links) Object.assign(defaults, { links: defaults.links.map(({ title, url }) => ({ title, url })) })
  }
}

/** From each panel to the alerts that fire on the selected nodes; from there to the runbook, which has the panel. */
const linkAlerts = (name: DashboardName, dashboard: Dashboard): void => {
  for (const panel of allPanels(dashboard))
    if (!('panels' in panel) && panel.title !== ALERT_LIST) Object.assign(panel, { links: [toPanel(name, ALERT_LIST)] })
}

const requirementsOf = (dashboard: Dashboard) => {
  const types = allPanels(dashboard).flatMap((panel) => ('panels' in panel ? [] : [panel.type]))
  return [
    { type: 'grafana', id: 'grafana', name: 'Grafana', version: OLDEST_GRAFANA },
    { type: 'datasource', id: 'prometheus', name: 'Prometheus', version: OLDEST_GRAFANA },
    ...[...new Set(types)].toSorted().map((id) => ({ type: 'panel', id, name: id, version: '' })),
  ]
}

/**
 * Links between the dashboards. A node that is selected on one is selected on the next: several where several can be
 * selected, otherwise one, and none where it would select one of many.
 */
const linksOf = (from: DashboardName): DashboardLinkBuilder[] => [
  ...Object.entries(TITLES)
    .filter(([name]) => name !== from)
    .map(([name, title]) => {
      const keepsNode = name !== 'fleet' && (!isOfMany(from) || isOfMany(name))
      const instances = keepsNode ? '&${instance:queryparam}' : ''
      return new DashboardLinkBuilder(title)
        .icon('dashboard')
        .url(`/d/chain-${name}?\${datasource:queryparam}&var-job=\${job}&\${cluster:queryparam}${instances}`)
        .keepTime(true)
    }),
  new DashboardLinkBuilder('Runbooks')
    .icon('doc')
    .tooltip('What each alert means, and what to do')
    .url(runbookIndex())
    .targetBlank(true),
]

const isOfMany = (name: string): boolean => OF_MANY.some((one) => one === name)

const datasource = (): DatasourceVariableBuilder =>
  new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus')

const job = (): QueryVariableBuilder =>
  choice('job', 'label_values(chain_agent_build_info, job)')
    .label('Job')
    .current({ selected: true, text: TAG, value: TAG })

const ALL = { selected: true, text: 'All', value: '$__all' }

/** The label that deploy/prometheus/targets gives to nodes. `.*` also selects the nodes that have none. */
const cluster = (): QueryVariableBuilder =>
  choice('cluster', 'label_values(up{job=~"$job"}, cluster)')
    .label('Cluster')
    .includeAll(true)
    .allValue('.*')
    .current(ALL)

/** All are listed by name, without a pattern for all, so that the cluster limits them. */
const instance = (many: boolean): QueryVariableBuilder => {
  const variable = choice('instance', 'label_values(up{job=~"$job", cluster=~"$cluster"}, instance)')
  return many ? variable.label('Nodes').multi(true).includeAll(true).current(ALL) : variable.label('Node')
}

const choice = (name: string, query: string): QueryVariableBuilder =>
  new QueryVariableBuilder(name)
    .datasource(DATASOURCE)
    .query({ query, refId: name })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc)
