import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { alarm } from '../value-labels.ts'
import { graph } from '../panels/graph.ts'
import { timeline } from '../panels/timeline.ts'
import { quantile } from '../promql.ts'
import { troublePatterns } from '../rules.ts'

const duration = (q: number): string => quantile(q, 'chain_execution_block_duration_seconds')

export const work: Row = {
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

export const findings: Row = {
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
