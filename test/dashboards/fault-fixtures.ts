import type { Rule } from './findings.ts'
import { committed, type Dashboard, dashboardSchema, type Panel, panelsOf } from './model.ts'

/** A fault that is planted into a dashboard, and the expected finding: its rule and part of its text. */
export interface Fault {
  readonly rule: Rule
  readonly says: string
  plant(dashboard: Dashboard): void
}

/** A correct graph of one expression, into which faults are planted, independent of the dashboards. */
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
      expr: 'chain_blocks_per_second{job=~"$job", cluster=~"$cluster", instance=~"$instance"}',
      legendFormat: 'blocks a second',
      range: true,
    },
  ],
  fieldConfig: {
    defaults: { unit: 'reqps', noValue: 'no data' },
    overrides: [{ matcher: { id: 'byRegexp', options: '/.*/' }, properties: [] }],
  },
}

/** The committed dashboard of a node, with that graph at its end. */
export const withGraph = (): Dashboard => {
  const dashboard = dashboardSchema.parse(committed().get('node'))
  return { ...dashboard, panels: [...dashboard.panels, structuredClone(GRAPH)] }
}

/** Only that graph, so that nothing else is queried. */
export const alone = (): Dashboard => ({
  ...withGraph(),
  links: [],
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

export const SCOPE = 'job=~"$job", cluster=~"$cluster", instance=~"$instance"'
