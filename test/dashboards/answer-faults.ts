import { ask, change, type Fault, SCOPE } from './fault-fixtures.ts'

/** Faults that only a Prometheus shows. */
export const ANSWER_FAULTS: readonly Fault[] = [
  {
    rule: 'empty',
    says: 'it shows nothing: no series answers',
    plant: ask(`chain_blocks_per_second{${SCOPE}} > 1000`),
  },
  {
    rule: 'empty',
    says: 'it shows nothing: 1 series, and no number in them',
    plant: ask(`chain_block_difference{${SCOPE}} * 0 / 0`),
  },
  {
    rule: 'query',
    says: 'Prometheus refuses it: ',
    plant: ask(`chain_service_active{${SCOPE}} * on (job) chain_service_tasks{${SCOPE}}`, '{{service}}'),
  },
  {
    rule: 'query',
    says: 'the variable $tag is not defined',
    plant: ask(`chain_rpc_block_number{${SCOPE}, tag=~"$tag"}`, '{{tag}}'),
  },
  {
    rule: 'legend',
    says: 'its legend asks for node, which 1 of 1 series lack',
    plant: ask(`chain_blocks_per_second{${SCOPE}}`, '{{node}}'),
  },
  {
    rule: 'legend',
    says: 'its legend asks for tag, which 1 of 4 series lack',
    plant: ask(`chain_rpc_block_number{${SCOPE}} or chain_consensus_block_number{${SCOPE}}`, 'height {{tag}}'),
  },
  {
    rule: 'legend',
    says: '6 series, and several are called "bft and others"',
    plant: ask(`chain_service_active{${SCOPE}}`, 'bft and others'),
  },
  {
    rule: 'legend',
    says: 'two of its targets give a series called "blocks a second"',
    plant: change(({ targets = [] }) => {
      const [first] = targets
      if (first) targets.push({ ...first, refId: 'B' })
    }),
  },
  {
    rule: 'many',
    says: 'lines; expected 50 at most',
    plant: ask(`chain_log_pattern_total{${SCOPE}}`, '{{service}} {{pattern}}'),
  },
  {
    rule: 'style',
    says: 'its line "safe" has no colour',
    plant: (dashboard) => {
      ask(`chain_rpc_block_number{${SCOPE}}`, '{{tag}}')(dashboard)
      change(({ fieldConfig }) => {
        if (!fieldConfig) return
        fieldConfig.overrides = ['latest', 'finalized'].map((options) => ({
          matcher: { id: 'byName', options },
          properties: [],
        }))
      })(dashboard)
    },
  },
  {
    rule: 'empty',
    says: 'variable "job": it has no values to choose',
    plant: ({ templating }) => {
      for (const variable of templating.list)
        if (variable.name === 'job') variable.query = 'label_values(chain_agent_build_inf, job)'
    },
  },
]
