import { z } from 'zod'
import { enabled, timed } from '../../core/settings.ts'
import { gauge, open } from '../../core/metric.ts'
import { each, objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

export const definition = {
  name: 'derived',
  help: 'derived from other collectors: block rate, blocksync window, statesync, growth, duties',
  introduction: 'Values derived from the other collectors: those that decide during an incident.',
  settings: timed('5s', '5s', {
    enabled,
    blocksyncWindow: z
      .int()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        'number of blocks that the node can be behind and still catch up by blocksync; null: from statesync_threshold in its node.toml, 800 by default',
      ),
  }),
  reading: objectOf({
    duties: objectOrNull({
      ...each(orNull.number, 'rounds', 'timeouts', 'ownBlocks', 'ownTimeouts', 'expected', 'shortfallProbability'),
    }),
    identity: objectOrNull({ isActive: orNull.flag }),
  }),
  metrics: {
    chain_blocks_per_second: gauge('Measured block rate of the chain in blocks per second.'),
    chain_blocksync_window_blocks: gauge(
      'Blocks that the node can be behind and still catch up by blocksync: the smallest of what one request covers (800), what its peers keep (1,000), and the distance at which a live node ends with a panic (3/2 of its statesync_threshold).',
    ),
    chain_blocksync_window_remaining_blocks: gauge(
      'Blocks that the node can still fall behind before it can no longer catch up by blocksync.',
    ),
    chain_blocksync_window_remaining_seconds: gauge(
      'Time in seconds until a stalled node leaves the blocksync window, at the measured block rate.',
    ),
    chain_last_start_seconds: gauge(
      'Time in seconds from the last observed start of consensus until the node had caught up; a start that led to statesync does not count.',
    ),
    chain_statesync_eta_seconds: gauge(
      'Time in seconds until statesync completes, at its current rate; absent while it is stalled.',
    ),
    chain_statesync_last_progress_timestamp_seconds: gauge('Time at which statesync last progressed.'),
    chain_storage_compaction_eta_seconds: gauge(
      'Time in seconds until the database reaches the compaction threshold, at its growth rate.',
    ),
    chain_native_zombie: gauge('Whether the metrics of consensus do not change while the node progresses.'),
    chain_duty_expected_slots: gauge('Expected number of rounds led by this node in the last six hours, by its stake.'),
    chain_duty_slots: gauge(
      'Rounds led by this node in the last six hours, by result; chain_ledger_own_blocks_total and chain_ledger_own_timeouts_total count them for other windows.',
      {
        result: ['block', 'timeout'],
      },
    ),
    chain_duty_timeout_ratio: gauge(
      'Ratio of the rounds of the last six hours that timed out: of those led by this node, or of all of the network; chain_ledger_timeouts_total and chain_ledger_own_timeouts_total count them for other windows.',
      {
        scope: ['own', 'network'],
      },
    ),
    chain_duty_shortfall_probability_ratio: gauge(
      'Probability of at most the observed number of own blocks in the last six hours, by chance.',
    ),
    chain_duty_identity_active: gauge(
      'Whether this node signs with the identity: it votes as a member of the active set, or leads rounds with a block; `boot` is the ID of the current boot of its host, which no other host has.',
      { identity: open, boot: open },
    ),
  },
} as const
