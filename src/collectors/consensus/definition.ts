import { z } from 'zod'
import { FOLLOW, serviceUnit, timing } from '../../config/values.ts'
import { gauge, open, counter } from '../../core/metric.ts'

/** What lines of the consensus log are about. */
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
  help: 'the last 60 seconds of the consensus log: rounds, blocks, timeouts, synchronisation, findings',
  introduction:
    'The last 60 seconds of the consensus log, as it is followed. Where the log does not tell a thing (only warnings and errors are kept, or journald dropped messages), what depends on it is absent.',
  settings: z
    .strictObject({
      ...timing('5s', '10s', FOLLOW),
      unit: serviceUnit
        .default('{prefix}-bft.service')
        .describe('the unit whose journal is the consensus log'),
    })
    .prefault({}),
  metrics: {
    chain_consensus_round: gauge('Most recent round in the window of 60 seconds.'),
    chain_consensus_epoch: gauge('Most recent epoch in the window.'),
    chain_consensus_block_number: gauge('Most recent committed block in the window.'),
    chain_consensus_committing: gauge('Whether blocks are processed and being committed.'),
    chain_consensus_window_messages: gauge('Messages in the last 60 seconds.', {
      kind: CONSENSUS_KINDS,
    }),
    chain_consensus_messages_total: counter('Messages that the agent saw.', {
      kind: CONSENSUS_KINDS,
    }),
    chain_consensus_statesync_active: gauge('Whether the node itself needs statesync.'),
    chain_consensus_blocksync_active: gauge('Whether the node itself needs blocksync.'),
    chain_consensus_network_errors_total: counter('Errors of the network layer.', {
      kind: NETWORK_ERROR_KINDS,
    }),
    chain_consensus_network_error_peers: gauge(
      'Distinct peers behind network errors in five minutes.',
    ),
    chain_consensus_finding: gauge('Whether a finding of the analysis stands.', { finding: open }),
  },
} as const
