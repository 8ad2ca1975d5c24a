import { byNode, NODE, tokens } from '../columns.ts'
import { heightOf, table } from '../panels/table.ts'
import { type ValueLabels } from '../value-labels.ts'

const PROVED: ValueLabels = { 0: ['not proved', 'unknown'], 1: ['proved', 'good'] }
const UNKNOWN = { empty: 'unknown' }
/** An agent of version 0.2.0 has both columns in this metric, by `window`. */
const AHEAD = 'chain_schedule_own_rounds_ahead'

export const ownRounds = table({
  title: 'Own rounds',
  about:
    'Rounds that each validator will lead, by the leader schedule that its agent computes from the set, and those of the epoch that it led with a block or missed. The schedule is proved while the last 200 rounds had the predicted leader; otherwise own rounds are unknown. Mispredicted rounds in the last hour: the agent has another set than the network. Without them: it lacks the set or its key, or follows the rounds since minutes only; `chain-agent status` prints which. To restart the node between own rounds: `chain-agent restart-window`.',
  alerts: ['ChainLeaderTimeouts', 'ChainLeaderTimeouts.in-a-row'],
  empty: 'no validators',
  width: 24,
  height: heightOf(3),
  ...NODE,
  sortBy: { title: 'In', descending: false },
  columns: [
    {
      title: 'Schedule',
      expr: byNode('chain_schedule_proved and on (job, instance) (chain_node_role{role="validator"} == 1)'),
      unit: 'none',
      words: PROVED,
    },
    {
      title: 'Mispredicted, 1 h',
      expr: byNode(
        'increase(chain_schedule_misses_total[1h]) and on (job, instance) (chain_node_role{role="validator"} == 1)',
      ),
      unit: 'locale',
      decimals: 0,
    },
    { ...tokens('Next own round', 'chain_schedule_next_own_round'), ...UNKNOWN },
    {
      title: 'In',
      expr: byNode('chain_schedule_next_own_timestamp_seconds - time()'),
      unit: 's',
      past: 'good',
      ...UNKNOWN,
    },
    { ...tokens('Within an hour', `chain_schedule_own_rounds_next_hour or ${AHEAD}{window="hour"}`), ...UNKNOWN },
    { ...tokens('As far as known', `${AHEAD}{window!="hour"}`), ...UNKNOWN },
    { ...tokens('Led in the epoch', 'chain_schedule_own_rounds{result="led"}'), ...UNKNOWN },
    { ...tokens('Missed in the epoch', 'chain_schedule_own_rounds{result="missed"}'), ...UNKNOWN },
  ],
})
