import { z } from 'zod'
import { POLL, timing } from '../../config/values.ts'
import { gauge, open } from '../../core/metric.ts'

export const definition = {
  name: 'derived',
  help: 'what follows from the others: block rate, blocksync window, statesync, growth, duties',
  introduction: 'What follows from the other chapters: the figures that decide an incident.',
  settings: z
    .strictObject({
      ...timing('5s', '5s', POLL),
      blocksyncWindow: z
        .int()
        .min(1)
        .default(600)
        .describe('blocks that peers serve a node that fell behind, before it needs statesync'),
    })
    .prefault({}),
  metrics: {
    chain_blocks_per_second: gauge('Rate of blocks of the chain as measured.'),
    chain_blocksync_window_remaining_blocks: gauge(
      'Blocks that the node can still fall behind before peers no longer serve it by blocksync.',
    ),
    chain_blocksync_window_remaining_seconds: gauge(
      'The same in time, at the measured rate, for a stalled node.',
    ),
    chain_statesync_eta_seconds: gauge(
      'Until statesync is done, by its pace; absent while it is stalled.',
    ),
    chain_statesync_last_progress_timestamp_seconds: gauge('When statesync last moved.'),
    chain_storage_seconds_until_compaction: gauge(
      'Until the database reaches the threshold of compaction, by its growth.',
    ),
    chain_native_zombie: gauge(
      'Whether the metrics of consensus do not change while the node moves on.',
    ),
    chain_duty_expected_slots: gauge('Rounds that should have been led, by stake, in the window.'),
    chain_duty_slots: gauge('Rounds that were led in the window, by how they ended.', {
      result: ['block', 'timeout'],
    }),
    chain_duty_timeout_ratio: gauge('Share of rounds in the window that timed out.', {
      scope: ['own', 'network'],
    }),
    chain_duty_shortfall_probability_ratio: gauge(
      'Probability of so few own blocks in the window, or fewer, by chance.',
    ),
    chain_duty_identity_active: gauge('Whether this node signs with the identity.', {
      identity: open,
    }),
  },
} as const
