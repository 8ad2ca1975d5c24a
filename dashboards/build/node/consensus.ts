import { peers } from './peers.ts'
import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { ABOUT_FEW, OWN_TIMEOUTS, OWN_TIMEOUTS_LIMITS } from '../own-timeouts.ts'
import { graph } from '../panels/graph.ts'
import { EXPECTED_ROUNDS_NOTE, EXPECTED_ROUNDS } from '../expected-rounds.ts'

const EVENTS = [
  'committed_block',
  'round_entered_by_qc',
  'vote_sent',
  'round_entered_by_tc',
  'local_timeout',
  'execution_lagging',
  'bad_state_root',
  'base_fee_error',
  'statesync_triggered',
]
const KINDS = [
  'committed_block',
  'round_advanced',
  'vote_sent',
  'proposal',
  'round_timed_out',
  'local_timeout',
  'statesync',
  'blocksync',
]

export const consensus: Row = {
  title: 'Consensus and own duties',
  panels: [
    graph({
      title: 'Votes for each round',
      about:
        'Votes cast for each round that a quorum closed; absent outside the active set. Below the lines the validator follows, and does not vote: look at its keys, its clock and its version.',
      alerts: ['ChainNotVoting', 'ChainLeftActiveSet'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      limits: limitsBy({
        alert: 'ChainNotVoting',
        metric: 'instance:chain_votes_per_round:ratio_rate2m',
      }),
      lines: [{ expr: 'instance:chain_votes_per_round:ratio_rate2m', legend: 'votes per round' }],
    }),
    graph({
      title: 'Until a vote is ready',
      about:
        'From the start of the vote timer until the vote is ready. When the 99th percentile alone rises, look at the drive and at the processor.',
      alerts: ['ChainVotesLate'],
      unit: 's',
      width: 8,
      min: 0,
      limits: limitsBy({ alert: 'ChainVotesLate', metric: 'chain_native_vote_delay_seconds' }),
      names: ['p50', 'p90', 'p99'],
      lines: [{ expr: 'chain_native_vote_delay_seconds', legend: '{{percentile}}' }],
    }),
    graph({
      title: 'Working time of the parts of consensus',
      about:
        'Seconds of work per second of each part. The one that rises is what makes votes and proposals late. `state` is the state machine itself.',
      alerts: ['ChainVotesLate', 'ChainLogTrouble'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      lines: [{ expr: 'rate(chain_native_executor_seconds_total[$__rate_interval])', legend: '{{part}}' }],
    }),
    graph({
      title: 'Failures of blocksync, rejected messages',
      about:
        'Events in five minutes. `blocksync_no_peers` and `blocksync_timeout`: the node needs blocks and does not get them. `version_rejected`: peers run another version.',
      alerts: ['ChainBehind', 'ChainIsolated', 'ChainConsensusFinding'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [
        {
          expr: 'increase(chain_native_events_total{event=~"blocksync_.*|.*_rejected"}[5m])',
          legend: '{{event}}',
        },
      ],
    }),
    graph({
      title: 'Latency of block distribution',
      about: '99th percentile of the time until a block has been received over UDP, over 30 seconds.',
      alerts: ['ChainUdpDrops', 'ChainVotesLate'],
      unit: 's',
      width: 8,
      min: 0,
      lines: [{ expr: 'chain_native_broadcast_latency_seconds', legend: '{{channel}}' }],
    }),
    graph({
      title: 'Transactions in the pool',
      about: 'Transactions that wait for a block. The number rises when execution is slow, or when demand is high.',
      alerts: ['ChainExecutionSlow', 'ChainExecutionLagging'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [{ expr: 'chain_native_pool_transactions', legend: 'waiting' }],
    }),
    graph({
      title: 'Rounds that timed out, own and of all',
      about: `Share of the rounds of six hours that gave no block. The own one alone above the line: the cause is on this node. Both: the network is in trouble. ${ABOUT_FEW}`,
      alerts: ['ChainLeaderTimeouts'],
      unit: 'percentunit',
      decimals: 1,
      width: 12,
      min: 0,
      limits: OWN_TIMEOUTS_LIMITS,
      lines: [
        { expr: OWN_TIMEOUTS, legend: 'own' },
        { expr: 'chain_duty_timeout_ratio{scope="network"}', legend: 'network' },
      ],
    }),
    graph({
      title: 'Own rounds of six hours',
      about: `Rounds that this node led, by how they ended, and how many its stake let expect. ${EXPECTED_ROUNDS_NOTE} The dashboard of duties shows what chance allows.`,
      alerts: ['ChainProposalShortfall', 'ChainBlind'],
      unit: 'locale',
      decimals: 0,
      width: 12,
      min: 0,
      lines: [
        { expr: 'chain_duty_slots{result="block"}', legend: 'gave a block' },
        { expr: 'chain_duty_slots{result="timeout"}', legend: 'timed out' },
        { expr: EXPECTED_ROUNDS, legend: 'expected by stake' },
      ],
    }),
    graph({
      title: 'What consensus did',
      about:
        'Events of consensus by its own counters. Local timeouts beside no committed block is a deadlock; a state root that differs is never normal.',
      alerts: ['ChainConsensusDeadlock', 'ChainBadStateRoot', 'ChainExecutionLagging'],
      unit: 'suffix:/s',
      decimals: 2,
      width: 12,
      min: 0,
      names: EVENTS,
      lines: [{ expr: 'rate(chain_native_events_total[$__rate_interval])', legend: '{{event}}' }],
    }),
    graph({
      title: 'What the log of consensus says, in a minute',
      about:
        'Messages of the last minute by kind. It must be much like the counters beside it; where it is absent the log does not tell (only warnings are kept, or messages were dropped).',
      alerts: ['ChainLogsIncomplete'],
      unit: 'locale',
      decimals: 0,
      width: 12,
      min: 0,
      names: KINDS,
      lines: [
        {
          expr: 'chain_consensus_window_messages{kind!~"warning|error"}',
          legend: '{{kind}}',
        },
      ],
    }),
    ...peers,
  ],
}
