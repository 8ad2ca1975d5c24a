import type { Rule } from './findings.ts'
import { committed, type Dashboard, dashboardSchema, type Panel, panelsOf } from './model.ts'

/** A fault that is put into a dashboard, and what must be said of it: its rule, and words of its sentence. */
export interface Fault {
  readonly name: string
  readonly rule: Rule
  readonly says: string
  /** What cannot but follow from it. */
  readonly follows?: Rule
  plant(dashboard: Dashboard): void
}

/** A graph of one expression that is well: faults are put into it, whatever the dashboards become. */
const GRAPH: Panel = {
  id: 9000,
  type: 'timeseries',
  title: 'Planted',
  description:
    'Blocks a second as the agent measures them; when it falls look at consensus.\n\n[ChainBlockStalled](https://chain-agent.example/runbooks/ChainBlockStalled)',
  datasource: { type: 'prometheus', uid: '${datasource}' },
  gridPos: { x: 0, y: 9000, w: 24, h: 8 },
  targets: [
    {
      refId: 'A',
      datasource: { type: 'prometheus', uid: '${datasource}' },
      expr: 'chain_blocks_per_second{job=~"$job", instance=~"$instance"}',
      legendFormat: 'blocks a second',
      range: true,
    },
  ],
  fieldConfig: { defaults: { unit: 'reqps', noValue: 'no data' }, overrides: [] },
}

/** The node's dashboard as it is committed, with that graph at its end. */
export const withGraph = (): Dashboard => {
  const dashboard = dashboardSchema.parse(committed().get('node'))
  return { ...dashboard, panels: [...dashboard.panels, structuredClone(GRAPH)] }
}

/** The same with nothing else in it, so that nothing else is asked. */
export const alone = (): Dashboard => ({
  ...withGraph(),
  annotations: { list: [] },
  panels: [structuredClone(GRAPH)],
})

const planted = (dashboard: Dashboard): Panel => {
  const panel = panelsOf(dashboard).find(({ id }) => id === GRAPH.id)
  if (!panel) throw new Error('the planted panel is gone')
  return panel
}

export const ask =
  (expr: string, legendFormat = 'blocks') =>
  (dashboard: Dashboard): void => {
    for (const target of planted(dashboard).targets ?? []) {
      target.expr = expr
      target.legendFormat = legendFormat
    }
  }

export const change =
  (what: (panel: Panel) => void) =>
  (dashboard: Dashboard): void =>
    what(planted(dashboard))

export const SCOPE = 'job=~"$job", instance=~"$instance"'
