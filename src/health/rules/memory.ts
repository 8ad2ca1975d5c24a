import { hasIncreased, type AlertRow, percent } from './rule.ts'

const MEMORY_LOW = {
  alert: 'ChainMemoryLow',
  severity: 'warning',
  component: 'host',
  advice: [
    'See what uses the memory, and stop what does not belong to the node: `ps -eo rss,comm --sort=-rss | head`.',
  ],
} as const

/** Rows of the group of the host. */
export const memory: readonly AlertRow[] = [
  {
    ...MEMORY_LOW,
    comment:
      'Before the kernel kills a process. It is what programs can still get: huge pages are in use, the cache of files is not. No page: if a program of the node is killed, ChainServiceDown pages.',
    why: 'available',
    summary: 'the memory of the host is almost used up',
    limit: 0.05,
    for: '5m',
    expr: (limit) => `chain_host_memory_available_ratio < ${limit}`,
    description: (limit) =>
      `Only {{ $value | humanizePercentage }} of the memory of {{ $labels.instance }} is available, and less than ${percent(limit)} has been for five minutes. Without memory the kernel kills the largest process, which is usually a part of the node.`,
  },
  {
    ...MEMORY_LOW,
    why: 'pressure',
    summary: 'the programs of the host wait for memory',
    for: '5m',
    expr: 'rate(chain_host_pressure_stalled_seconds_total{resource="memory"}[5m]) > 0.1',
    description:
      'For {{ $value | humanizePercentage }} of the time all programs of {{ $labels.instance }} have waited for memory, for more than 10% for five minutes: blocks are executed and votes are sent late.',
  },
  {
    comment: 'The kernel chooses the largest process, which is usually a part of the node.',
    alert: 'ChainMemoryLow',
    why: 'oom-kill',
    severity: 'warning',
    component: 'host',
    advice: [
      'See which process: `journalctl -k -g "Out of memory" --since -1h`.',
      'Find out what else uses the memory: `chain-agent status host`.',
    ],
    expr: hasIncreased('chain_host_oom_kills_total', '10m'),
    summary: 'the kernel killed a process for lack of memory',
    description:
      'The kernel of {{ $labels.instance }} has killed {{ printf "%.0f" $value }} processes within 10 minutes, because the host has no memory left.',
  },
]
