import type { Row } from '../frame.ts'
import { limitsBy, SESSIONS_LIMITS } from '../limits.ts'
import { ABOUT_FEW, OWN_TIMEOUTS, OWN_TIMEOUTS_LIMITS } from '../own-rounds.ts'
import { bars, type Bars } from '../panels/bars.ts'
import type { Placed } from '../panels/panel.ts'
import { TO_NODE, NODE_LABELS, TO_NODE_FROM_TABLE } from '../links.ts'
import { heightOf, table } from '../panels/table.ts'
import { fact } from '../value-labels.ts'

/** The other nodes are in the table. */
const WORST = 6

interface Worst extends Omit<Bars, 'legend' | 'link' | 'width'> {
  readonly worst: 'most' | 'least'
}

const worst = ({ worst: end, expr, ...of }: Worst): Placed =>
  bars({
    ...of,
    expr: `${end === 'most' ? 'topk' : 'bottomk'}(${WORST}, ${end === 'most' ? 'max' : 'min'} by (job, instance) (${expr}))`,
    legend: '{{instance}}',
    link: TO_NODE,
    width: 8,
    height: 6,
  })

export const chainAndDuties: Row = {
  title: `Chain, votes and peers: the ${WORST} worst nodes`,
  panels: [
    worst({
      title: 'Furthest behind',
      about:
        'Time that the chain takes for the blocks that a node is behind its references. Several at once: see what they share. All: see the references.',
      alerts: ['ChainBehind'],
      worst: 'most',
      expr: 'instance:chain_behind:seconds',
      unit: 's',
      limits: limitsBy('ChainBehind', 'instance:chain_behind:seconds'),
    }),
    worst({
      title: 'Oldest newest block',
      about: 'Age of the newest block by its own time. All of them: the chain itself has stopped producing blocks.',
      alerts: ['ChainBlockStalled'],
      worst: 'most',
      expr: 'instance:chain_block_age:seconds',
      unit: 's',
      limits: limitsBy('ChainBlockStalled', 'instance:chain_block_age:seconds'),
    }),
    worst({
      title: 'Least of the blocksync window left',
      about:
        'Blocks that a node can still fall behind before it recovers only with a newer forkpoint and statesync. Begin with the shortest bar.',
      alerts: ['ChainBlocksyncWindow'],
      worst: 'least',
      expr: 'chain_blocksync_window_remaining_blocks',
      unit: 'locale',
      limits: limitsBy('ChainBlocksyncWindow', 'chain_blocksync_window_remaining_blocks'),
    }),
    worst({
      title: 'Fewest votes',
      about:
        'Votes for each round that a quorum closed, of validators in the active set. Below the limits, see its keys, clock and version.',
      alerts: ['ChainNotVoting'],
      worst: 'least',
      expr: 'instance:chain_votes_per_round:ratio_rate2m',
      unit: 'percentunit',
      max: 1,
      limits: limitsBy('ChainNotVoting', 'instance:chain_votes_per_round:ratio_rate2m'),
    }),
    worst({
      title: 'Most own rounds timed out',
      about: `Share of the own rounds of six hours that gave no block. The dashboard of duties compares them with the network. ${ABOUT_FEW}`,
      alerts: ['ChainLeaderTimeouts'],
      worst: 'most',
      expr: OWN_TIMEOUTS,
      unit: 'percentunit',
      limits: OWN_TIMEOUTS_LIMITS,
    }),
    worst({
      title: 'Fewest sessions',
      about:
        'Sessions with peers over the authenticated transport. A node with few receives blocks late, however many peers it knows.',
      alerts: ['ChainPeersFew.sessions', 'ChainIsolated'],
      worst: 'least',
      expr: 'chain_native_sessions{state="transport"}',
      unit: 'locale',
      limits: SESSIONS_LIMITS,
    }),
  ],
}

export const space: Row = {
  title: `Space: the ${WORST} nodes with the least`,
  panels: [
    worst({
      title: 'Fullest databases',
      about: 'Used share of the database. From 80% on the node deletes old state by itself.',
      alerts: ['ChainStorageFull'],
      worst: 'most',
      expr: 'instance:chain_storage_used_ratio:max',
      unit: 'percentunit',
      max: 1,
      limits: limitsBy('ChainStorageFull', 'instance:chain_storage_used_ratio:max'),
    }),
    worst({
      title: 'Soonest to compact',
      about:
        'Time until the database reaches the compaction threshold, by its growth; 0: it has. A database that does not grow has none.',
      alerts: ['ChainStorageFull'],
      worst: 'least',
      expr: 'chain_storage_compaction_eta_seconds',
      unit: 's',
    }),
    worst({
      title: 'Least free on a file system',
      about: 'Free share of the fullest file system that the node needs, in addition to its database.',
      alerts: ['ChainDiskFull', 'ChainDiskFull.filling'],
      worst: 'least',
      expr: 'chain_host_filesystem_available_bytes / chain_host_filesystem_size_bytes',
      unit: 'percentunit',
      max: 1,
      limits: limitsBy('ChainDiskFull', 'chain_host_filesystem_size_bytes'),
    }),
  ],
}

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
