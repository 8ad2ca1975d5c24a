import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { quantile } from '../promql.ts'
import { askedOf } from '../rules.ts'
import { inWords } from '../units.ts'

const duration = (q: number, phase: string): string =>
  quantile(q, `chain_execution_block_duration_seconds{phase="${phase}"}`)

/** The histogram buckets that the alert uses, that of the warning first. */
const IN_TIME = askedOf('ChainExecutionSlow', 'le')
const ABOUT_IN_TIME = IN_TIME.map(({ severity, value }) => `${inWords(Number(value), 's')} (${severity})`).join(
  ', and within ',
)

export const execution: Row = {
  title: 'Execution',
  panels: [
    graph({
      title: 'Blocks executed in time',
      about: `Share of the blocks that were executed within ${ABOUT_IN_TIME}. Below half, the median is above that time, and consensus will wait for execution next.`,
      alerts: ['ChainExecutionSlow'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: limitsBy({
        alert: 'ChainExecutionSlow',
        metric: 'chain_execution_block_duration_seconds_bucket',
        only: 'warning',
      }),
      lines: IN_TIME.map(({ value: bucket }) => ({
        expr: `
          rate(chain_execution_block_duration_seconds_bucket{phase="total", le="${bucket}"}[$__rate_interval])
          / on (job, instance) (rate(chain_execution_block_duration_seconds_count{phase="total"}[$__rate_interval]) > 0)`,
        legend: `within ${inWords(Number(bucket), 's')}`,
      })),
    }),
    graph({
      title: 'Time for a block',
      about: 'Of all phases together, from the histogram of execution.',
      alerts: ['ChainExecutionSlow'],
      unit: 's',
      width: 8,
      min: 0,
      lines: [
        { expr: duration(0.5, 'total'), legend: 'median' },
        { expr: duration(0.9, 'total'), legend: '90th percentile' },
        { expr: duration(0.99, 'total'), legend: '99th percentile' },
      ],
    }),
    graph({
      title: 'Mean time for a block, by phase',
      about:
        'Where the time goes. commit is the database and its drives; execution and sender_recovery are the processor.',
      alerts: ['ChainExecutionSlow'],
      unit: 's',
      width: 8,
      min: 0,
      stacked: true,
      names: ['sender_recovery', 'execution', 'commit'],
      lines: [
        {
          expr: `
            sum by (phase) (rate(chain_execution_block_duration_seconds_sum{phase!="total"}[$__rate_interval]))
            / sum by (phase) (rate(chain_execution_block_duration_seconds_count{phase!="total"}[$__rate_interval]) > 0)`,
          legend: '{{phase}}',
        },
      ],
    }),
    graph({
      title: 'Gas',
      about: 'Gas of executed blocks. It explains slow blocks: more work, or the same work done slower.',
      alerts: ['ChainExecutionSlow'],
      unit: 'suffix:Mgas/s',
      decimals: 2,
      width: 8,
      min: 0,
      lines: [{ expr: 'rate(chain_execution_gas_total[$__rate_interval]) / 1e6', legend: 'executed' }],
    }),
    graph({
      title: 'Transactions that were executed again',
      about:
        'Share that was in conflict with others of its block and had to be run once more: contention in what users do, not a fault.',
      alerts: ['ChainExecutionSlow'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      lines: [
        {
          expr: `
            rate(chain_execution_retried_transactions_total[$__rate_interval])
            / (rate(chain_execution_transactions_total[$__rate_interval]) > 0)`,
          legend: 'executed again',
        },
      ],
    }),
    graph({
      title: 'Where execution and the network disagree',
      about:
        'Execution lagging behind consensus, state roots that differ, and heights that were executed once more with another block, in ten minutes. A single differing state root is one too many.',
      alerts: ['ChainExecutionLagging', 'ChainBadStateRoot'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [
        {
          expr: 'round(increase(chain_native_events_total{event="execution_lagging"}[10m]))',
          legend: 'found lagging',
        },
        {
          expr: 'round(increase(chain_native_events_total{event="bad_state_root"}[10m]))',
          legend: 'state root differs',
        },
        {
          expr: 'round(increase(chain_execution_reexecutions_total[10m]))',
          legend: 'executed again',
        },
      ],
    }),
    graph({
      title: 'Executed and not final yet',
      about: 'Blocks between the highest executed and the highest that execution was told to be final.',
      alerts: ['ChainExecutionLagging'],
      unit: 'suffix:blocks',
      decimals: 0,
      width: 12,
      min: 0,
      lines: [
        {
          expr: 'chain_execution_block_number - chain_execution_finalized_block_number',
          legend: 'not final yet',
        },
      ],
    }),
    graph({
      title: 'Memory of execution',
      about: 'Resident memory as execution logs it. Growth over days ends with the out-of-memory killer.',
      alerts: ['ChainServiceCrashed'],
      unit: 'bytes',
      width: 12,
      min: 0,
      lines: [{ expr: 'chain_execution_memory_bytes', legend: 'resident' }],
    }),
  ],
}
