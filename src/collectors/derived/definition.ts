import { z } from 'zod'
import { POLL, timing } from '../../config/values.ts'
import { gauge, open } from '../../core/metric.ts'
import { flagOrNull, numberOrNull, objectOf, objectOrNull } from '../shared/reading-schema.ts'

export const definition = {
  name: 'derived',
  help: 'derived from other collectors: block rate, blocksync window, statesync, growth, duties',
  introduction: 'Values derived from the other collectors: those that decide during an incident.',
  settings: z
    .strictObject({
      ...timing('5s', '5s', POLL),
      blocksyncWindow: z
        .int()
        .min(1)
        .default(600)
        .describe('number of recent blocks that peers serve by blocksync; a node further behind needs statesync'),
    })
    .prefault({}),
  reading: objectOf({
    duties: objectOrNull({
      rounds: numberOrNull,
      timeouts: numberOrNull,
      ownBlocks: numberOrNull,
      ownTimeouts: numberOrNull,
      expected: numberOrNull,
      shortfallProbability: numberOrNull,
    }),
    identity: objectOrNull({ isActive: flagOrNull }),
  }),
  metrics: {
    chain_blocks_per_second: gauge('Measured block rate of the chain.'),
    chain_blocksync_window_remaining_blocks: gauge(
      'Blocks that the node can still fall behind before peers no longer serve it by blocksync.',
    ),
    chain_blocksync_window_remaining_seconds: gauge(
      'Time until a stalled node leaves the blocksync window, at the measured block rate.',
    ),
    chain_last_start_seconds: gauge(
      'Time from the last observed start of consensus until the node had caught up; a start that led to statesync does not count.',
    ),
    chain_statesync_eta_seconds: gauge(
      'Time until statesync completes, at its current rate; absent while it is stalled.',
    ),
    chain_statesync_last_progress_timestamp_seconds: gauge('Time at which statesync last progressed.'),
    chain_storage_seconds_until_compaction: gauge(
      'Time until the database reaches the compaction threshold, at its growth rate.',
    ),
    chain_native_zombie: gauge('Whether the metrics of consensus do not change while the node progresses.'),
    chain_duty_expected_slots: gauge('Expected number of rounds led in the window, by stake.'),
    chain_duty_slots: gauge('Rounds led in the window, by result.', {
      result: ['block', 'timeout'],
    }),
    chain_duty_timeout_ratio: gauge('Ratio of rounds in the window that timed out.', {
      scope: ['own', 'network'],
    }),
    chain_duty_shortfall_probability_ratio: gauge(
      'Probability of at most the observed number of own blocks in the window, by chance.',
    ),
    chain_duty_identity_active: gauge('Whether this node signs with the identity.', {
      identity: open,
    }),
  },
} as const
