import { type Row } from '../frame.ts'
import { figures } from '../panels/tile.ts'

const NOT_SYNCING = 'not syncing'

export const sync: Row = {
  title: 'Statesync and the last start',
  collapsed: true,
  panels: [
    figures({
      title: 'Time left',
      about:
        'Time until a stalled node could no longer catch up block by block. During a statesync: time until it completes, at its current rate.',
      alerts: ['ChainBlocksyncWindow', 'ChainStatesyncFrozen'],
      unit: 's',
      width: 5,
      lines: [
        { expr: 'chain_blocksync_window_remaining_seconds', legend: 'until it cannot catch up' },
        { expr: 'chain_statesync_eta_seconds', legend: 'statesync completes in' },
      ],
    }),
    figures({
      title: 'Statesync: blocks',
      about:
        'The block that statesync has reached and its target, as consensus and the status report have them. Only during and after a statesync.',
      alerts: ['ChainStatesync', 'ChainStatesyncFrozen', 'ChainBlind'],
      empty: NOT_SYNCING,
      unit: 'locale',
      width: 8,
      lines: [
        { expr: 'chain_native_statesync_progress_block', legend: 'reached' },
        { expr: 'chain_native_statesync_target_block', legend: 'target' },
        { expr: 'chain_status_statesync_progress_block', legend: 'reached, report' },
        { expr: 'chain_status_statesync_target_block', legend: 'target, report' },
      ],
    }),
    figures({
      title: 'Statesync: progress',
      about: 'As the status report has it, which is up to five minutes old. See its age next to it.',
      alerts: ['ChainStatesync'],
      empty: NOT_SYNCING,
      unit: 'percentunit',
      decimals: 1,
      width: 4,
      lines: [{ expr: 'chain_status_statesync_progress_ratio', legend: 'of the status report' }],
    }),
    figures({
      title: 'Statesync: last progress',
      about: 'Time since statesync last progressed; it matters only while the node needs statesync.',
      alerts: ['ChainStatesyncFrozen'],
      empty: NOT_SYNCING,
      unit: 's',
      width: 4,
      lines: [{ expr: 'time() - chain_statesync_last_progress_timestamp_seconds', legend: 'ago' }],
    }),
    figures({
      title: 'Last start',
      about:
        'Time from the last observed start of consensus until the node had caught up. A start that led to statesync does not count. Expect as long for the next restart.',
      alerts: ['ChainUpgradeDue.restart', 'ChainBehind'],
      empty: 'none observed',
      unit: 's',
      width: 3,
      lines: [{ expr: 'chain_last_start_seconds', legend: 'until caught up' }],
    }),
  ],
}
