import { limitsBy, anyIs } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import type { Placed } from '../panels/panel.ts'
import { type Row, frame } from '../frame.ts'
import { ALERT_LIST, toPanel } from '../links.ts'
import { ABOUT_STATES, firing, FRESH, FRESH_WITHIN, STATE, STATES } from '../node-state.ts'
import { ABOUT_FEW, NETWORK_IN_TROUBLE, OWN_TIMEOUTS, OWN_TIMEOUTS_LIMITS } from '../own-rounds.ts'
import { alertList, HISTORY, whatHappened } from '../overview.ts'
import { figures, tile } from '../panels/tile.ts'
import { NONE, type ValueLabels, alarm } from '../value-labels.ts'
import { table } from '../panels/table.ts'
import { timeline } from '../panels/timeline.ts'
import { quantile } from '../promql.ts'
import { troublePatterns } from '../rules.ts'
import { chain } from './chain.ts'

/** Titles of the graphs that decide how urgent a fault is. */
const DECISIVE = {
  age: 'Age of the newest block',
  behind: 'Behind the references',
  window: 'Blocksync window left',
} as const

const LARGE = { width: 8, height: 6 }

const decisive: readonly Placed[] = [
  graph({
    ...LARGE,
    title: DECISIVE.age,
    about:
      'By the timestamp of the newest block of each source. All rise together: no block arrives. One rises alone: that source has stopped, not the node. The scale is logarithmic.',
    alerts: ['ChainBlockStalled'],
    unit: 's',
    logarithmic: true,
    limits: limitsBy('ChainBlockStalled', 'instance:chain_block_age:seconds'),
    lines: [
      { expr: 'instance:chain_block_age:seconds', legend: 'newest of all' },
      { expr: 'time() - chain_ledger_block_timestamp_seconds{event="proposed"}', legend: 'ledger stream' },
      { expr: 'time() - chain_rpc_block_timestamp_seconds{tag="latest"}', legend: 'RPC latest' },
      { expr: 'time() - chain_rpc_last_advance_timestamp_seconds', legend: 'since the height of the RPC grew' },
      {
        expr: 'time() - chain_execution_block_started_timestamp_seconds',
        legend: 'since execution started a block',
      },
    ],
  }),
  graph({
    ...LARGE,
    title: DECISIVE.behind,
    about:
      'The time that the chain takes for the blocks that the node is behind the height on which the references agree; negative if it is ahead. After each restart it must return to about 0.',
    alerts: ['ChainBehind', 'ChainBlind'],
    unit: 's',
    limits: limitsBy('ChainBehind', 'instance:chain_behind:seconds'),
    softMax: 40,
    lines: [{ expr: 'instance:chain_behind:seconds', legend: 'behind' }],
  }),
  graph({
    ...LARGE,
    title: DECISIVE.window,
    about:
      'Blocks that the node can still fall behind before peers no longer serve what it lacks. It is estimated while the node reports nothing.',
    alerts: ['ChainBlocksyncWindow'],
    unit: 'locale',
    min: 0,
    limits: limitsBy('ChainBlocksyncWindow', 'chain_blocksync_window_remaining_blocks'),
    lines: [{ expr: 'chain_blocksync_window_remaining_blocks', legend: 'blocks left' }],
  }),
]

const SIZE = { width: 4, height: 3 }
/** Grafana draws no trend in a lower tile. */
const WITH_TREND = { width: 4, height: 5, trend: true }
const NOT_EVALUATED = 'No data: Prometheus does not evaluate the rules for this node.'

/** Whether the node is healthy: one figure for each question. */
const tiles: readonly Placed[] = [
  tile({
    ...SIZE,
    title: 'State',
    about: `What the node does. ${ABOUT_STATES} Begin with the oldest alert.`,
    alerts: ['ChainBlockStalled', 'ChainBehind', 'ChainAgentDown'],
    expr: STATE,
    unit: 'none',
    words: STATES,
    to: toPanel('node', HISTORY),
  }),
  figures({
    ...SIZE,
    title: 'Alerts',
    about: `Alerts that fire now, without those that a maintenance window inhibits: critical ones need action at once, warnings on the same day. The list below has each of them. ${NOT_EVALUATED}`,
    alerts: ['ChainWatchdog', 'ChainMaintenance'],
    lines: [
      { expr: firing('critical'), legend: 'critical', limits: anyIs('critical') },
      { expr: firing('warning'), legend: 'warnings', limits: anyIs('warning') },
    ],
    unit: 'locale',
    words: NONE,
    to: toPanel('node', ALERT_LIST),
  }),
  tile({
    ...SIZE,
    title: 'Services down',
    about:
      'Services that should run and do not. systemd does not restart consensus and execution: see `systemctl status` and the journal, then start them.',
    alerts: ['ChainServiceDown', 'ChainServiceDown.missing'],
    expr: `
      count by (job, instance) (chain_service_expected == 1 unless on (job, instance, service) (chain_service_active == 1))
      or on (job, instance)
      0 * count by (job, instance) (chain_service_expected)`,
    legend: 'of those expected',
    unit: 'locale',
    words: NONE,
    limits: anyIs('critical'),
    to: toPanel('storage', 'Services'),
  }),
  tile({
    ...SIZE,
    title: 'Own rounds timed out',
    about: `Share of the rounds that this node led in six hours and that gave no block. If the share of the network is above ${NETWORK_IN_TROUBLE}, the cause is not on this node. ${ABOUT_FEW}`,
    alerts: ['ChainLeaderTimeouts', 'ChainLeaderTimeouts.in-a-row'],
    empty: 'few rounds led',
    expr: OWN_TIMEOUTS,
    unit: 'percentunit',
    decimals: 1,
    limits: OWN_TIMEOUTS_LIMITS,
    to: toPanel('node', 'Rounds that timed out, own and of all'),
  }),
  tile({
    ...SIZE,
    title: 'Collectors without readings',
    about:
      'Collectors of the agent that are enabled and have no reading: their values are absent here, and the alerts on them cannot fire. The dashboard of the agent lists them.',
    alerts: ['ChainCollectorDown'],
    expr: `
      count by (job, instance) (chain_agent_collector_up == 0)
      or on (job, instance)
      0 * count by (job, instance) (chain_agent_collector_up)`,
    legend: 'of those enabled',
    unit: 'locale',
    words: NONE,
    limits: anyIs('warning'),
    to: toPanel('agent', 'Collectors without a reading'),
  }),
  tile({
    ...SIZE,
    title: 'Last contact',
    about:
      'Time since Prometheus last scraped the agent, within the time shown. While it grows, all other figures are absent.',
    alerts: ['ChainAgentDown', 'ChainAgentAbsent.node'],
    expr: 'time() - max by (job, instance) (max_over_time(timestamp(chain_agent_build_info)[$__range:1m]))',
    legend: 'with the agent, ago',
    unit: 's',
    decimals: 0,
    to: toPanel('agent', 'Agents'),
  }),
  tile({
    ...WITH_TREND,
    title: 'Newest block',
    about: 'Age of the newest block by its own timestamp. If it grows, no block arrives or the node is far behind.',
    alerts: ['ChainBlockStalled', 'ChainBlind'],
    expr: 'instance:chain_block_age:seconds',
    unit: 's',
    limits: limitsBy('ChainBlockStalled', 'instance:chain_block_age:seconds'),
    to: toPanel('node', DECISIVE.age),
  }),
  tile({
    ...WITH_TREND,
    title: 'Behind the network',
    about:
      'Time that the chain takes for the blocks that the node is behind the height on which the references agree; negative if it is ahead. No data: too few references agree.',
    alerts: ['ChainBehind', 'ChainBlind'],
    expr: 'instance:chain_behind:seconds',
    unit: 's',
    limits: limitsBy('ChainBehind', 'instance:chain_behind:seconds'),
    to: toPanel('node', DECISIVE.behind),
  }),
  tile({
    ...WITH_TREND,
    title: 'Blocksync window',
    about:
      'Blocks that the node can still fall behind before its peers no longer serve what it lacks. At 0 it recovers only with a newer forkpoint and statesync, or with a snapshot. Not applicable during a statesync.',
    alerts: ['ChainBlocksyncWindow', 'ChainBlind'],
    expr: 'chain_blocksync_window_remaining_blocks',
    unit: 'locale',
    limits: limitsBy('ChainBlocksyncWindow', 'chain_blocksync_window_remaining_blocks'),
    to: toPanel('node', DECISIVE.window),
  }),
  tile({
    ...WITH_TREND,
    title: 'Votes per round',
    about:
      'Votes that the node computed for each round that a quorum closed, also those that did not leave the host. Only validators in the active set have it. Well below 1 the validator follows and does not vote.',
    alerts: ['ChainNotVoting'],
    empty: 'not voting',
    expr: 'instance:chain_votes_per_round:ratio_rate2m',
    unit: 'percentunit',
    decimals: 1,
    limits: limitsBy('ChainNotVoting', 'instance:chain_votes_per_round:ratio_rate2m'),
    to: toPanel('node', 'Votes for each round'),
  }),
  tile({
    ...WITH_TREND,
    title: 'Fresh blocks, last hour',
    about: `Share of the last hour in which the newest block was at most ${FRESH_WITHIN} old; no data while the agent cannot be scraped. The dashboard of duties shows what is left of the budget of the week.`,
    alerts: ['ChainUptimeBudget.fast'],
    expr: FRESH,
    unit: 'percentunit',
    decimals: 1,
    limits: limitsBy('ChainUptimeBudget.fast', 'instance:chain_available:avg1h'),
    to: toPanel('duties', 'Share of time with a fresh block, one hour'),
  }),
  tile({
    ...WITH_TREND,
    title: 'Database used',
    about:
      'Used share of the database. From 80% on the node deletes old state by itself, which is normal. If it still grows there, free space or add a device before execution stops.',
    alerts: ['ChainStorageFull', 'ChainBlind'],
    expr: 'instance:chain_storage_used_ratio:max',
    unit: 'percentunit',
    decimals: 1,
    limits: limitsBy('ChainStorageFull', 'instance:chain_storage_used_ratio:max'),
    to: toPanel('node', 'Use of the database'),
  }),
]

/** The first screen: what is wrong, since when, and what else changed then. */
const glance: Row = {
  panels: [alertList({ width: 12, height: 8 }), whatHappened({ width: 12, height: 8 }), ...tiles, ...decisive],
}

const READY: ValueLabels = { 0: ['NOT READY', 'critical'], 1: ['ready', 'good'] }

/** The series of an info metric with the labels `part` and `value`. */
const part = (name: string, { metric, value, by = '' }: InfoMetric): string =>
  `label_replace(label_replace(${metric}, "part", "${name}", "${by}", "(.*)"), "value", "$1", "${value}", "(.+)")`

interface InfoMetric {
  readonly metric: string
  /** The label with the value. */
  readonly value: string
  /** The label that `$1` in the name stands for. */
  readonly by?: string
}

const PARTS = [
  part('network', { metric: 'chain_native_info', value: 'network' }),
  part('chain id', { metric: 'chain_rpc_info', value: 'chain_id' }),
  part('role', { metric: 'chain_node_role == 1', value: 'role' }),
  part('validator id', { metric: 'chain_staking_info', value: 'validator_id' }),
  part('runs, as $1 reports', { metric: 'chain_node_running_info', value: 'version', by: 'source' }),
  part('installed, $1', { metric: 'chain_node_build_info', value: 'version', by: 'program' }),
  part('package $1', { metric: 'chain_package_info', value: 'version', by: 'package' }),
  part('package that apt offers', { metric: 'chain_package_candidate_info', value: 'version' }),
  part('agent', { metric: 'chain_agent_build_info', value: 'version' }),
  part('kernel, $1', { metric: 'chain_host_kernel_info', value: 'release', by: 'kernel' }),
].join(' or ')

const identity: Row = {
  title: 'Identity and versions',
  panels: [
    table({
      title: 'Identity and versions',
      about:
        'Network, role, and the versions that run and that are installed. They differ while a restart is pending. Another network than expected: stop the node and find out why.',
      alerts: ['ChainUpgradeDue.restart', 'ChainUpgradeDue.package', 'ChainHostSetUp.kernel'],
      width: 12,
      height: 9,
      keys: { part: 'Part', value: 'Value' },
      onlyLabels: true,
      columns: [{ title: 'Is', expr: `group by (part, value) (${PARTS})`, unit: 'none' }],
    }),
    table({
      title: 'Forks and mandatory releases',
      about:
        'What the network requires, from when, and whether the node meets it. Not ready: upgrade or migrate before that time. A fork in the past that is not ready keeps the node from following.',
      alerts: ['ChainForkNotReady', 'ChainUpgradeDue.fork-list', 'ChainBlind'],
      empty: 'none',
      width: 12,
      height: 9,
      keys: { fork: 'Fork', check: 'Requires' },
      columns: [
        { title: 'Node', expr: 'min by (fork, check) (chain_fork_ready)', unit: 'none', words: READY },
        {
          title: 'In',
          expr: `
            max by (fork, check) (
              0 * chain_fork_ready + on (job, instance, fork) group_left ()
              (chain_fork_activation_timestamp_seconds - time())
            )`,
          unit: 's',
          past: 'good',
        },
      ],
    }),
  ],
}

const duration = (q: number): string => quantile(q, 'chain_execution_block_duration_seconds')

const work: Row = {
  title: 'Execution and space',
  panels: [
    graph({
      title: 'Time to execute a block',
      about:
        'Of all phases together. The scale is logarithmic. If it rises, consensus waits for execution next. The dashboard of consensus and execution shows each phase.',
      alerts: ['ChainExecutionSlow', 'ChainExecutionSlow.lagging'],
      unit: 's',
      width: 8,
      logarithmic: true,
      lines: [
        { expr: duration(0.5), legend: 'median' },
        { expr: duration(0.9), legend: '90th percentile' },
        { expr: duration(0.99), legend: '99th percentile' },
      ],
    }),
    graph({
      title: 'Use of the database',
      about:
        'Used share as execution logs it, as the report of the tool has it for each device, and as consensus reports it. From 80% on the node deletes old state by itself, which is normal. If it still grows there, free space before execution stops.',
      alerts: ['ChainStorageFull', 'ChainStorageFull.migration'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: limitsBy('ChainStorageFull', 'instance:chain_storage_used_ratio:max'),
      lines: [
        { expr: 'chain_execution_storage_used_ratio', legend: 'by execution' },
        { expr: 'chain_storage_used_ratio', legend: 'report, {{device}}' },
      ],
    }),
    graph({
      title: 'Free on the file systems',
      about:
        'Free share of the file system of each directory that the node needs. If it falls, see the clean-up first, then what else writes there.',
      alerts: ['ChainDiskFull.filling', 'ChainDiskFull', 'ChainBlind.directory'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: limitsBy('ChainDiskFull', 'chain_host_filesystem_size_bytes'),
      lines: [
        { expr: 'chain_host_filesystem_available_bytes / chain_host_filesystem_size_bytes', legend: '{{directory}}' },
      ],
    }),
  ],
}

const findings: Row = {
  title: 'Findings and logs',
  panels: [
    timeline({
      title: 'Findings of the log analysis',
      about:
        'Problems that the analysis of the consensus log has found, while they apply. The runbook of the alert explains each.',
      alerts: ['ChainLogTrouble.consensus-finding', 'ChainBlockStalled.deadlock', 'ChainNotVoting'],
      empty: 'none',
      width: 8,
      height: 8,
      words: alarm('applies', 'warning'),
      lines: [{ expr: 'chain_consensus_finding == 1', legend: '{{finding}}' }],
    }),
    graph({
      title: 'Log lines that mean trouble, in ten minutes',
      about: 'By the known message. `chain-agent check` explains each, and what to do.',
      alerts: ['ChainLogTrouble', 'ChainLogTrouble.aborted', 'ChainLogTrouble.wal-stopped', 'ChainCleanup'],
      empty: 'none',
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      bars: true,
      lines: [
        {
          expr: `increase(chain_log_pattern_total{pattern=~"${troublePatterns().join('|')}"}[10m]) > 0`,
          legend: '{{service}}: {{pattern}}',
        },
      ],
    }),
    graph({
      title: 'Exits that were not clean, in an hour',
      about:
        'By the result that systemd reports. exit-code and core-dump: read the journal of the unit. oom-kill: see the memory.',
      alerts: ['ChainServiceCrashed', 'ChainLogTrouble.aborted'],
      empty: 'none',
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      bars: true,
      lines: [
        {
          expr: 'round(sum by (service, result) (increase(chain_service_exits_total{result!="success"}[1h]))) > 0',
          legend: '{{service}}: {{result}}',
        },
      ],
    }),
  ],
}

export const node = () =>
  frame({
    name: 'node',
    description:
      'One node: what is wrong, since when, and what else changed then. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [glance, chain, work, findings, identity],
  })
