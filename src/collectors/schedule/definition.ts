import { z } from 'zod'
import { enabled, fixed } from '../../core/settings.ts'
import { counter, gauge } from '../../core/metric.ts'
import {
  flagOrNull,
  integerOrNull,
  listOf,
  numberOrNull,
  objectOf,
  objectOrNull,
  textOrNull,
  timeOrNull,
} from '../shared/reading-schema.ts'

/** What became of an own round. */
const OWN_ROUND_RESULTS = ['led', 'missed'] as const

const slot = objectOf({ round: integerOrNull, slotAt: timeOrNull })

export const definition = {
  name: 'schedule',
  help: 'the leader schedule: rounds that the node will lead, and those that it missed',
  introduction:
    "The leader schedule, computed as consensus does from the set of validators in force. The set is read from the node's own files, `config/validators/validators.toml` and `config/forkpoint/forkpoint.toml` in `node.directory`. Predictions are compared with the leaders in the ledger stream, and exported only while the last 200 rounds agreed without exception. Own rounds need the own key (`node.publicKey`, or the status report). Times are estimates by the pace of the last five minutes.",
  settings: z
    .strictObject({ enabled })
    .transform(fixed({ interval: '5s', timeout: '20s' }))
    .prefault({}),
  reading: objectOf({
    /** Why the own rounds are not known; null if they are. */
    problem: textOrNull,
    epoch: integerOrNull,
    members: numberOrNull,
    agreed: numberOrNull,
    isProved: flagOrNull,
    /** The last round with another leader than predicted; null if the last 200 rounds agreed. */
    disagreedAt: integerOrNull,
    round: integerOrNull,
    /** The newest epoch whose set validators.toml has. */
    fileEpoch: integerOrNull,
    /** The schedule is known up to this round. */
    until: objectOrNull({ round: integerOrNull, slotAt: timeOrNull }),
    /** The next own rounds; null while they are unknown. */
    own: listOf(slot).nullable(),
    nextHour: numberOrNull,
    /** The newest own rounds without a block, oldest first, with the class that the agent gave them. */
    missed: listOf(objectOf({ round: integerOrNull, at: timeOrNull, class: textOrNull, figures: listOf(z.string()) })),
    inEpoch: objectOrNull({ led: numberOrNull, missed: numberOrNull, ahead: numberOrNull }),
  }),
  metrics: {
    chain_schedule_file_epoch: {
      ...gauge('Newest epoch whose set is in the file of the node with the sets of validators.'),
      noPanel: 'ChainStartFiles.validators compares it with the epoch of the ledger',
    },
    chain_schedule_proved: gauge(
      'Whether the last 200 rounds had the predicted leader; the other metrics of the schedule are absent otherwise.',
    ),
    chain_schedule_misses_total: counter('Rounds whose leader was not the one of the computed leader schedule.'),
    chain_schedule_next_own_round: gauge('The next round that this node leads.'),
    chain_schedule_next_own_timestamp_seconds: gauge('Estimated time of the next round that this node leads.'),
    chain_schedule_own_rounds_ahead: gauge(
      'Rounds that this node will lead as far as the schedule is known, until the start of the next epoch at the earliest.',
    ),
    chain_schedule_own_rounds_next_hour: gauge(
      'Rounds that this node will lead in the next hour; absent if the schedule is not known that far.',
    ),
    chain_schedule_own_rounds: gauge(
      'Own rounds of the epoch since the agent follows it: led with a block, or missed.',
      { result: OWN_ROUND_RESULTS },
    ),
  },
} as const
