import { type Row } from '../frame.ts'
import { graph } from '../panels/graph.ts'
import { timeline } from '../panels/timeline.ts'
import { quantile } from '../promql.ts'
import { UP } from '../value-labels.ts'

const aboveRpc = (metric: string): string =>
  `${metric} - on (job, instance) group_left () chain_rpc_block_number{tag="latest"}`

const mean = (metric: string): string => `increase(${metric}_sum[1h]) / (increase(${metric}_count[1h]) > 0)`

export const chain: Row = {
  title: 'Chain and references',
  panels: [
    graph({
      title: 'Propagation and finality',
      about:
        'From the timestamp of a block until the ledger stream has its proposal, and until it reports it as finalized. If both rise, see the clock first, then the network. The scale is logarithmic.',
      alerts: ['ChainClockDrift', 'ChainNotVoting.late'],
      unit: 's',
      width: 8,
      logarithmic: true,
      lines: [
        { expr: quantile(0.5, 'chain_ledger_propagation_seconds'), legend: 'proposal, median' },
        { expr: quantile(0.99, 'chain_ledger_propagation_seconds'), legend: 'proposal, 99th' },
        { expr: quantile(0.5, 'chain_ledger_finality_seconds'), legend: 'finality, median' },
        { expr: quantile(0.99, 'chain_ledger_finality_seconds'), legend: 'finality, 99th' },
      ],
    }),
    graph({
      title: 'Time between blocks',
      about:
        'By the timestamps of consecutive proposed blocks. The median is the block time. If the 99th percentile rises alone, rounds timed out.',
      alerts: ['ChainBlockStalled.deadlock'],
      unit: 's',
      width: 8,
      min: 0,
      lines: [
        { expr: quantile(0.5, 'chain_ledger_block_interval_seconds'), legend: 'median' },
        { expr: quantile(0.99, 'chain_ledger_block_interval_seconds'), legend: '99th percentile' },
      ],
    }),
    graph({
      title: 'Rounds without a block, blocks of the future',
      about:
        'Rounds that gave no block, of all leaders, and blocks whose timestamp is later than their line here. Many blocks of the future: the clock of this host is late, or those of leaders are ahead.',
      alerts: ['ChainClockDrift', 'ChainLeaderTimeouts'],
      unit: 'suffix:/s',
      width: 8,
      min: 0,
      lines: [
        { expr: 'rate(chain_ledger_skipped_rounds_total[$__rate_interval])', legend: 'rounds skipped' },
        { expr: 'rate(chain_ledger_timeouts_total[$__rate_interval])', legend: 'rounds timed out' },
        { expr: 'rate(chain_ledger_future_blocks_total[$__rate_interval])', legend: 'blocks of the future' },
      ],
    }),
    graph({
      title: 'Heights relative to the RPC of this node',
      about:
        'Blocks by which the agreed height, each reference and the finalized height of this node differ from its latest height. Above 0 is ahead of this node.',
      alerts: ['ChainBehind'],
      unit: 'locale',
      width: 8,
      lines: [
        { expr: 'chain_block_difference or chain_blocks_behind', legend: 'agreed by the references' },
        { expr: aboveRpc('chain_reference_block_number'), legend: '{{reference}}' },
        {
          expr: `chain_rpc_block_number{tag="finalized"} - on (job, instance) chain_rpc_block_number{tag="latest"}`,
          legend: 'finalized here',
        },
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
        'References whose heights are within the agreement window of each other, those that have the same finalized block as the node, and the number of configured ones. A majority must agree.',
      alerts: ['ChainBlind'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [
        { expr: 'chain_reference_agreeing', legend: 'agree' },
        { expr: 'count by (job, instance) (chain_reference_hash_matches == 1)', legend: 'same block' },
        { expr: 'count by (job, instance) (chain_reference_up)', legend: 'configured' },
      ],
    }),
    graph({
      title: 'Own blocks against all',
      about:
        'Mean of an hour. Interval: from the timestamp of the block before, which another leader set; if that of own blocks is longer, this node proposes late, or its clock is late. To the line: until the ledger stream has the block; own blocks have no way over the network. Whether others receive own blocks late is not visible here.',
      alerts: ['ChainClockDrift', 'ChainLeaderTimeouts.shortfall'],
      empty: 'no own blocks',
      unit: 's',
      width: 12,
      min: 0,
      lines: [
        { expr: mean('chain_ledger_own_block_interval_seconds'), legend: 'interval, own' },
        { expr: mean('chain_ledger_block_interval_seconds'), legend: 'interval, all' },
        { expr: mean('chain_ledger_own_delay_seconds'), legend: 'to the line, own' },
        { expr: mean('chain_ledger_propagation_seconds'), legend: 'to the line, all' },
      ],
    }),
    graph({
      title: 'Base fee',
      about: 'Per gas of the latest block. It rises while blocks are fuller than their target, on every node.',
      alerts: ['ChainOwnBlocksEmpty'],
      unit: 'suffix:gwei',
      width: 12,
      min: 0,
      lines: [{ expr: 'chain_rpc_base_fee_wei / 1e9', legend: 'base fee' }],
    }),
  ],
}
