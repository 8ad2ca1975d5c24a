import { sync } from './sync.ts'
import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { figures } from '../panels/tile.ts'
import { quantile } from '../promql.ts'

const above = (metric: string): string =>
  `${metric} - on (job, instance) group_left () chain_rpc_block_number{tag="latest"}`

export const chain: Row = {
  title: 'Chain',
  panels: [
    figures({
      title: 'Heights by who tells them',
      about:
        'The newest block as each witness on the node knows it. They differ by a few blocks; one that stays while others grow is the one to look at.',
      alerts: ['ChainBlockStalled', 'ChainLogsIncomplete'],
      unit: 'locale',
      decimals: 0,
      width: 24,
      lines: [
        { expr: 'chain_rpc_block_number{tag="latest"}', legend: 'RPC latest' },
        { expr: 'chain_rpc_block_number{tag="safe"}', legend: 'RPC safe' },
        { expr: 'chain_rpc_block_number{tag="finalized"}', legend: 'RPC finalized' },
        { expr: 'chain_consensus_block_number', legend: 'consensus log' },
        { expr: 'chain_ledger_seq_num{event="proposed"}', legend: 'ledger proposed' },
        { expr: 'chain_ledger_seq_num{event="finalized"}', legend: 'ledger final' },
        { expr: 'chain_execution_block_number', legend: 'executed' },
        { expr: 'chain_execution_finalized_block_number', legend: 'executed final' },
        { expr: 'chain_storage_latest_block{state="finalized"}', legend: 'database' },
      ],
    }),
    graph({
      title: 'Age of the newest block',
      about:
        'By the own time of the newest block, for each witness. All rise together: no block comes. One alone rises: that witness has stopped, not the node.',
      alerts: ['ChainBlockStalled'],
      unit: 's',
      width: 12,
      min: 0,
      limits: limitsBy({ alert: 'ChainBlockStalled', metric: 'instance:chain_block_age:seconds' }),
      lines: [
        { expr: 'instance:chain_block_age:seconds', legend: 'newest of all' },
        {
          expr: 'time() - chain_ledger_block_timestamp_seconds{event="proposed"}',
          legend: 'ledger stream',
        },
        { expr: 'time() - chain_rpc_block_timestamp_seconds{tag="latest"}', legend: 'RPC latest' },
        {
          expr: 'time() - chain_rpc_last_advance_timestamp_seconds',
          legend: 'since the height of the RPC grew',
        },
        { expr: 'time() - chain_execution_block_timestamp_seconds', legend: 'executed' },
      ],
    }),
    graph({
      title: 'Blocks per second',
      about:
        'Pace of the chain as the agent measures it, of what the ledger stream calls final, and of what is executed. Execution above the others catches up; below them it falls behind.',
      alerts: ['ChainBlockStalled', 'ChainExecutionLagging'],
      unit: 'suffix:blocks/s',
      decimals: 2,
      width: 12,
      min: 0,
      lines: [
        { expr: 'chain_blocks_per_second', legend: 'pace of the chain' },
        {
          expr: 'rate(chain_ledger_blocks_total{event="finalized", scope="network"}[$__rate_interval])',
          legend: 'final in the ledger stream',
        },
        { expr: 'rate(chain_execution_blocks_total[$__rate_interval])', legend: 'executed' },
      ],
    }),
    graph({
      title: 'Behind the references',
      about:
        'The time that the chain takes for the blocks that the node is behind what the references agree on; negative when it is ahead. It must come back to about 0 after each restart.',
      alerts: ['ChainBehind', 'ChainBlind'],
      unit: 's',
      width: 8,
      limits: limitsBy({ alert: 'ChainBehind', metric: 'instance:chain_behind:seconds' }),
      lines: [{ expr: 'instance:chain_behind:seconds', legend: 'behind' }],
    }),
    graph({
      title: 'Heights beside the latest of the RPC',
      about:
        'Blocks of the agreed difference, of each reference and of the finality of this node, counted from the latest height of its RPC. Above 0 is ahead of the node.',
      alerts: ['ChainBehind'],
      unit: 'locale',
      width: 8,
      lines: [
        { expr: 'chain_block_difference', legend: 'agreed by the references' },
        { expr: above('chain_reference_block_number'), legend: '{{reference}}' },
        {
          expr: `chain_rpc_block_number{tag="finalized"} - on (job, instance) chain_rpc_block_number{tag="latest"}`,
          legend: 'finalized here',
        },
      ],
    }),
    graph({
      title: 'Blocks until statesync',
      about:
        'How many blocks the node can still fall behind before peers no longer serve what it lacks, also while it says nothing at all.',
      alerts: ['ChainBlocksyncWindow'],
      unit: 'locale',
      width: 8,
      min: 0,
      limits: limitsBy({
        alert: 'ChainBlocksyncWindow',
        metric: 'chain_blocksync_window_remaining_blocks',
      }),
      lines: [{ expr: 'chain_blocksync_window_remaining_blocks', legend: 'blocks left' }],
    }),
    graph({
      title: 'Time between blocks',
      about:
        'By the own times of consecutive proposed blocks. The median is the pace; a 99th percentile that rises alone tells of rounds that timed out.',
      alerts: ['ChainConsensusDeadlock'],
      unit: 's',
      width: 8,
      min: 0,
      lines: [
        { expr: quantile(0.5, 'chain_ledger_block_interval_seconds'), legend: 'median' },
        { expr: quantile(0.99, 'chain_ledger_block_interval_seconds'), legend: '99th percentile' },
      ],
    }),
    graph({
      title: 'From a block to its line, and to its finality',
      about:
        'From the own time of a block until the ledger stream has its proposal, and until it says that it is final. When both rise look at the clock first, then at the network.',
      alerts: ['ChainClockDrift', 'ChainVotesLate'],
      unit: 's',
      width: 8,
      min: 0,
      lines: [
        { expr: quantile(0.5, 'chain_ledger_propagation_seconds'), legend: 'proposal, median' },
        { expr: quantile(0.99, 'chain_ledger_propagation_seconds'), legend: 'proposal, 99th' },
        { expr: quantile(0.5, 'chain_ledger_finality_seconds'), legend: 'finality, median' },
        { expr: quantile(0.99, 'chain_ledger_finality_seconds'), legend: 'finality, 99th' },
      ],
    }),
    graph({
      title: 'Rounds without a block, blocks of the future',
      about:
        'Rounds that gave no block, over all leaders, and blocks whose own time lies after their line here. Many of the future: our clock is late, or the clocks of leaders are ahead.',
      alerts: ['ChainClockDrift', 'ChainLeaderTimeouts'],
      unit: 'suffix:/s',
      width: 8,
      min: 0,
      lines: [
        {
          expr: 'rate(chain_ledger_skipped_rounds_total[$__rate_interval])',
          legend: 'rounds skipped',
        },
        {
          expr: 'rate(chain_ledger_timeouts_total{scope="network"}[$__rate_interval])',
          legend: 'rounds timed out',
        },
        {
          expr: 'rate(chain_ledger_future_blocks_total[$__rate_interval])',
          legend: 'blocks of the future',
        },
      ],
    }),
    ...sync,
  ],
}
