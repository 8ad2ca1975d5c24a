import { hasIncreased, percent, period, NODE_DOWN, ruleFile } from './rule.ts'

export const storage = ruleFile({ name: 'storage', component: 'storage' }, [
  {
    comment:
      'Execution logs the used share of all chunks of the pool with every block (category/mpt/trie.hpp, disk_usage). Without a log value, the same share from the chunks of the report; without them, the share of bytes of its fullest device, which is lower.',
    record: 'instance:chain_storage_used_ratio:max',
    expr: `chain_execution_storage_used_ratio
or on (instance, job, cluster)
1
  - chain_storage_chunks{list="free"}
    / on (instance, job, cluster) sum by (instance, job, cluster) (chain_storage_chunks)
or on (instance, job, cluster)
max by (instance, job, cluster) (chain_storage_used_ratio)`,
  },
  {
    comment: 'The share of chunks that can still be written.',
    record: 'instance:chain_storage_free_chunks:ratio',
    expr: `chain_execution_storage_chunks{list="free"}
  / on (instance, job, cluster) sum by (instance, job, cluster) (chain_execution_storage_chunks)
or on (instance, job, cluster)
chain_storage_chunks{list="free"}
  / on (instance, job, cluster) sum by (instance, job, cluster) (chain_storage_chunks)`,
  },
  {
    comment: 'From 85 % to full takes hours or days; with few free chunks left the row `free-chunks` pages.',
    alert: 'ChainStorageFull',
    limit: 0.85,
    for: '15m',
    advice: [
      'See what uses the space: `chain-agent status storage`.',
      'If it has two timelines and the fork is active, drop the slot-encoded one; otherwise grow its device before it is full: see the runbook.',
    ],
    expr: (limit) => `instance:chain_storage_used_ratio:max > ${limit}`,
    summary: 'the database fills up although the node compacts it',
    description: (limit) =>
      `The database of {{ $labels.instance }} has been {{ $value | humanizePercentage }} full for 15 minutes, above ${percent(limit)}: more is written than compaction frees. When it is full, execution exits.`,
  },
  {
    comment:
      'No `for`: normal operation never reaches this, and the process that used the chunks may use the rest within minutes.',
    alert: 'ChainStorageFull.free-chunks',
    limit: 0.1,
    critical: {
      limit: 0.05,
      page: 'Within minutes to hours execution finds no free chunk, and exits; a full database is hard to shrink.',
    },
    advice: ['See what uses the space: `chain-agent status storage`.'],
    expr: (limit) => `instance:chain_storage_free_chunks:ratio < ${limit}`,
    summary: 'the database has too few free chunks',
    description: (limit) =>
      `Of the chunks of the database of {{ $labels.instance }} {{ $value | humanizePercentage }} are free, less than ${percent(limit)}. Without a free one execution cannot write a block.`,
  },
  {
    comment:
      'A slot-encoded secondary timeline is no longer written: it was primary, and a State Archive node keeps it.',
    alert: 'ChainStorageFull.migration',
    limit: 0.75,
    for: '30m',
    advice: [
      'See what uses the space: `chain-agent status storage`.',
      'After the fork drop the slot-encoded timeline, before it grow the device: see the runbook.',
    ],
    expr: (limit) => `instance:chain_storage_used_ratio:max > ${limit}
and on (instance, job, cluster) (
    chain_native_migration_phase{phase="dual"} == 1
  or on (instance, job, cluster)
    chain_storage_timeline_info{timeline="secondary",kind!="ethereum"}
)`,
    summary: 'the database may be too full for its two timelines',
    description: (limit) =>
      `The database of {{ $labels.instance }} has been {{ $value | humanizePercentage }} full for 30 minutes, above ${percent(limit)}, while it holds two timelines: it grows faster than usual, and the node may soon drop old state.`,
  },
  {
    comment: 'During statesync execution writes no blocks, and its log has no use value.',
    alert: 'ChainBlind.storage',
    for: '15m',
    explainedBy: [NODE_DOWN, { alerts: ['ChainStartStalled'] }],
    advice: [
      'See why the report is missing: `chain-agent status storage`.',
      'Enable its timer: `sudo systemctl enable --now chain-agent-storage.timer` (docs/how-to/host.md).',
    ],
    pending: 'nothing',
    expr: `group by (instance, job, cluster) (chain_agent_build_info{profile!="watcher"})
unless on (instance, job, cluster) instance:chain_storage_used_ratio:max
unless on (instance, job, cluster) (instance:chain_statesync:active == 1)`,
    summary: 'it is unknown how full the database is',
    description:
      'On {{ $labels.instance }} neither the log of execution nor the report of the database tool has shown the use of the database for 15 minutes: no alert on a full database can fire.',
  },
  {
    comment:
      'The line is logged once per start, and no unit starts it again: so for an hour, or until execution runs. It says why; ChainServiceDown pages.',
    alert: 'ChainLogTrouble.timeline-missing',
    advice: ['See the step that the database needs, which takes minutes: `chain-agent recover`.'],
    expr: `${hasIncreased('chain_log_pattern_total{pattern="timeline_missing"}', '1h')}
  and on (instance, job, cluster) (chain_service_active{service="execution"} == 0)`,
    summary: 'execution does not start: the database lacks a timeline',
    description:
      'Starts of execution on {{ $labels.instance }} that failed because its database has no page-encoded timeline: {{ $value | printf "%.0f" }} in the last hour. Execution does not run, and cannot start until the timeline is added.',
  },
  {
    comment:
      'A week, because operators stop their nodes for it one after another. A database that was created after the fork has one timeline, and a promoted one has a page-encoded primary.',
    alert: 'ChainUpgradeDue.promotion',
    severity: 'info',
    limit: 604800,
    for: '1h',
    advice: [
      'Promote the page-encoded timeline, as described in the release notes of the node.',
      'Then deactivate the slot-encoded one, except on a State Archive node, which reads its history from it.',
    ],
    expr: (limit) => `time() - chain_fork_activation_timestamp_seconds > ${limit}
and on (instance, job, cluster, fork) (chain_fork_ready{check="timeline"} == 1)
and on (instance, job, cluster) chain_storage_timeline_info{timeline="primary",kind="ethereum"}`,
    summary: 'the database is written in two encodings after the fork {{ $labels.fork }}',
    description: (limit) =>
      `{{ $labels.fork }} has been in force for {{ $value | humanizeDuration }}, more than ${period(limit)}, and the slot-encoded timeline of {{ $labels.instance }} is still the primary one: each block is written twice. A State Archive node does not start v0.16.3 or newer until the other one is promoted.`,
  },
])
