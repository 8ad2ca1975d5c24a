import { graph } from '../panels/graph.ts'
import { figures } from '../panels/tile.ts'
import { timeline } from '../panels/timeline.ts'
import { UP } from '../value-labels.ts'
import { type Placed } from '../panels/panel.ts'

/** Whether the node keeps up with the network, or can still catch up. */
export const sync: readonly Placed[] = [
  graph({
    title: 'Transactions',
    about: 'Transactions of proposed blocks, and of those that execution has run; over minutes they are the same.',
    alerts: ['ChainExecutionLagging'],
    unit: 'suffix:tx/s',
    decimals: 0,
    width: 8,
    min: 0,
    lines: [
      { expr: 'rate(chain_ledger_transactions_total[$__rate_interval])', legend: 'proposed' },
      { expr: 'rate(chain_execution_transactions_total[$__rate_interval])', legend: 'executed' },
    ],
  }),
  timeline({
    title: 'References',
    about:
      'Whether each reference answers and is on the same chain. Without a majority it is unknown whether the node is behind.',
    alerts: ['ChainBlind'],
    width: 8,
    height: 8,
    words: UP,
    lines: [{ expr: 'chain_reference_up', legend: '{{reference}}' }],
  }),
  graph({
    title: 'References that agree',
    about:
      'References whose heights lie within the agreement window of each other, and how many are configured. A majority must agree.',
    alerts: ['ChainBlind'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    min: 0,
    lines: [
      { expr: 'chain_reference_agreeing', legend: 'agree' },
      { expr: 'count by (job, instance) (chain_reference_up)', legend: 'configured' },
    ],
  }),
  figures({
    title: 'If it stood still from now on',
    about:
      'Time until the node could no longer catch up block by block. During statesync: time until that is done, by its pace.',
    alerts: ['ChainBlocksyncWindow', 'ChainStatesyncFrozen'],
    unit: 's',
    width: 6,
    lines: [
      { expr: 'chain_blocksync_window_remaining_seconds', legend: 'until statesync' },
      { expr: 'chain_statesync_eta_seconds', legend: 'statesync done in' },
    ],
  }),
  figures({
    title: 'Statesync',
    about:
      'Block that statesync has reached and the one that it goes to, by consensus itself and by the status report. There only during and after a statesync.',
    alerts: ['ChainStatesync', 'ChainStatesyncFrozen', 'ChainBlind'],
    unit: 'locale',
    width: 10,
    lines: [
      { expr: 'chain_native_statesync_progress_block', legend: 'reached' },
      { expr: 'chain_native_statesync_target_block', legend: 'goes to' },
      { expr: 'chain_status_statesync_progress_block', legend: 'reached, by the report' },
      { expr: 'chain_status_statesync_target_block', legend: 'goes to, by the report' },
    ],
  }),
  figures({
    title: 'Statesync is done to',
    about: 'By the status report, which is up to five minutes old.',
    alerts: ['ChainStatesync'],
    unit: 'percentunit',
    decimals: 1,
    width: 4,
    lines: [{ expr: 'chain_status_statesync_progress_ratio', legend: 'by the report' }],
  }),
  figures({
    title: 'Statesync has moved',
    about: 'Since statesync last moved, which matters only while it is needed. It may not go on by itself.',
    alerts: ['ChainStatesyncFrozen'],
    unit: 's',
    width: 4,
    lines: [{ expr: 'time() - chain_statesync_last_progress_timestamp_seconds', legend: 'ago' }],
  }),
]
