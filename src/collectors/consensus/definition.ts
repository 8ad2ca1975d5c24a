import { enabled, serviceUnit, timed } from '../../core/settings.ts'
import { gauge, open, counter } from '../../core/metric.ts'
import { each, objectOf, orNull, recordOf } from '../shared/reading-schema.ts'

/** Kinds of messages of the consensus log. */
export const CONSENSUS_KINDS = [
  'committed_block',
  'round_advanced',
  'round_timed_out',
  'local_timeout',
  'statesync',
  'blocksync',
  'vote_created',
  'proposal',
  'warning',
  'error',
] as const
export const NETWORK_ERROR_KINDS = ['decrypt', 'session_timeout', 'timestamp'] as const

export const definition = {
  name: 'consensus',
  help: 'the last 60 seconds of the consensus log: rounds, blocks, timeouts, sync, findings',
  introduction:
    'The last 60 seconds of the consensus log. Values that need messages that are not in the log are absent: when only warnings and errors are logged, or when journald dropped messages.',
  settings: timed('5s', '10s', {
    enabled,
    unit: serviceUnit.default('{prefix}-bft.service').describe('the unit whose journal is the consensus log'),
  }),
  reading: objectOf({
    lastEntryAt: orNull.time,
    ...each(orNull.integer, 'round', 'epoch', 'block'),
    ...each(orNull.flag, 'committing', 'startActive', 'statesyncActive'),
    messages: recordOf(orNull.number),
    networkErrors: orNull.number,
    votedAt: orNull.time,
    panic: orNull.text,
  }),
  metrics: {
    chain_consensus_round: gauge('Most recent round in the last 60 seconds of the log of consensus.'),
    chain_consensus_epoch: gauge('Most recent epoch in the last 60 seconds of the log of consensus.'),
    chain_consensus_block_number: gauge('Most recent committed block in the last 60 seconds of the log of consensus.'),
    chain_consensus_committing: gauge(
      'Whether consensus processes and commits blocks, by the last 60 seconds of its log.',
    ),
    chain_consensus_window_messages: gauge(
      'Messages in the last 60 seconds of the log of consensus, by kind; chain_consensus_messages_total counts them for other windows.',
      {
        kind: CONSENSUS_KINDS,
      },
    ),
    chain_consensus_messages_total: counter('Messages in the log of consensus that the agent read, by kind.', {
      kind: CONSENSUS_KINDS,
    }),
    chain_consensus_start_active: gauge(
      'Whether consensus starts: its log has neither a statesync nor the end of the start since then.',
    ),
    chain_consensus_statesync_active: gauge('Whether the log of consensus reports that the node runs statesync.'),
    chain_consensus_blocksync_active: gauge('Whether the log of consensus reports that the node needs blocksync.'),
    chain_consensus_network_errors_total: counter('Errors of the network layer in the log of consensus, by kind.', {
      kind: NETWORK_ERROR_KINDS,
    }),
    chain_consensus_network_error_peers: gauge(
      'Number of distinct peers with errors of the network layer in the last five minutes of the log of consensus; chain_consensus_network_errors_total counts the errors for other windows.',
    ),
    chain_consensus_finding: gauge('Whether the finding of the analysis of the log of consensus applies.', {
      finding: open,
    }),
  },
} as const
