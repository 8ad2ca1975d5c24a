import { ask, change, type Fault, SCOPE } from './fault-fixtures.ts'

/** Faults that only a Prometheus shows. */
export const ANSWER_FAULTS: readonly Fault[] = [
  {
    name: 'a panel that stays empty',
    rule: 'empty',
    says: 'it shows nothing: no series answers',
    plant: ask(`chain_blocks_per_second{${SCOPE}} > 1000`),
  },
  {
    name: 'a panel of no number',
    rule: 'empty',
    says: 'it shows nothing: 1 series, and no number in them',
    plant: ask(`chain_block_difference{${SCOPE}} * 0 / 0`),
  },
  {
    name: 'a query that Prometheus refuses',
    rule: 'query',
    says: 'Prometheus refuses it: ',
    plant: ask(`chain_service_active{${SCOPE}} * on (job) chain_service_tasks{${SCOPE}}`, '{{service}}'),
  },
  {
    name: 'a variable that there is not',
    rule: 'query',
    says: 'the variable $tag is not defined',
    plant: ask(`chain_rpc_block_number{${SCOPE}, tag=~"$tag"}`, '{{tag}}'),
  },
  {
    name: 'a legend of a label that is not there',
    rule: 'legend',
    says: 'its legend asks for node, which 1 of 1 series lack',
    plant: ask(`chain_blocks_per_second{${SCOPE}}`, '{{node}}'),
  },
  {
    name: 'a legend of a label that some series lack',
    rule: 'legend',
    says: 'its legend asks for tag, which 1 of 4 series lack',
    plant: ask(`chain_rpc_block_number{${SCOPE}} or chain_consensus_block_number{${SCOPE}}`, 'height {{tag}}'),
  },
  {
    name: 'one name for several lines',
    rule: 'legend',
    says: '6 series, and several are called "bft and others"',
    plant: ask(`chain_service_active{${SCOPE}}`, 'bft and others'),
  },
  {
    name: 'one name for two targets',
    rule: 'legend',
    says: 'two of its targets give a series called "blocks a second"',
    plant: change(({ targets = [] }) => {
      const [first] = targets
      if (first) targets.push({ ...first, refId: 'B' })
    }),
  },
  {
    name: 'more lines than can be told apart',
    rule: 'many',
    says: 'lines; expected 50 at most',
    plant: ask(`chain_log_pattern_total{${SCOPE}}`, '{{service}} {{pattern}}'),
  },
  {
    name: 'a line without a style of its own',
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
    name: 'a variable without values',
    rule: 'empty',
    says: 'variable "job": it has no values to choose',
    plant: ({ templating }) => {
      for (const variable of templating.list)
        if (variable.name === 'job') variable.query = 'label_values(chain_agent_build_inf, job)'
    },
  },
]
