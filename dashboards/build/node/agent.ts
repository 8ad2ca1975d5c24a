import { journal } from './journal.ts'
import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { timeline } from '../panels/timeline.ts'
import { whileScraped } from '../node-state.ts'
import { UP } from '../value-labels.ts'

/** Formats with many lines. */
const FORMATS = ['consensus-log', 'execution-log', 'ledger-tail', 'journal']

export const agent: Row = {
  title: 'The agent itself',
  collapsed: true,
  panels: [
    timeline({
      title: 'Collectors',
      about:
        'Whether the last attempt of each collector succeeded and its reading is fresh. While one is down, what it would tell is absent.',
      alerts: ['ChainCollectorDown', 'ChainCollectorStale'],
      width: 12,
      height: 11,
      words: UP,
      lines: [
        {
          expr: 'chain_agent_collector_up and on (job, instance, collector) (chain_agent_collector_enabled == 1)',
          legend: '{{collector}}',
        },
      ],
    }),
    table({
      title: 'Readings of the collectors',
      about:
        'Age of the last reading, time that the last poll took, and failures of an hour. An old reading of a collector that is up: a clock is wrong, or an old copy is scraped.',
      alerts: ['ChainCollectorStale'],
      width: 12,
      height: 11,
      keys: { collector: 'Collector' },
      sortBy: { title: 'Failures, 1 h', descending: true },
      columns: [
        {
          title: 'Reading is old',
          expr: 'time() - max by (collector) (chain_agent_collector_last_success_timestamp_seconds)',
          unit: 's',
          limits: limitsBy({
            alert: 'ChainCollectorStale',
            metric: 'chain_agent_collector_last_success_timestamp_seconds',
          }),
        },
        {
          title: 'Took',
          expr: 'max by (collector) (chain_agent_collector_duration_seconds)',
          unit: 's',
        },
        {
          title: 'Failures, 1 h',
          expr: `round(sum by (collector) (${whileScraped('increase(chain_agent_collector_failures_total[1h])')}))`,
          unit: 'locale',
        },
      ],
    }),
    graph({
      title: 'Failures of collectors',
      about:
        'source: the bytes could not be had; parse: they came and were not understood; timeout: too late; internal: a fault of the agent.',
      alerts: ['ChainCollectorDown'],
      unit: 'suffix:/s',
      decimals: 3,
      width: 8,
      min: 0,
      lines: [
        {
          expr: 'rate(chain_agent_collector_failures_total[$__rate_interval]) > 0',
          legend: '{{collector}}: {{kind}}',
        },
      ],
    }),
    graph({
      title: 'Lines that were read',
      about: 'Lines of streams and reports a second, by format, that were understood.',
      alerts: ['ChainLogsIncomplete'],
      unit: 'suffix:lines/s',
      decimals: 1,
      width: 8,
      min: 0,
      names: FORMATS,
      lines: [
        {
          expr: 'rate(chain_agent_lines_total{result="parsed"}[$__rate_interval])',
          legend: '{{format}}',
        },
      ],
    }),
    graph({
      title: 'Lines that were not understood',
      about:
        'Share of the lines of a format, over 15 minutes. Above the line the node has learnt to say something in another way: the agent must be upgraded.',
      alerts: ['ChainFormatDrift'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      softMax: 0.1,
      names: FORMATS,
      limits: limitsBy({ alert: 'ChainFormatDrift', metric: 'chain_agent_lines_total' }),
      lines: [
        {
          expr: `
            increase(chain_agent_lines_total{result="unparsed"}[15m])
            / on (job, instance, format)
            (sum by (job, instance, format) (increase(chain_agent_lines_total[15m])) > 0)`,
          legend: '{{format}}',
        },
      ],
    }),
    ...journal,
  ],
}
