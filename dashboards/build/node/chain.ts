import { type Row } from '../frame.ts'
import { limitsBy, SESSIONS_LIMITS } from '../limits.ts'
import { OWN_TIMEOUTS, OWN_TIMEOUTS_LIMITS, ABOUT_FEW } from '../own-rounds.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'

const from = (source: string, expr: string): string => `label_replace(${expr}, "source", "${source}", "", "")`
const anyOf = (sources: Readonly<Record<string, string>>): string =>
  Object.entries(sources)
    .map(([source, expr]) => from(source, expr))
    .join(' or ')

const HEIGHTS = [
  anyOf({
    'RPC, latest': 'chain_rpc_block_number{tag="latest"}',
    'RPC, safe': 'chain_rpc_block_number{tag="safe"}',
    'RPC, finalized': 'chain_rpc_block_number{tag="finalized"}',
    'consensus log': 'chain_consensus_block_number',
    'ledger, proposed': 'chain_ledger_seq_num{event="proposed"}',
    'ledger, finalized': 'chain_ledger_seq_num{event="finalized"}',
    'execution, executed': 'chain_execution_block_number',
    'execution, finalized': 'chain_execution_finalized_block_number',
    'database, finalized': 'chain_storage_latest_block{state="finalized"}',
    'status report': 'chain_status_block_number',
  }),
  'label_replace(chain_reference_block_number, "source", "reference $1", "reference", "(.+)")',
].join(' or ')

const AGES = anyOf({
  'RPC, latest': 'time() - chain_rpc_block_timestamp_seconds{tag="latest"}',
  'RPC, safe': 'time() - chain_rpc_block_timestamp_seconds{tag="safe"}',
  'RPC, finalized': 'time() - chain_rpc_block_timestamp_seconds{tag="finalized"}',
  'ledger, proposed': 'time() - chain_ledger_block_timestamp_seconds{event="proposed"}',
  'ledger, finalized': 'time() - chain_ledger_block_timestamp_seconds{event="finalized"}',
})

export const chain: Row = {
  title: 'Chain and consensus',
  panels: [
    graph({
      title: 'Blocks per second',
      about:
        'Rate of the chain as the agent measures it, of the blocks that the ledger stream reports as finalized, and of the executed ones. Execution above the others catches up; below them it falls behind.',
      alerts: ['ChainBlockStalled', 'ChainExecutionSlow.lagging'],
      unit: 'suffix:blocks/s',
      decimals: 2,
      width: 8,
      min: 0,
      lines: [
        { expr: 'chain_blocks_per_second', legend: 'rate of the chain' },
        {
          expr: 'rate(chain_ledger_blocks_total{event="finalized"}[$__rate_interval])',
          legend: 'finalized in the ledger stream',
        },
        { expr: 'rate(chain_execution_blocks_total[$__rate_interval])', legend: 'executed' },
      ],
    }),
    graph({
      title: 'Votes for each round',
      about:
        'Votes that the node computed for each round that a quorum closed, also those that did not leave the host; absent outside the active set. Below the lines the validator follows, and does not vote: see its keys, its clock and its version.',
      alerts: ['ChainNotVoting', 'ChainLeftActiveSet'],
      empty: 'not in the active set',
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      limits: limitsBy('ChainNotVoting', 'instance:chain_votes_per_round:ratio_rate2m'),
      lines: [{ expr: 'instance:chain_votes_per_round:ratio_rate2m', legend: 'votes per round' }],
    }),
    graph({
      title: 'Rounds that timed out, own and of all',
      about: `Share of the rounds of six hours that gave no block. Only the own one is above the line: the cause is on this node. Both are: the cause is in the network. ${ABOUT_FEW}`,
      alerts: ['ChainLeaderTimeouts'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      limits: OWN_TIMEOUTS_LIMITS,
      lines: [
        { expr: OWN_TIMEOUTS, legend: 'own' },
        { expr: 'chain_duty_timeout_ratio{scope="network"}', legend: 'network' },
      ],
    }),
    table({
      title: 'Heights by source',
      about:
        'The newest block of each source, how far it is behind the newest of all, and its age. They differ by a few blocks. A source that stays while the others grow has stopped.',
      alerts: ['ChainBlockStalled', 'ChainLogsIncomplete'],
      width: 8,
      height: 8,
      keys: { source: 'Source' },
      widths: { source: 190 },
      sortBy: { title: 'Behind', descending: true },
      columns: [
        { title: 'Behind', expr: `scalar(max(${HEIGHTS})) - max by (source) (${HEIGHTS})`, unit: 'locale' },
        {
          title: 'Age',
          expr: `max by (source) (${AGES})`,
          unit: 's',
          decimals: 1,
          empty: '',
          limits: limitsBy('ChainBlockStalled', 'instance:chain_block_age:seconds'),
        },
        { title: 'Height', expr: `max by (source) (${HEIGHTS})`, unit: 'locale' },
      ],
    }),
    graph({
      title: 'Sessions',
      about:
        'Sessions with peers over the authenticated transport. If they fall while the number of known peers stays, the node is being cut off: see its ports and its address.',
      alerts: ['ChainIsolated', 'ChainPeersFew.sessions'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      limits: SESSIONS_LIMITS,
      names: ['transport', 'total', 'initiating'],
      lines: [{ expr: 'chain_native_sessions', legend: '{{state}}' }],
    }),
    graph({
      title: 'Blocks left of statesync',
      about:
        'Blocks between the one that statesync has reached, by the estimate of the node, and its target. The line may stay level while data arrives: statesync is stalled only if the use of the database does not change either.',
      alerts: ['ChainStatesync', 'ChainStatesyncFrozen', 'ChainBlind'],
      empty: 'not syncing',
      unit: 'suffix:blocks',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [
        {
          expr: 'chain_native_statesync_target_block - chain_native_statesync_progress_block',
          legend: 'as consensus reports',
        },
        {
          expr: 'chain_status_statesync_target_block - chain_status_statesync_progress_block',
          legend: 'of the status report',
        },
      ],
    }),
  ],
}
