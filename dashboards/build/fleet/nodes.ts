import { type Row } from '../frame.ts'
import { alertList } from '../overview.ts'
import { anyIs, limitsBy } from '../limits.ts'
import { OWN_TIMEOUTS_BY_NODE, OWN_TIMEOUTS_LIMITS } from '../own-timeouts.ts'
import { heightOf, table } from '../panels/table.ts'
import { ABOUT_STATES, firing, FRESH, INHIBITED, RANK, RANKS } from '../node-state.ts'
import { NODE_LABELS, TO_NODE_FROM_TABLE } from '../links.ts'
import { NONE, type ValueLabels } from '../value-labels.ts'
import { byState, EVERY_NODE, tiles } from './glance.ts'

const ONSET = `
  1000 * min by (job, instance) (
    ALERTS_FOR_STATE{severity=~"critical|warning", instance!=""}
    and ignoring (alertstate) ALERTS{alertstate="firing"}
  )`

const ROLES: ValueLabels = { 1: ['validator', 'good'], 2: ['full node', 'good'], 3: ['RPC', 'good'] }

/** The first screen: which nodes are not healthy, since when, and why. */
export const nodes: Row = {
  panels: [
    alertList({ width: 12, height: 8, many: true }),
    byState,
    ...tiles,
    table({
      title: EVERY_NODE,
      about: `Nodes with a critical alert first, then the worst state first; a click on a name opens the dashboard of the node. Window: blocks until only statesync helps. Timeouts: share of the own rounds. Alerts that a maintenance window inhibits are counted separately. ${ABOUT_STATES}`,
      alerts: ['ChainAgentDown', 'ChainBlockStalled', 'ChainBehind'],
      width: 24,
      height: heightOf(9),
      keys: { instance: 'Node' },
      hidden: NODE_LABELS,
      links: { instance: TO_NODE_FROM_TABLE },
      sortBy: { title: 'State', descending: true },
      columns: [
        { title: 'State', expr: RANK, unit: 'none', words: RANKS, width: 190 },
        { title: 'Oldest alert', expr: ONSET, unit: 'dateTimeFromNow', empty: 'none', width: 125 },
        { title: 'Critical', expr: firing('critical'), unit: 'locale', words: NONE, limits: anyIs('critical') },
        { title: 'Warnings', expr: firing('warning'), unit: 'locale', words: NONE, limits: anyIs('warning') },
        { title: 'Inhibited', expr: INHIBITED, unit: 'locale', empty: 'none' },
        {
          title: 'Block age',
          expr: 'max by (job, instance) (instance:chain_block_age:seconds)',
          unit: 's',
          limits: limitsBy('ChainBlockStalled', 'instance:chain_block_age:seconds'),
        },
        {
          title: 'Behind',
          empty: 'unknown',
          expr: 'max by (job, instance) (instance:chain_behind:seconds)',
          unit: 's',
          limits: limitsBy('ChainBehind', 'instance:chain_behind:seconds'),
        },
        {
          title: 'Window',
          expr: 'min by (job, instance) (chain_blocksync_window_remaining_blocks)',
          unit: 'suffix:blocks',
          decimals: 0,
          limits: limitsBy('ChainBlocksyncWindow', 'chain_blocksync_window_remaining_blocks'),
        },
        {
          title: 'Votes',
          expr: 'min by (job, instance) (instance:chain_votes_per_round:ratio_rate2m)',
          unit: 'percentunit',
          decimals: 1,
          limits: limitsBy('ChainNotVoting', 'instance:chain_votes_per_round:ratio_rate2m'),
        },
        {
          title: 'Timeouts',
          expr: OWN_TIMEOUTS_BY_NODE,
          unit: 'percentunit',
          decimals: 1,
          limits: OWN_TIMEOUTS_LIMITS,
        },
        {
          title: 'Database',
          expr: 'max by (job, instance) (instance:chain_storage_used_ratio:max)',
          unit: 'percentunit',
          decimals: 1,
          limits: limitsBy('ChainStorageFull', 'instance:chain_storage_used_ratio:max'),
        },
        {
          title: 'Fresh, 1 h',
          expr: `min by (job, instance) (${FRESH})`,
          unit: 'percentunit',
          decimals: 2,
          limits: limitsBy('ChainUptimeBudget.fast', 'instance:chain_available:avg1h'),
        },
        {
          title: 'Role',
          expr: `max by (job, instance) (
            chain_node_role{role="validator"} == 1
            or 2 * (chain_node_role{role="full-node"} == 1)
            or 3 * (chain_node_role{role="rpc"} == 1)
          )`,
          unit: 'none',
          words: ROLES,
          empty: 'unknown',
        },
      ],
    }),
  ],
}
