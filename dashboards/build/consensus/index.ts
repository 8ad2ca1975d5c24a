import { type Row, frame } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { EXPECTED_ROUNDS_NOTE, EXPECTED_ROUNDS } from '../own-rounds.ts'
import { askedOf } from '../rules.ts'
import { inWords } from '../units.ts'
import { timeline } from '../panels/timeline.ts'
import { quantile } from '../promql.ts'
import { UP } from '../value-labels.ts'
import { figures } from '../panels/tile.ts'
import { overview } from '../overview.ts'
import { peers, rpc, traffic } from './peers.ts'

/** Events of a healthy node; the others are faults, or have a graph of their own. */
const NORMAL = [
  'committed_block',
  'round_entered_by_qc',
  'round_entered_by_tc',
  'vote_created',
  'vote_received',
  'proposal_created',
  'remote_timeout',
]
const FAULTS = 'local_timeout execution_lagging bad_state_root base_fee_error statesync_target_set'.split(' ')
const BLOCKSYNC = [
  'blocksync_requested',
  'blocksync_timeout',
  'blocksync_no_peers',
  'blocksync_invalid_headers',
  'timestamp_rejected',
  'transactions_rejected',
  'version_rejected',
]
const KINDS = [
  'committed_block',
  'round_advanced',
  'vote_created',
  'proposal',
  'round_timed_out',
  'local_timeout',
  'statesync',
  'blocksync',
]

const events = (names: readonly string[]): string => `chain_native_events_total{event=~"${names.join('|')}"}`

const consensus: Row = {
  title: 'Consensus',
  panels: [
    graph({
      title: 'Exceptional events, in five minutes',
      about:
        'By the counters of consensus. Local timeouts without committed blocks are a deadlock. Blocks of others that are rejected (`bad_state_root`) come from single leaders on a healthy node, too; if nearly every block is rejected, compare the blocks with the references.',
      alerts: [
        'ChainBlockStalled.deadlock',
        'ChainStateDiverged.bad-state-root',
        'ChainExecutionSlow.lagging',
        'ChainStatesync',
      ],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      names: FAULTS,
      lines: [{ expr: `round(increase(${events(FAULTS)}[5m]))`, legend: '{{event}}' }],
    }),
    graph({
      title: 'Failures of blocksync, rejected messages, in five minutes',
      about:
        '`blocksync_no_peers` and `blocksync_timeout`: the node needs blocks and does not get them. `version_rejected`: peers run another version.',
      alerts: ['ChainBehind', 'ChainIsolated', 'ChainLogTrouble.consensus-finding'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      names: BLOCKSYNC,
      lines: [{ expr: `increase(${events(BLOCKSYNC)}[5m])`, legend: '{{event}}' }],
    }),
    graph({
      title: 'Time until a vote is ready',
      about:
        'From the own vote until the proposal of the next round was accepted. Late leaders increase it, too: if it rises on this node alone, see the drive and the CPU.',
      alerts: ['ChainNotVoting.late'],
      empty: 'not voting',
      unit: 's',
      width: 8,
      min: 0,
      limits: limitsBy('ChainNotVoting.late', 'chain_native_vote_delay_seconds'),
      lines: [50, 90, 99].map((percentile) => ({
        expr: `chain_native_vote_delay_seconds{percentile="${percentile}"}`,
        legend: `p${percentile}`,
      })),
    }),
    graph({
      title: 'Working time of the parts of consensus',
      about:
        'Seconds of work per second of each part. The one that rises delays votes and proposals. `state` is the state machine itself.',
      alerts: ['ChainNotVoting.late', 'ChainLogTrouble'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      names: ['state', 'ledger', 'router', 'statesync', 'txpool'],
      lines: [{ expr: 'rate(chain_native_executor_seconds_total[$__rate_interval])', legend: '{{part}}' }],
    }),
    graph({
      title: 'Latency of block distribution',
      about:
        'From the clock of the sender to that of this node for each message over UDP, 99th percentile of 30 seconds; wrong clocks of senders move it. Validators use the primary channel, full nodes the secondary one. If it rises, see dropped UDP packets.',
      alerts: ['ChainUdpDrops', 'ChainNotVoting.late'],
      unit: 's',
      width: 8,
      min: 0,
      names: ['primary', 'secondary'],
      lines: [{ expr: 'chain_native_broadcast_latency_seconds', legend: '{{channel}}' }],
    }),
    graph({
      title: 'Transactions in the pool',
      about: 'Transactions that wait for a block. The number rises when execution is slow, or when demand is high.',
      alerts: ['ChainExecutionSlow', 'ChainExecutionSlow.lagging'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [{ expr: 'chain_native_pool_transactions', legend: 'waiting' }],
    }),
    graph({
      title: 'Events of a healthy node',
      about: 'By the counters of consensus, per second. A line that ends at 0: that part of consensus has stopped.',
      alerts: ['ChainBlockStalled.deadlock', 'ChainBlockStalled'],
      unit: 'suffix:/s',
      decimals: 2,
      width: 8,
      min: 0,
      names: NORMAL,
      lines: [{ expr: `rate(${events(NORMAL)}[$__rate_interval])`, legend: '{{event}}' }],
    }),
    graph({
      title: 'Messages in the log of consensus, in a minute',
      about:
        'Messages of the last minute by kind. They should be close to the counters of consensus. Absent: the log level keeps only warnings, or journald dropped messages.',
      alerts: ['ChainLogsIncomplete'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      names: KINDS,
      lines: [{ expr: 'chain_consensus_window_messages{kind!~"warning|error"}', legend: '{{kind}}' }],
    }),
    graph({
      title: 'Own rounds of six hours',
      about: `Rounds that this node led, by result, and the number expected from its stake. ${EXPECTED_ROUNDS_NOTE} The dashboard of duties shows the range that chance allows.`,
      alerts: ['ChainLeaderTimeouts.shortfall', 'ChainBlind'],
      empty: 'no rounds led',
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [
        { expr: 'chain_duty_slots{result="block"}', legend: 'gave a block' },
        { expr: 'chain_duty_slots{result="timeout"}', legend: 'timed out' },
        { expr: EXPECTED_ROUNDS, legend: 'expected by stake' },
      ],
    }),
  ],
}

/** The histogram buckets that the alert uses, that of the warning first. */
const IN_TIME = askedOf('ChainExecutionSlow', 'le')
const ABOUT_IN_TIME = IN_TIME.map(({ severity, value }) => `${inWords(Number(value), 's')} (${severity})`).join(
  ', and within ',
)
/** Mean duration by label. */
const meanBy = (metric: string, label: string): string => `
  sum by (${label}) (rate(${metric}_sum[$__rate_interval]))
  / sum by (${label}) (rate(${metric}_count[$__rate_interval]) > 0)`

const execution: Row = {
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
      lines: [{ expr: meanBy('chain_execution_phase_duration_seconds', 'phase'), legend: '{{phase}}' }],
    }),
    graph({
      title: 'Time to write the state of a block',
      about:
        'Into the database, mean of each timeline, on a logarithmic scale. If it rises, execution slows down next: see the drives on the dashboard of storage and host.',
      alerts: ['ChainExecutionSlow'],
      unit: 's',
      width: 8,
      logarithmic: true,
      lines: [{ expr: meanBy('chain_execution_upsert_duration_seconds', 'timeline'), legend: '{{timeline}}' }],
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
      lines: [{ expr: 'instance:chain_execution_retried:ratio10m', legend: 'executed again' }],
    }),
  ],
}

const aboveRpc = (metric: string): string =>
  `${metric} - on (job, instance) group_left () chain_rpc_block_number{tag="latest"}`

const mean = (metric: string): string => `increase(${metric}_sum[1h]) / (increase(${metric}_count[1h]) > 0)`

const chain: Row = {
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
        { expr: 'chain_block_difference', legend: 'agreed by the references' },
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

const NOT_SYNCING = 'not syncing'

const sync: Row = {
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

/** The detail of one node: what delays or stops its blocks. */
export const consensusDashboard = () =>
  frame({
    name: 'consensus',
    description: 'One node in detail: chain, consensus, peers, RPC and execution. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [overview, consensus, execution, chain, peers, rpc, traffic, sync],
  })
