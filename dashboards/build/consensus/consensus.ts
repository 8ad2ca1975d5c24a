import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { EXPECTED_ROUNDS_NOTE, EXPECTED_ROUNDS } from '../expected-rounds.ts'

/**
 * Events of a healthy node; the others are faults, or have a graph of their own. `vote_sent` and `statesync_triggered` are
 * the names of version 0.2.0.
 */
const NORMAL = [
  'committed_block',
  'round_entered_by_qc',
  'round_entered_by_tc',
  'vote_created',
  'vote_sent',
  'vote_received',
  'proposal_created',
  'remote_timeout',
]
const FAULTS = [
  'local_timeout',
  'execution_lagging',
  'bad_state_root',
  'base_fee_error',
  'statesync_target_set',
  'statesync_triggered',
]
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
  'vote_sent',
  'proposal',
  'round_timed_out',
  'local_timeout',
  'statesync',
  'blocksync',
]

const events = (names: readonly string[]): string => `chain_native_events_total{event=~"${names.join('|')}"}`

export const consensus: Row = {
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
        // An agent of version 0.2.0 has the label `quantile`.
        expr: `chain_native_vote_delay_seconds{percentile="${percentile}"} or chain_native_vote_delay_seconds{quantile="${percentile / 100}"}`,
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
      lines: [
        { expr: 'chain_consensus_window_messages{kind!~"warning|error"}', legend: '{{kind}}' },
      ],
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
