import { ask, change, type Fault, SCOPE } from './fault-fixtures.ts'

/** Faults that the lint detects without a Prometheus. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'a metric that there is not',
    rule: 'metric',
    says: 'no source exposes or records chain_blocks_per_minute',
    plant: ask(`chain_blocks_per_minute{${SCOPE}}`),
  },
  {
    name: 'a recorded series that no rule records',
    rule: 'metric',
    says: 'no source exposes or records instance:chain_block_age:minutes',
    plant: ask(`instance:chain_block_age:minutes{${SCOPE}}`),
  },
  {
    name: 'a label that the metric has not',
    rule: 'metric',
    says: 'chain_blocks_per_second has no label tag',
    plant: ask(`chain_blocks_per_second{${SCOPE}, tag="latest"}`),
  },
  {
    name: 'a value that the label never has',
    rule: 'metric',
    says: 'tag of chain_rpc_block_number is never "newest"',
    plant: ask(`chain_rpc_block_number{${SCOPE}, tag=~"latest|newest"}`),
  },
  {
    name: 'a grouping by a label that there is not',
    rule: 'metric',
    says: 'no metric has the label host',
    plant: ask(`max by (host) (chain_blocks_per_second{${SCOPE}})`),
  },
  {
    name: 'a bucket that the histogram has not',
    rule: 'metric',
    says: 'le of chain_ledger_finality_seconds_bucket is never "7"',
    plant: ask(`rate(chain_ledger_finality_seconds_bucket{${SCOPE}, le="7"}[$__rate_interval])`),
  },
  {
    name: 'no PromQL',
    rule: 'promql',
    says: 'it is no PromQL',
    plant: ask(`sum(chain_blocks_per_second{${SCOPE}}`),
  },
  {
    name: 'a selector without the variables',
    rule: 'scope',
    says: 'chain_blocks_per_second is asked without instance=~"$instance"',
    plant: ask('chain_blocks_per_second{job=~"$job", cluster=~"$cluster"}'),
  },
  {
    name: 'a sum over all nodes that is not the one that must be',
    rule: 'scope',
    says: 'chain_duty_identity_active is asked without job=~"$job"',
    plant: ask(`sum(chain_duty_identity_active{cluster=~"$cluster", instance=~"$instance"})`),
  },
  {
    name: 'a selector without the cluster',
    rule: 'scope',
    says: 'chain_blocks_per_second is asked without cluster=~"$cluster"',
    plant: ask('chain_blocks_per_second{job=~"$job", instance=~"$instance"}'),
  },
  {
    name: 'a grouping by node that merges nodes of the same name',
    rule: 'scope',
    says: 'it groups or matches by instance without cluster',
    plant: ask(`max by (job, instance) (chain_blocks_per_second{${SCOPE}})`),
  },
  {
    name: 'the worst of each moment, over time',
    rule: 'many',
    says: 'its topk chooses again at each step; expected @ end()',
    plant: ask(`topk(10, chain_blocks_per_second{${SCOPE}})`),
  },
  {
    name: 'all nodes, whatever the cluster',
    rule: 'variable',
    says: 'variable "instance" has the value ".*" for all; expected none',
    plant: ({ templating }) => {
      for (const variable of templating.list) if (variable.name === 'instance') variable.allValue = '.*'
    },
  },
  {
    name: 'all clusters, but not nodes without one',
    rule: 'variable',
    says: 'variable "cluster" has the value ".+" for all; expected ".*"',
    plant: ({ templating }) => {
      for (const variable of templating.list) if (variable.name === 'cluster') variable.allValue = '.+'
    },
  },
  {
    name: 'a counter as it is',
    rule: 'rate',
    says: 'chain_execution_gas_total is a counter; expected its rate or increase',
    plant: ask(`chain_execution_gas_total{${SCOPE}}`),
  },
  {
    name: 'the rate of a gauge',
    rule: 'rate',
    says: 'chain_blocks_per_second is a gauge; expected no rate of it',
    plant: ask(`rate(chain_blocks_per_second{${SCOPE}}[$__rate_interval])`),
  },
  {
    name: 'a rate over a window of its own',
    rule: 'rate',
    says: 'the rate of chain_execution_gas_total is over 1m; expected $__rate_interval',
    plant: ask(`rate(chain_execution_gas_total{${SCOPE}}[1m])`),
  },
  {
    name: 'buckets summed up without le',
    rule: 'rate',
    says: 'chain_ledger_finality_seconds_bucket is summed without le',
    plant: ask(
      `histogram_quantile(0.5, sum by (job) (rate(chain_ledger_finality_seconds_bucket{${SCOPE}}[$__rate_interval])))`,
    ),
  },
  {
    name: 'no unit',
    rule: 'unit',
    says: 'its unit is missing',
    plant: change((panel) => delete panel.fieldConfig?.defaults.unit),
  },
  {
    name: 'no unit, and a word for the unknown alone',
    rule: 'unit',
    says: 'its unit is missing',
    plant: change(({ fieldConfig }) => {
      if (!fieldConfig) return
      delete fieldConfig.defaults.unit
      fieldConfig.defaults.mappings = [{ type: 'special', options: { match: 'null' } }]
    }),
  },
  {
    name: 'a unit that Grafana does not know',
    rule: 'unit',
    says: 'its unit is "seconds"',
    plant: change((panel) => {
      if (panel.fieldConfig) panel.fieldConfig.defaults.unit = 'seconds'
    }),
  },
  {
    name: 'a legend with the last value of what has ended',
    rule: 'legend',
    says: 'its legend calculates lastNotNull',
    plant: change((panel) => {
      panel.options = { legend: { calcs: ['lastNotNull'] } }
    }),
  },
  {
    name: 'no description',
    rule: 'words',
    says: 'its description is missing or too short',
    plant: change((panel) => delete panel.description),
  },
  {
    name: 'a description without an alert',
    rule: 'words',
    says: 'its description names no alert with a runbook',
    plant: change((panel) => {
      panel.description = 'Blocks a second, and some more words so that it is long.'
    }),
  },
  {
    name: 'no title',
    rule: 'words',
    says: 'it has no title',
    plant: change((panel) => delete panel.title),
  },
  {
    name: 'nothing for what is unknown',
    rule: 'words',
    says: 'expected noValue',
    plant: change((panel) => delete panel.fieldConfig?.defaults.noValue),
  },
  {
    name: 'a data source by its name',
    rule: 'datasource',
    says: 'it asks "prometheus-1"; expected "${datasource}"',
    plant: change((panel) => {
      panel.datasource = { type: 'prometheus', uid: 'prometheus-1' }
    }),
  },
  {
    name: 'a target that asks another data source',
    rule: 'datasource',
    says: 'target A: it does not ask "${datasource}", as its panel does',
    plant: change((panel) => {
      for (const target of panel.targets ?? []) target.datasource = { type: 'prometheus', uid: 'other' }
    }),
  },
  {
    name: 'a panel over another',
    rule: 'grid',
    says: 'panel "Planted": it lies over panel',
    plant: change(({ gridPos }) => Object.assign(gridPos, { y: 1, w: 1, h: 1 })),
  },
  {
    name: 'a panel that is too wide',
    rule: 'grid',
    says: 'it ends beyond the 24 columns',
    plant: change(({ gridPos }) => {
      gridPos.x = 1
    }),
  },
  {
    name: 'an id twice',
    rule: 'identity',
    says: 'another panel has its id 9001, too',
    plant: (dashboard) => {
      for (const panel of dashboard.panels.slice(-2)) panel.id = 9001
    },
  },
  {
    name: 'a refId twice',
    rule: 'identity',
    says: 'another target has the same refId',
    plant: change(({ targets = [] }) => {
      const [first] = targets
      if (first) targets.push({ ...first, legendFormat: 'again' })
    }),
  },
  {
    name: 'no target',
    rule: 'target',
    says: 'it asks nothing; expected a target',
    plant: change((panel) => {
      panel.targets = []
    }),
  },
  {
    name: 'a graph of one moment',
    rule: 'target',
    says: 'it is asked at one moment, and drawn over time',
    plant: change(({ targets = [] }) => {
      for (const target of targets) Object.assign(target, { range: false, instant: true })
    }),
  },
  {
    name: 'a link to a runbook that there is not',
    rule: 'link',
    says: 'leads to a runbook that there is not',
    plant: change((panel) => {
      panel.description = panel.description?.replaceAll('ChainBlockStalled', 'ChainBlockStaled') ?? ''
    }),
  },
  {
    name: 'a link to a dashboard that there is not',
    rule: 'link',
    says: 'leads to the dashboard "chain-nodes", which there is not',
    plant: change((panel) => {
      panel.links = [{ title: 'Node', url: '/d/chain-nodes?var-instance=a' }]
    }),
  },
  {
    name: 'a link that sets a variable that there is not',
    rule: 'link',
    says: 'sets the variable "node", which the dashboard "chain-node" has not',
    plant: change((panel) => {
      panel.links = [{ title: 'Node', url: '/d/chain-node?var-node=a' }]
    }),
  },
  {
    name: 'a link to a panel that there is not',
    rule: 'link',
    says: 'shows the panel 7, which the dashboard "chain-node" has not',
    plant: change((panel) => {
      panel.links = [{ title: 'Node', url: '/d/chain-node?viewPanel=7' }]
    }),
  },
  {
    name: 'a schema that Grafana 10 does not read',
    rule: 'frame',
    says: 'its schemaVersion is 42; expected 39',
    plant: (dashboard) => {
      dashboard.schemaVersion = 42
    },
  },
  {
    name: 'alerts that are not first on a phone',
    rule: 'frame',
    says: '"What happened" is first on a phone',
    plant: ({ panels }) => {
      for (const { gridPos } of panels.slice(0, 1)) gridPos.y = 9100
    },
  },
  {
    name: 'white text on orange',
    rule: 'contrast',
    says: 'text on #E69F00 has a contrast of 2.1; expected 4.5',
    plant: change((panel) => {
      panel.type = 'stat'
      panel.options = { colorMode: 'background_solid' }
      if (panel.fieldConfig) {
        panel.fieldConfig.defaults.thresholds = { mode: 'absolute', steps: [{ value: null, color: '#E69F00' }] }
      }
      for (const target of panel.targets ?? []) Object.assign(target, { range: false, instant: true })
    }),
  },
  {
    name: 'a variable that is used nowhere',
    rule: 'variable',
    says: 'variable "network" is used nowhere',
    plant: ({ templating }) => {
      templating.list.push({ name: 'network', type: 'custom', label: 'Network', query: 'a,b' })
    },
  },
  {
    name: 'a dashboard that can be edited',
    rule: 'frame',
    says: 'it can be edited in Grafana',
    plant: (dashboard) => {
      dashboard.editable = true
    },
  },
  {
    name: 'another uid than alerts link to',
    rule: 'frame',
    says: 'its uid is "chain-nod"; expected "chain-node"',
    follows: 'link',
    plant: (dashboard) => {
      dashboard.uid = 'chain-nod'
    },
  },
  {
    name: 'a key that is misspelt',
    rule: 'shape',
    says: 'Unrecognized key: "descripton"',
    plant: change((panel) => Object.assign(panel, { descripton: 'x' })),
  },
  {
    name: 'inputs, which break provisioning from a file',
    rule: 'shape',
    says: 'Unrecognized key: "__inputs"',
    plant: (dashboard) => {
      Object.assign(dashboard, { __inputs: [] })
    },
  },
  {
    name: 'an id of a database',
    rule: 'shape',
    says: 'Unrecognized key: "id"',
    plant: (dashboard) => {
      Object.assign(dashboard, { id: 7 })
    },
  },
]
