import { type Rule, RULES } from './findings.ts'
import { committed, type Dashboard, dashboardSchema, type Panel, panelsOf } from './model.ts'

type Plant = (dashboard: Dashboard) => void

/** A fault that is planted into a dashboard, and the expected finding: its rule and part of its text. */
interface Fault {
  readonly rule: Rule
  readonly says: string
  readonly plant: Plant
}

const SCOPE = 'job=~"$job", cluster=~"$cluster", instance=~"$instance"'

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
      expr: `chain_blocks_per_second{${SCOPE}}`,
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

/** `SCOPE` in the expression stands for the selection of nodes. */
const ask =
  (expr: string, legendFormat = 'blocks'): Plant =>
  (dashboard) => {
    for (const target of planted(dashboard).targets ?? []) {
      target.expr = expr.replaceAll('SCOPE', SCOPE)
      target.legendFormat = legendFormat
    }
  }

export const change =
  (what: (panel: Panel) => void): Plant =>
  (dashboard) =>
    what(planted(dashboard))

const linkTo = (url: string): Plant => change((panel) => (panel.links = [{ title: 'Node', url }]))

type Row = readonly [says: string, plant: Plant]

const faultsOf = (faults: Partial<Record<Rule, readonly Row[]>>): readonly Fault[] =>
  RULES.flatMap((rule) => (faults[rule] ?? []).map(([says, plant]) => ({ rule, says, plant })))

/** Faults that the lint detects without a Prometheus. */
export const FAULTS = faultsOf({
  metric: [
    ['no source exposes or records chain_blocks_per_minute', ask('chain_blocks_per_minute{SCOPE}')],
    ['no source exposes or records instance:chain_block_age:minutes', ask('instance:chain_block_age:minutes{SCOPE}')],
    ['chain_blocks_per_second has no label tag', ask('chain_blocks_per_second{SCOPE, tag="latest"}')],
    ['tag of chain_rpc_block_number is never "newest"', ask('chain_rpc_block_number{SCOPE, tag=~"latest|newest"}')],
    ['no metric has the label host', ask('max by (host) (chain_blocks_per_second{SCOPE})')],
    [
      'le of chain_ledger_finality_seconds_bucket is never "7"',
      ask('rate(chain_ledger_finality_seconds_bucket{SCOPE, le="7"}[$__rate_interval])'),
    ],
  ],
  many: [['its topk chooses again at each step; expected @ end()', ask('topk(10, chain_blocks_per_second{SCOPE})')]],
  rate: [
    ['chain_execution_gas_total is a counter; expected its rate or increase', ask('chain_execution_gas_total{SCOPE}')],
    [
      'chain_blocks_per_second is a gauge; expected no rate of it',
      ask('rate(chain_blocks_per_second{SCOPE}[$__rate_interval])'),
    ],
    [
      'the rate of chain_execution_gas_total is over 1m; expected $__rate_interval',
      ask('rate(chain_execution_gas_total{SCOPE}[1m])'),
    ],
    [
      'chain_ledger_finality_seconds_bucket is summed without le',
      ask(
        `histogram_quantile(0.5, sum by (job) (rate(chain_ledger_finality_seconds_bucket{SCOPE}[$__rate_interval])))`,
      ),
    ],
  ],
  unit: [
    ['its unit is missing', change((panel) => delete panel.fieldConfig?.defaults.unit)],
    [
      'its unit is missing',
      change(({ fieldConfig }) => {
        if (!fieldConfig) return
        delete fieldConfig.defaults.unit
        fieldConfig.defaults.mappings = [{ type: 'special', options: { match: 'null' } }]
      }),
    ],
    [
      'its unit is "seconds"',
      change((panel) => {
        if (panel.fieldConfig) panel.fieldConfig.defaults.unit = 'seconds'
      }),
    ],
  ],
  legend: [
    ['its legend calculates lastNotNull', change((panel) => (panel.options = { legend: { calcs: ['lastNotNull'] } }))],
  ],
  words: [
    ['its description is missing or too short', change((panel) => delete panel.description)],
    [
      'its description names no alert with a runbook',
      change((panel) => (panel.description = 'Blocks a second, and some more words so that it is long.')),
    ],
  ],
  link: [
    [
      'leads to a runbook that there is not',
      change(
        (panel) => (panel.description = panel.description?.replaceAll('ChainBlockStalled', 'ChainBlockStaled') ?? ''),
      ),
    ],
    ['leads to the dashboard "chain-nodes", which there is not', linkTo('/d/chain-nodes?var-instance=a')],
    ['sets the variable "node", which the dashboard "chain-node" has not', linkTo('/d/chain-node?var-node=a')],
    ['shows the panel 7, which the dashboard "chain-node" has not', linkTo('/d/chain-node?viewPanel=7')],
  ],
  contrast: [
    [
      'text on #E69F00 has a contrast of 2.1; expected 4.5',
      change((panel) => {
        panel.type = 'stat'
        panel.options = { colorMode: 'background_solid' }
        if (panel.fieldConfig) {
          panel.fieldConfig.defaults.thresholds = { mode: 'absolute', steps: [{ value: null, color: '#E69F00' }] }
        }
        for (const target of panel.targets ?? []) Object.assign(target, { range: false, instant: true })
      }),
    ],
  ],
})

/** Faults that only a Prometheus shows. */
export const ANSWER_FAULTS = faultsOf({
  empty: [
    ['it shows nothing: no series answers', ask('chain_blocks_per_second{SCOPE} > 1000')],
    ['it shows nothing: 1 series, and no number in them', ask('chain_block_difference{SCOPE} * 0 / 0')],
    [
      'variable "job": it has no values to choose',
      ({ templating }) => {
        for (const variable of templating.list)
          if (variable.name === 'job') variable.query = 'label_values(chain_agent_build_inf, job)'
      },
    ],
  ],
  query: [
    [
      'Prometheus refuses it: ',
      ask('chain_service_active{SCOPE} * on (job) chain_service_tasks{SCOPE}', '{{service}}'),
    ],
    ['the variable $tag is not defined', ask('chain_rpc_block_number{SCOPE, tag=~"$tag"}', '{{tag}}')],
  ],
  legend: [
    ['its legend asks for node, which 1 of 1 series lack', ask('chain_blocks_per_second{SCOPE}', '{{node}}')],
    [
      'its legend asks for tag, which 1 of 4 series lack',
      ask('chain_rpc_block_number{SCOPE} or chain_consensus_block_number{SCOPE}', 'height {{tag}}'),
    ],
    ['6 series, and several are called "bft and others"', ask('chain_service_active{SCOPE}', 'bft and others')],
    [
      'two of its targets give a series called "blocks a second"',
      change(({ targets = [] }) => {
        const [first] = targets
        if (first) targets.push({ ...first, refId: 'B' })
      }),
    ],
  ],
  many: [['lines; expected 50 at most', ask('chain_log_pattern_total{SCOPE}', '{{service}} {{pattern}}')]],
  style: [
    [
      'its line "safe" has no colour',
      (dashboard) => {
        ask('chain_rpc_block_number{SCOPE}', '{{tag}}')(dashboard)
        change(({ fieldConfig }) => {
          if (!fieldConfig) return
          const matchers = ['latest', 'finalized'].map((options) => ({ id: 'byName', options }))
          fieldConfig.overrides = matchers.map((matcher) => ({ matcher, properties: [] }))
        })(dashboard)
      },
    ],
  ],
})
