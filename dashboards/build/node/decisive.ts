import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { type Placed } from '../panels/panel.ts'

/** Titles of the graphs that decide how urgent a fault is. */
export const DECISIVE = {
  age: 'Age of the newest block',
  behind: 'Behind the references',
  window: 'Blocksync window left',
} as const

const SIZE = { width: 8, height: 6 }

export const decisive: readonly Placed[] = [
  graph({
    ...SIZE,
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
        expr: 'time() - (chain_execution_block_started_timestamp_seconds or chain_execution_block_timestamp_seconds)',
        legend: 'since execution started a block',
      },
    ],
  }),
  graph({
    ...SIZE,
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
    ...SIZE,
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
