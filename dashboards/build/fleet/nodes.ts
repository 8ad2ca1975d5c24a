import { type Row } from '../frame.ts'
import { anyIs, limitsBy } from '../limits.ts'
import { OWN_TIMEOUTS_BY_NODE, OWN_TIMEOUTS_LIMITS } from '../own-timeouts.ts'
import { table } from '../panels/table.ts'
import { ABOUT_STATES, firing, FRESH, STATE, STATES } from '../node-state.ts'
import { RUNBOOK_LINK } from '../rules.ts'
import { TO_NODE_FROM_TABLE } from './links.ts'

export const nodes: Row = {
  title: 'Nodes',
  panels: [
    table({
      title: 'Every node',
      about: `The worst first; a click on a name leads to the dashboard of the node. ${ABOUT_STATES}`,
      alerts: ['ChainAgentDown', 'ChainBlockStalled', 'ChainBehind'],
      width: 24,
      height: 14,
      keys: { instance: 'Node' },
      hidden: ['job'],
      links: { instance: TO_NODE_FROM_TABLE },
      sortBy: { title: 'State', descending: true },
      columns: [
        { title: 'State', expr: STATE, unit: 'none', words: STATES, width: 130 },
        {
          title: 'Critical',
          expr: firing('critical'),
          unit: 'locale',
          words: { 0: ['none', 'good'] },
          limits: anyIs('critical'),
        },
        {
          title: 'Warnings',
          expr: firing('warning'),
          unit: 'locale',
          words: { 0: ['none', 'good'] },
          limits: anyIs('warning'),
        },
        {
          title: 'Block age',
          expr: 'max by (job, instance) (instance:chain_block_age:seconds)',
          unit: 's',
          limits: limitsBy({
            alert: 'ChainBlockStalled',
            metric: 'instance:chain_block_age:seconds',
          }),
        },
        {
          title: 'Behind',
          expr: 'max by (job, instance) (instance:chain_behind:seconds)',
          unit: 's',
          limits: limitsBy({ alert: 'ChainBehind', metric: 'instance:chain_behind:seconds' }),
        },
        {
          title: 'Until statesync',
          expr: 'min by (job, instance) (chain_blocksync_window_remaining_blocks)',
          unit: 'suffix:blocks',
          decimals: 0,
          limits: limitsBy({
            alert: 'ChainBlocksyncWindow',
            metric: 'chain_blocksync_window_remaining_blocks',
          }),
        },
        {
          title: 'Votes',
          expr: 'min by (job, instance) (instance:chain_votes_per_round:ratio_rate2m)',
          unit: 'percentunit',
          decimals: 1,
          limits: limitsBy({
            alert: 'ChainNotVoting',
            metric: 'instance:chain_votes_per_round:ratio_rate2m',
          }),
        },
        {
          title: 'Own timeouts',
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
          limits: limitsBy(
            { alert: 'ChainStorageCompacting', metric: 'instance:chain_storage_used_ratio:max' },
            { alert: 'ChainStorageFull', metric: 'instance:chain_storage_used_ratio:max' },
          ),
        },
        {
          title: 'Compacts in',
          expr: 'min by (job, instance) (chain_storage_seconds_until_compaction)',
          unit: 's',
          limits: limitsBy({
            alert: 'ChainStorageCompactionSoon',
            metric: 'chain_storage_seconds_until_compaction',
          }),
        },
        {
          title: 'Sessions',
          expr: 'min by (job, instance) (chain_native_sessions{state="transport"})',
          unit: 'locale',
          limits: limitsBy({
            alert: 'ChainSessionsLow',
            metric: 'chain_native_sessions{state="transport"}',
          }),
        },
        {
          title: 'Fresh, last hour',
          expr: `min by (job, instance) (${FRESH})`,
          unit: 'percentunit',
          decimals: 2,
          limits: limitsBy({
            alert: 'ChainUptimeBudgetFast',
            metric: 'instance:chain_available:avg1h',
          }),
        },
      ],
    }),
    table({
      title: 'Agents that are gone',
      about:
        'Nodes whose agent cannot be scraped, and those that are no targets any more though they were within the time shown. Of them nothing else on this page is known. Empty is good. Look whether the host lives, then at the way to it, then at the agent.',
      alerts: ['ChainAgentDown', 'ChainAgentAbsent'],
      width: 12,
      keys: { instance: 'Node' },
      hidden: ['job'],
      links: { instance: TO_NODE_FROM_TABLE },
      columns: [
        { title: 'State', expr: `(${STATE}) >= 8`, unit: 'none', words: STATES },
        {
          title: 'Last contact',
          expr: `
            1000 * max by (job, instance) (max_over_time(timestamp(chain_agent_build_info)[$__range:1m]))
            and on (job, instance) ((${STATE}) >= 8)`,
          unit: 'dateTimeFromNow',
        },
      ],
    }),
    table({
      title: 'Alerts that fire',
      about:
        'What fires now, with the node that it speaks of; a click on the alert leads to its runbook, one on the node to its dashboard. Empty is good.',
      alerts: ['ChainWatchdog'],
      width: 12,
      keys: { instance: 'Node', severity: 'Severity', alertname: 'Alert', component: 'Component' },
      hidden: ['job'],
      links: { instance: TO_NODE_FROM_TABLE, alertname: RUNBOOK_LINK },
      widths: { severity: 110, alertname: 270, component: 130 },
      onlyLabels: true,
      sortBy: { title: 'Severity', descending: false },
      columns: [
        {
          title: 'Fires',
          expr: `max by (job, instance, severity, alertname, component) (
            ALERTS{alertstate="firing", severity=~"critical|warning"}
          )`,
          unit: 'none',
        },
      ],
    }),
  ],
}
