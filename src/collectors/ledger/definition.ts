import { enabled, serviceUnit, timed } from '../../core/settings.ts'
import { gauge, histogram, counter } from '../../core/metric.ts'
import { objectOf, orNull } from '../shared/reading-schema.ts'

/** Events of blocks in the ledger stream. */
export const LEDGER_EVENTS = ['proposed', 'finalized'] as const

export const definition = {
  name: 'ledger',
  help: 'blocks, timeouts and skipped rounds from the ledger stream',
  introduction:
    'The ledger stream in the journal. Counters hold what the agent read; lines that are repeated after a restart of the stream are not counted again. The metrics of own rounds exist only while the public key of the node is known.',
  settings: timed('5s', '10s', {
    enabled,
    unit: serviceUnit
      .default('{prefix}-ledger-tail.service')
      .describe('the unit whose journal contains the ledger stream'),
  }),
  reading: objectOf({ lastEntryAt: orNull.time }),
  metrics: {
    chain_ledger_blocks_total: counter(
      'Blocks of all leaders in the ledger stream, each height and round counted once.',
      {
        event: LEDGER_EVENTS,
      },
    ),
    chain_ledger_own_blocks_total: counter(
      'Blocks in the ledger stream that this node led, each height and round counted once; also among those of all leaders.',
      { event: LEDGER_EVENTS },
    ),
    chain_ledger_empty_blocks_total: counter(
      'Proposed blocks of all leaders with at most one transaction, which is that of the reward: without any of a user.',
    ),
    chain_ledger_own_empty_blocks_total: counter(
      'Proposed blocks that this node led, with at most one transaction; also among those of all leaders.',
    ),
    chain_ledger_timeouts_total: counter(
      'Rounds, of any leader of the network, of which the ledger stream reports a timeout certificate; of several between two writes of the forkpoint only the last.',
    ),
    chain_ledger_own_timeouts_total: counter(
      'Rounds that this node led and of which the ledger stream reports a timeout certificate; also among those of all leaders; votes that did not reach the next leader lead to one, too, and if the block is proposed again and taken, the round also counts as an own block.',
    ),
    chain_ledger_skipped_rounds_total: counter(
      'Rounds between a proposed block and its parent without a block, each counted once.',
    ),
    chain_ledger_transactions_total: counter('Transactions of proposed blocks in the ledger stream.'),
    chain_ledger_round: gauge('Highest consensus round in the ledger stream, by event.', { event: LEDGER_EVENTS }),
    chain_ledger_epoch: gauge('Highest epoch in the ledger stream, by event.', { event: LEDGER_EVENTS }),
    chain_ledger_seq_num: gauge('Highest block sequence number in the ledger stream, by event.', {
      event: LEDGER_EVENTS,
    }),
    chain_ledger_block_timestamp_seconds: gauge('Timestamp of the newest block in the ledger stream, by event.', {
      event: LEDGER_EVENTS,
    }),
    chain_ledger_block_interval_seconds: histogram(
      'Time between the timestamps of consecutive proposed blocks, in seconds.',
      [0.3, 0.35, 0.4, 0.5, 0.75, 1, 2, 5],
    ),
    chain_ledger_propagation_seconds: histogram(
      'Time from the timestamp of a proposed block to its line in the ledger stream, in seconds: more than the propagation, because the line comes after the block was received, checked and written.',
      [0.025, 0.05, 0.1, 0.2, 0.5, 0.8, 1.5, 3],
    ),
    chain_ledger_own_block_interval_seconds: histogram(
      'Time between the timestamps of the block before and of a proposed block that this node led, in seconds: from the proposal of the leader before to its own, by the clocks of both; also among those of all leaders.',
      [],
    ),
    chain_ledger_own_delay_seconds: histogram(
      'Time from the timestamp of a proposed block that this node led to its line in the ledger stream, in seconds: without a way over the network, so the time that the node takes to build, check and write a block; also among those of all leaders.',
      [],
    ),
    chain_ledger_finality_seconds: histogram(
      'Time from the timestamp of a block to the line of the ledger stream that reports it as finalized, in seconds.',
      [0.7, 0.8, 1, 1.2, 1.5, 2, 5],
    ),
    chain_ledger_future_blocks_total: counter(
      'Proposed blocks whose timestamp is later than their line: the clock of the leader or of this host is wrong.',
    ),
    chain_ledger_own_consecutive_timeouts: gauge('Consecutive rounds that this node led and that timed out.'),
  },
} as const
