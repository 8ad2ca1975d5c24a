import { z } from 'zod'
import { FOLLOW, serviceUnit, timing } from '../../config/values.ts'
import { gauge, open, counter } from '../../core/metric.ts'
import {
  flagOrNull,
  integerOrNull,
  numberOrNull,
  objectOf,
  recordOf,
  textOrNull,
  timeOrNull,
} from '../shared/reading-schema.ts'

/** Kinds of messages of the consensus log. */
export const CONSENSUS_KINDS = [
  'committed_block',
  'round_advanced',
  'round_timed_out',
  'local_timeout',
  'statesync',
  'blocksync',
  'vote_sent',
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
  settings: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      unit: serviceUnit.default('{prefix}-bft.service').describe('the unit whose journal is the consensus log'),
    })
    .prefault({}),
  reading: objectOf({
    lastEntryAt: timeOrNull,
    round: integerOrNull,
    epoch: integerOrNull,
    block: integerOrNull,
    committing: flagOrNull,
    statesyncActive: flagOrNull,
    messages: recordOf(numberOrNull),
    networkErrors: numberOrNull,
    votedAt: timeOrNull,
    panic: textOrNull,
  }),
  metrics: {
    chain_consensus_round: gauge('Most recent round in the window of 60 seconds.'),
    chain_consensus_epoch: gauge('Most recent epoch in the window.'),
    chain_consensus_block_number: gauge('Most recent committed block in the window.'),
    chain_consensus_committing: gauge('Whether blocks are processed and committed.'),
    chain_consensus_window_messages: gauge('Messages in the last 60 seconds.', {
      kind: CONSENSUS_KINDS,
    }),
    chain_consensus_messages_total: counter('Messages read by the agent.', {
      kind: CONSENSUS_KINDS,
    }),
    chain_consensus_statesync_active: gauge('Whether the node reports that it needs statesync.'),
    chain_consensus_blocksync_active: gauge('Whether the node reports that it needs blocksync.'),
    chain_consensus_network_errors_total: counter('Errors of the network layer.', {
      kind: NETWORK_ERROR_KINDS,
    }),
    chain_consensus_network_error_peers: gauge(
      'Number of distinct peers with network errors in the last five minutes.',
    ),
    chain_consensus_finding: gauge('Whether the finding of the analysis applies.', {
      finding: open,
    }),
  },
} as const
