import { z } from 'zod'
import { enabled, timed } from '../../core/settings.ts'
import { counter, gauge } from '../../core/metric.ts'
import { each, listOf, objectOf, objectOrNull, orNull } from '../shared/reading-schema.ts'

const slot = objectOf({ round: orNull.integer, slotAt: orNull.time })

export const definition = {
  name: 'schedule',
  help: 'the leader schedule: rounds that the node will lead, and those that it missed',
  introduction:
    "The leader schedule, computed as consensus does from the set of validators in force. The set is read from the node's own files, `config/validators/validators.toml` and `config/forkpoint/forkpoint.toml` in `node.directory`. Predictions are compared with the leaders in the ledger stream, and exported only while the last 200 rounds agreed without exception. Own rounds need the own key (`node.publicKey`, or the status report). Times are estimates by the pace of the last five minutes.",
  settings: timed('5s', '20s', { enabled }),
  reading: objectOf({
    /** Why the own rounds are not known; null if they are. */
    problem: orNull.text,
    epoch: orNull.integer,
    ...each(orNull.number, 'members', 'agreed'),
    isProved: orNull.flag,
    /** The last round with another leader than predicted; null if the last 200 rounds agreed. */
    disagreedAt: orNull.integer,
    round: orNull.integer,
    /** The newest epoch whose set validators.toml has. */
    fileEpoch: orNull.integer,
    /** The schedule is known up to this round. */
    until: objectOrNull({ round: orNull.integer, slotAt: orNull.time }),
    /** The next own rounds; null while they are unknown. */
    own: listOf(slot).nullable(),
    nextHour: orNull.number,
    /** The newest own rounds without a block, oldest first, with the class that the agent gave them. */
    missed: listOf(
      objectOf({ round: orNull.integer, at: orNull.time, class: orNull.text, figures: listOf(z.string()) }),
    ),
    ahead: orNull.number,
  }),
  metrics: {
    chain_schedule_file_epoch: gauge('Newest epoch whose set is in the file of the node with the sets of validators.'),
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
  },
} as const
