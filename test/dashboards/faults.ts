import { ask, change, type Fault, SCOPE } from './fault-fixtures.ts'

/** Faults that the lint detects without a Prometheus. */
export const FAULTS: readonly Fault[] = [
  {
    rule: 'metric',
    says: 'no source exposes or records chain_blocks_per_minute',
    plant: ask(`chain_blocks_per_minute{${SCOPE}}`),
  },
  {
    rule: 'metric',
    says: 'no source exposes or records instance:chain_block_age:minutes',
    plant: ask(`instance:chain_block_age:minutes{${SCOPE}}`),
  },
  {
    rule: 'metric',
    says: 'chain_blocks_per_second has no label tag',
    plant: ask(`chain_blocks_per_second{${SCOPE}, tag="latest"}`),
  },
  {
    rule: 'metric',
    says: 'tag of chain_rpc_block_number is never "newest"',
    plant: ask(`chain_rpc_block_number{${SCOPE}, tag=~"latest|newest"}`),
  },
  {
    rule: 'metric',
    says: 'no metric has the label host',
    plant: ask(`max by (host) (chain_blocks_per_second{${SCOPE}})`),
  },
  {
    rule: 'metric',
    says: 'le of chain_ledger_finality_seconds_bucket is never "7"',
    plant: ask(`rate(chain_ledger_finality_seconds_bucket{${SCOPE}, le="7"}[$__rate_interval])`),
  },
  {
    rule: 'many',
    says: 'its topk chooses again at each step; expected @ end()',
    plant: ask(`topk(10, chain_blocks_per_second{${SCOPE}})`),
  },
  {
    rule: 'rate',
    says: 'chain_execution_gas_total is a counter; expected its rate or increase',
    plant: ask(`chain_execution_gas_total{${SCOPE}}`),
  },
  {
    rule: 'rate',
    says: 'chain_blocks_per_second is a gauge; expected no rate of it',
    plant: ask(`rate(chain_blocks_per_second{${SCOPE}}[$__rate_interval])`),
  },
  {
    rule: 'rate',
    says: 'the rate of chain_execution_gas_total is over 1m; expected $__rate_interval',
    plant: ask(`rate(chain_execution_gas_total{${SCOPE}}[1m])`),
  },
  {
    rule: 'rate',
    says: 'chain_ledger_finality_seconds_bucket is summed without le',
    plant: ask(
      `histogram_quantile(0.5, sum by (job) (rate(chain_ledger_finality_seconds_bucket{${SCOPE}}[$__rate_interval])))`,
    ),
  },
  {
    rule: 'unit',
    says: 'its unit is missing',
    plant: change((panel) => delete panel.fieldConfig?.defaults.unit),
  },
  {
    rule: 'unit',
    says: 'its unit is missing',
    plant: change(({ fieldConfig }) => {
      if (!fieldConfig) return
      delete fieldConfig.defaults.unit
      fieldConfig.defaults.mappings = [{ type: 'special', options: { match: 'null' } }]
    }),
  },
  {
    rule: 'unit',
    says: 'its unit is "seconds"',
    plant: change((panel) => {
      if (panel.fieldConfig) panel.fieldConfig.defaults.unit = 'seconds'
    }),
  },
  {
    rule: 'legend',
    says: 'its legend calculates lastNotNull',
    plant: change((panel) => {
      panel.options = { legend: { calcs: ['lastNotNull'] } }
    }),
  },
  {
    rule: 'words',
    says: 'its description is missing or too short',
    plant: change((panel) => delete panel.description),
  },
  {
    rule: 'words',
    says: 'its description names no alert with a runbook',
    plant: change((panel) => {
      panel.description = 'Blocks a second, and some more words so that it is long.'
    }),
  },
  {
    rule: 'link',
    says: 'leads to a runbook that there is not',
    plant: change((panel) => {
      panel.description = panel.description?.replaceAll('ChainBlockStalled', 'ChainBlockStaled') ?? ''
    }),
  },
  {
    rule: 'link',
    says: 'leads to the dashboard "chain-nodes", which there is not',
    plant: change((panel) => {
      panel.links = [{ title: 'Node', url: '/d/chain-nodes?var-instance=a' }]
    }),
  },
  {
    rule: 'link',
    says: 'sets the variable "node", which the dashboard "chain-node" has not',
    plant: change((panel) => {
      panel.links = [{ title: 'Node', url: '/d/chain-node?var-node=a' }]
    }),
  },
  {
    rule: 'link',
    says: 'shows the panel 7, which the dashboard "chain-node" has not',
    plant: change((panel) => {
      panel.links = [{ title: 'Node', url: '/d/chain-node?viewPanel=7' }]
    }),
  },
  {
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
]
