import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { askedOf } from '../rules.ts'
import { inWords } from '../units.ts'

/** The histogram buckets that the alert uses, that of the warning first. */
const IN_TIME = askedOf('ChainExecutionSlow', 'le')
const ABOUT_IN_TIME = IN_TIME.map(({ severity, value }) => `${inWords(Number(value), 's')} (${severity})`).join(
  ', and within ',
)
/** Mean duration by label. */
const mean = (metric: string, label: string): string => `
  sum by (${label}) (rate(${metric}_sum[$__rate_interval]))
  / sum by (${label}) (rate(${metric}_count[$__rate_interval]) > 0)`

export const execution: Row = {
  title: 'Execution',
  panels: [
    graph({
      title: 'Blocks executed in time',
      about: `Share of the blocks that were executed within ${ABOUT_IN_TIME}. Below half, the median is above that time, and consensus waits for execution next.`,
      alerts: ['ChainExecutionSlow'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: limitsBy('ChainExecutionSlow', 'chain_execution_block_duration_seconds_bucket', { only: 'warning' }),
      lines: IN_TIME.map(({ value: bucket }) => ({
        expr: `
          rate(chain_execution_block_duration_seconds_bucket{le="${bucket}"}[$__rate_interval])
          / on (job, instance) (rate(chain_execution_block_duration_seconds_count[$__rate_interval]) > 0)`,
        legend: `within ${inWords(Number(bucket), 's')}`,
      })),
    }),
    graph({
      title: 'Mean time for a block, by phase',
      about: 'Where the time goes. commit is the database and its drives; execution and sender_recovery are the CPU.',
      alerts: ['ChainExecutionSlow'],
      unit: 's',
      width: 8,
      min: 0,
      stacked: true,
      names: ['sender_recovery', 'execution', 'commit'],
      lines: [
        { expr: mean('chain_execution_phase_duration_seconds', 'phase'), legend: '{{phase}}' },
      ],
    }),
    graph({
      title: 'Time to write the state of a block',
      about:
        'Into the database, mean of each timeline, on a logarithmic scale. If it rises, execution slows down next: see the drives on the dashboard of storage and host.',
      alerts: ['ChainExecutionSlow'],
      unit: 's',
      width: 8,
      logarithmic: true,
      lines: [{ expr: mean('chain_execution_upsert_duration_seconds', 'timeline'), legend: '{{timeline}}' }],
    }),
    graph({
      title: 'Executed again, and not finalized',
      about:
        'Heights that were executed again with another block, in ten minutes, and blocks that are executed and not finalized yet. If they grow, see the exceptional events, above.',
      alerts: ['ChainExecutionSlow.lagging', 'ChainStateDiverged.bad-state-root'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      softMax: 4,
      lines: [
        { expr: 'round(increase(chain_execution_reexecutions_total[10m]))', legend: 'executed again' },
        {
          expr: 'chain_execution_block_number - chain_execution_finalized_block_number',
          legend: 'blocks executed and not finalized',
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
        'Share of the last 10 minutes that conflicted with others of its block and was run once more: contention between users, not a fault. Empty below 50 transactions.',
      alerts: ['ChainExecutionSlow'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      lines: [
        { expr: 'instance:chain_execution_retried:ratio10m', legend: 'executed again' },
      ],
    }),
  ],
}
