import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { bars } from '../panels/bars.ts'
import { heightOf, table } from '../panels/table.ts'
import { fact } from '../value-labels.ts'
import { NODE_LABELS, TO_NODE_FROM_TABLE } from '../links.ts'

const since = 'chain_fork_activation_timestamp_seconds - time()'

export const versions: Row = {
  title: 'Versions and forks',
  panels: [
    bars({
      title: 'Nodes by the version that consensus runs',
      about: 'More than one is normal only during an upgrade. The table below names the nodes.',
      alerts: ['ChainUpgradeDue.restart'],
      expr: 'count by (version) (max by (job, instance, version) (chain_node_running_info{source="native"}))',
      legend: '{{version}}',
      unit: 'locale',
      width: 8,
      height: 6,
    }),
    bars({
      title: 'Nodes by the version of the agent',
      about: 'Agents of several versions may export different metrics: upgrade them to the same one.',
      alerts: ['ChainAgentDown'],
      expr: 'count by (version) (max by (job, instance, version) (chain_agent_build_info))',
      legend: '{{version}}',
      unit: 'locale',
      width: 8,
      height: 6,
    }),
    bars({
      title: 'Share of nodes that meet each fork',
      about:
        'Of all selected nodes, for each fork and mandatory release of their networks. Select a cluster if several networks are monitored. The table below names the nodes that do not meet one.',
      alerts: ['ChainForkNotReady', 'ChainBlind'],
      expr: 'avg by (fork, check) (chain_fork_ready)',
      legend: '{{fork}}: {{check}}',
      unit: 'percentunit',
      max: 1,
      width: 8,
      height: 6,
    }),
    table({
      title: 'Versions by node',
      about:
        'The version that runs, and whether another one is installed and waits for a restart: an unplanned restart would then be an upgrade.',
      alerts: ['ChainUpgradeDue.restart'],
      width: 12,
      height: heightOf(6),
      keys: { instance: 'Node', version: 'Version' },
      hidden: NODE_LABELS,
      links: { instance: TO_NODE_FROM_TABLE },
      sortBy: { title: 'Version', descending: false },
      columns: [
        {
          title: 'Other version installed',
          expr: `
            max by (job, instance, version) (chain_node_running_info{source="native"})
            * on (job, instance) group_left () max by (job, instance) (chain_version_mismatch)`,
          unit: 'none',
          words: fact('restart pending'),
        },
      ],
    }),
    table({
      title: 'Nodes that are not ready for a fork',
      about:
        'Each requirement that is not met, and the time until the fork. Upgrade, or migrate the database, before that.',
      alerts: ['ChainForkNotReady'],
      width: 12,
      height: heightOf(6),
      keys: { instance: 'Node', fork: 'Fork', check: 'Lacks' },
      empty: 'none',
      hidden: NODE_LABELS,
      links: { instance: TO_NODE_FROM_TABLE },
      sortBy: { title: 'In', descending: false },
      columns: [
        {
          title: 'In',
          expr: `
            max by (job, instance, fork) (${since})
            + on (job, instance, fork) group_right ()
            max by (job, instance, fork, check) (chain_fork_ready == 0)`,
          unit: 's',
          past: 'critical',
          limits: limitsBy('ChainForkNotReady', 'chain_fork_activation_timestamp_seconds'),
        },
      ],
    }),
  ],
}
