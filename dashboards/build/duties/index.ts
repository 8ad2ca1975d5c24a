import { COLOUR } from '../colours.ts'
import { NODE, ratio, byNode, tokens } from '../columns.ts'
import { lowest, highest } from '../promql.ts'
import { type Row, frame } from '../frame.ts'
import { limitsBy, ownLimits } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { heightOf, table, type Column } from '../panels/table.ts'
import { limitsOf } from '../rules.ts'
import { inWords } from '../units.ts'
import { FRESH, FRESH_WITHIN } from '../node-state.ts'
import type { ValueLabels } from '../value-labels.ts'
import { NODE_LABELS } from '../links.ts'
import type { Placed } from '../panels/panel.ts'
import {
  EXPECTED_ROUNDS_NOTE,
  EXPECTED_ROUNDS,
  ABOUT_FEW,
  OWN_TIMEOUTS_BY_NODE,
  OWN_TIMEOUTS_LIMITS,
} from '../own-rounds.ts'
import { alertList } from '../overview.ts'

const [objective] = limitsOf('ChainUptimeBudget.slow', 'instance:chain_available:avg3d')
if (!objective) throw new Error('ChainUptimeBudget.slow names no objective')
const OBJECTIVE = objective.value
const BUDGET = `(1 - ${OBJECTIVE})`
const HOURS = 7 * 24
const WEEK = HOURS * 3600

const least = (expr: string): string => `min by (job, instance) (${expr})`
const agent = (name: string, criterion = 'fresh_block'): string => `chain_slo_${name}{criterion="${criterion}"}`
/** As its alert. */
const BUDGET_LEFT = `${agent('budget_remaining_ratio')} and on (job, instance) (chain_slo_known_ratio > 0.5)`

/** The same week by the samples of Prometheus: like the rules for their windows, with data for at least half of it. */
const IN_PROMETHEUS = `(
  avg_over_time(instance:chain_available:bool[7d])
  and on (job, instance) (count_over_time(instance:chain_available:bool[7d:1h]) >= ${HOURS / 2})
)`
const burn = (window: string): string =>
  `max by (job, instance) ((1 - instance:chain_available:avg${window}) / ${BUDGET})`

/** No alert has this limit: it follows from the definition of a budget. */
const SPENT = ownLimits([
  { value: null, color: COLOUR.critical },
  { value: 0, color: COLOUR.warning },
  { value: 0.25, color: COLOUR.good },
])

const share = (window: string, alert: string): Column => ({
  title: `Last ${window}`,
  expr: least(window === '1h' ? FRESH : `instance:chain_available:avg${window}`),
  unit: 'percentunit',
  decimals: 2,
  limits: limitsBy(alert, `instance:chain_available:avg${window}`),
})

const NO_OWN_ROUNDS = { empty: 'no own rounds' }

const budget: Row = {
  title: `The objective: ${inWords(OBJECTIVE, 'percentunit')} of each week with a fresh block`,
  panels: [
    table({
      title: 'Budget of the week',
      about: `Share of time with a newest block of at most ${FRESH_WITHIN}, and the downtime that the objective of each agent (\`health.objective\`) leaves. The agent measures it, and keeps it while Prometheus is down; statesync and maintenance use the budget, unknown time does not. No budget: less than half of the week is known. Differs: the share of the same week in Prometheus minus that of the agent; it is not 0 if one of them missed a part of the week. The windows of the alerts, up to three days, are those of Prometheus. Own rounds: those that had a block, and their own budget.`,
      alerts: ['ChainUptimeBudget.fast', 'ChainUptimeBudget.slow', 'ChainUptimeBudget.spent'],
      width: 24,
      height: heightOf(8),
      ...NODE,
      sortBy: { title: 'Budget left', descending: false },
      columns: [
        { ...ratio('Budget left', BUDGET_LEFT), limits: SPENT },
        {
          title: 'Downtime left',
          expr: least(`${WEEK} * (1 - chain_slo_objective_ratio) * on (job, instance) clamp_min(${BUDGET_LEFT}, 0)`),
          unit: 's',
        },
        ratio('Fresh, 7 days', agent('uptime_ratio'), 2),
        ratio('Known of 7 days', 'chain_slo_known_ratio'),
        ratio('Differs', `${IN_PROMETHEUS} - on (job, instance) ${agent('uptime_ratio')}`, 2),
        share('1h', 'ChainUptimeBudget.fast'),
        share('6h', 'ChainUptimeBudget.fast'),
        share('1d', 'ChainUptimeBudget.slow'),
        share('3d', 'ChainUptimeBudget.slow'),
        { ...ratio('Own budget left', agent('budget_remaining_ratio', 'own_rounds')), limits: SPENT, ...NO_OWN_ROUNDS },
        { ...ratio('Own rounds', agent('uptime_ratio', 'own_rounds'), 2), ...NO_OWN_ROUNDS },
        ratio('Objective', 'chain_slo_objective_ratio'),
      ],
    }),
    graph({
      title: 'How fast the budget burns',
      about:
        'Downtime as a multiple of what the objective allows: at 1 the budget lasts exactly a week, at 2 half of one. A peak that is over needs no action; find the cause of one that stays.',
      alerts: ['ChainUptimeBudget.fast', 'ChainUptimeBudget.slow'],
      unit: 'suffix:×',
      decimals: 1,
      width: 12,
      height: 7,
      min: 0,
      lines: [
        { expr: `max(${burn('1h')})`, legend: 'worst node, 1 hour' },
        { expr: `max(${burn('6h')})`, legend: 'worst node, 6 hours' },
        { expr: `max(${burn('1d')})`, legend: 'worst node, 1 day' },
        { expr: `max(${burn('3d')})`, legend: 'worst node, 3 days' },
      ],
    }),
    graph({
      title: 'Share of time with a fresh block, one hour',
      about: 'The nodes with the least; a gap where the agent cannot be scraped. Select nodes above to see others.',
      alerts: ['ChainUptimeBudget.fast'],
      unit: 'percentunit',
      decimals: 1,
      width: 12,
      height: 7,
      max: 1,
      limits: limitsBy('ChainUptimeBudget.fast', 'instance:chain_available:avg1h'),
      lines: [{ expr: lowest(least(FRESH)), legend: '{{instance}}' }],
    }),
  ],
}

const PROVED: ValueLabels = { 0: ['not proved', 'unknown'], 1: ['proved', 'good'] }
const UNKNOWN = { empty: 'unknown' }

const ownRounds = table({
  title: 'Own rounds',
  about:
    'Rounds that each validator will lead, by the leader schedule that its agent computes from the set. The schedule is proved while the last 200 rounds had the predicted leader; otherwise own rounds are unknown. Mispredicted rounds in the last hour: the agent has another set than the network. Without them: it lacks the set or its key, or follows the rounds since minutes only; `chain-agent status` prints which. To restart the node between own rounds: `chain-agent restart-window`.',
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
    { ...tokens('Within an hour', 'chain_schedule_own_rounds_next_hour'), ...UNKNOWN },
    { ...tokens('As far as known', 'chain_schedule_own_rounds_ahead'), ...UNKNOWN },
  ],
})

/** An identity must exist only once. */
const ONE = ownLimits([
  { value: null, color: COLOUR.good },
  { value: 2, color: COLOUR.critical },
])

/** How often, with how much stake, and under which name a node leads. */
const identity: readonly Placed[] = [
  graph({
    title: 'Own blocks and timeouts in an hour',
    about: 'Rounds that the selected nodes led within an hour, by result. Several timeouts in an hour: see the node.',
    alerts: ['ChainLeaderTimeouts', 'ChainLeaderTimeouts.in-a-row', 'ChainOwnBlocksEmpty'],
    unit: 'locale',
    decimals: 0,
    width: 12,
    min: 0,
    lines: [
      { expr: 'sum(increase(chain_ledger_own_blocks_total{event="proposed"}[1h]))', legend: 'blocks proposed' },
      { expr: 'sum(increase(chain_ledger_own_blocks_total{event="finalized"}[1h]))', legend: 'blocks finalized' },
      { expr: 'sum(increase(chain_ledger_own_empty_blocks_total[1h]))', legend: 'blocks without transactions' },
      { expr: 'max(increase(chain_ledger_empty_blocks_total[1h]))', legend: 'of all leaders, without transactions' },
      { expr: 'sum(increase(chain_ledger_own_timeouts_total[1h]))', legend: 'timed out' },
    ],
  }),
  table({
    title: 'Share of the stake',
    about: 'It determines how often a node leads; 0 is outside the active set, where it neither leads nor votes.',
    alerts: ['ChainLeftActiveSet'],
    width: 12,
    height: heightOf(6),
    ...NODE,
    sortBy: { title: 'Share', descending: true },
    columns: [
      { title: 'Share', expr: 'max by (job, instance) (chain_native_stake_ratio)', unit: 'percentunit', decimals: 3 },
    ],
  }),
  table({
    title: 'Signing identities',
    about:
      'Each identity that a selected node signs with, and the number of nodes that sign with it, of all nodes of Prometheus, selected or not. Two nodes with one identity sign twice: stop one of them at once.',
    alerts: ['ChainIdentityTwice'],
    width: 12,
    height: heightOf(6),
    keys: { instance: 'Node', identity: 'Identity' },
    hidden: NODE_LABELS,
    columns: [
      {
        title: 'Nodes with it',
        expr: `
          max by (job, instance, identity) (chain_duty_identity_active == 1)
          * on (identity) group_left () count by (identity) (group by (identity, boot) (chain_duty_identity_active == 1))`,
        unit: 'locale',
        words: { 1: ['one', 'good'] },
        limits: ONE,
      },
    ],
  }),
]

/** Expected blocks: rounds to lead, minus the share of timeouts in the network. */
const EXPECTED = `(
  ${EXPECTED_ROUNDS}
  * on (job, instance) (1 - sum by (job, instance) (chain_duty_timeout_ratio{scope="network"}))
)`
const BLOCKS = 'sum by (job, instance) (chain_duty_slots{result="block"})'
const LED = 'sum by (job, instance) (chain_duty_slots)'

const SHORTFALL = { alert: 'ChainLeaderTimeouts.shortfall', metric: 'chain_duty_shortfall_probability_ratio' }
const CHANCE = limitsBy(SHORTFALL.alert, SHORTFALL.metric)
const NO_LUCK = limitsOf(SHORTFALL.alert, SHORTFALL.metric)
  .map(({ value }) => inWords(value, 'percentunit'))
  .join(', ')

const slots: Row = {
  title: 'Leading: proposals, timeouts, luck (six hours)',
  panels: [
    table({
      title: 'Rounds led',
      about: `Rounds that each validator led in six hours, and the number expected from its share of the stake. Luck is led divided by expected. ${EXPECTED_ROUNDS_NOTE} A probability below ${NO_LUCK} is not luck: see the node. No row: the agent does not know the key of the node, or reads no ledger stream.`,
      alerts: ['ChainLeaderTimeouts.shortfall', 'ChainLeaderTimeouts', 'ChainBlind'],
      width: 24,
      height: heightOf(3),
      ...NODE,
      sortBy: { title: 'Probability', descending: false },
      columns: [
        { title: 'Blocks', expr: BLOCKS, unit: 'locale' },
        { title: 'Timed out', expr: 'sum by (job, instance) (chain_duty_slots{result="timeout"})', unit: 'locale' },
        { title: 'Expected to lead', expr: EXPECTED_ROUNDS, unit: 'locale', decimals: 1 },
        {
          title: 'Luck',
          expr: `${LED} / on (job, instance) (${EXPECTED_ROUNDS} > 0)`,
          unit: 'percentunit',
          decimals: 0,
        },
        {
          title: 'Probability',
          expr: 'max by (job, instance) (chain_duty_shortfall_probability_ratio)',
          unit: 'percentunit',
          decimals: 2,
          limits: CHANCE,
        },
        {
          title: 'Own timeouts',
          expr: OWN_TIMEOUTS_BY_NODE,
          unit: 'percentunit',
          decimals: 1,
          limits: OWN_TIMEOUTS_LIMITS,
        },
        {
          title: 'Timeouts, network',
          expr: `max by (job, instance) (chain_duty_timeout_ratio{scope="network"}) and on (job, instance) ${LED}`,
          unit: 'percentunit',
          decimals: 1,
        },
        {
          title: 'Timed out in a row',
          expr: 'max by (job, instance) (chain_ledger_own_consecutive_timeouts)',
          unit: 'locale',
          limits: limitsBy('ChainLeaderTimeouts.in-a-row', 'chain_ledger_own_consecutive_timeouts'),
        },
        {
          title: 'Stake',
          expr: `max by (job, instance) (chain_native_stake_ratio) and on (job, instance) ${LED}`,
          unit: 'percentunit',
          decimals: 3,
        },
      ],
    }),
    ownRounds,
    graph({
      title: 'Blocks led, expected, and the range that chance allows',
      about: `Blocks of six hours of all selected nodes together, the number expected from their stake after the timeouts of the network, and two standard deviations around it. Turns are rare and independent: 19 of 20 times the number is in the band. ${EXPECTED_ROUNDS_NOTE} Select one node to judge it.`,
      alerts: ['ChainLeaderTimeouts.shortfall'],
      unit: 'locale',
      decimals: 0,
      width: 12,
      band: { from: 'band, lower edge', to: 'band, upper edge' },
      lines: [
        { expr: `sum(${BLOCKS} and on (job, instance) ${EXPECTED})`, legend: 'blocks led' },
        { expr: `sum(${EXPECTED})`, legend: 'expected' },
        { expr: `clamp_min(sum(${EXPECTED}) - 2 * sqrt(sum(${EXPECTED})), 0)`, legend: 'band, lower edge' },
        { expr: `sum(${EXPECTED}) + 2 * sqrt(sum(${EXPECTED}))`, legend: 'band, upper edge' },
      ],
    }),
    graph({
      title: 'Probability of so few blocks by chance',
      about:
        'The nodes with the lowest. A line that stays near 0 is not bad luck: the node misses its turns, or its stake is another one than known.',
      alerts: ['ChainLeaderTimeouts.shortfall'],
      unit: 'percentunit',
      decimals: 2,
      width: 12,
      min: 0,
      max: 1,
      limits: CHANCE,
      lines: [
        { expr: lowest('max by (job, instance) (chain_duty_shortfall_probability_ratio)'), legend: '{{instance}}' },
      ],
    }),
    graph({
      title: 'Timeouts of own rounds, and of the network',
      about: `Share of rounds of six hours that timed out: of those that the worst nodes led, and of all leaders. Both are high: the cause is in the network. Only the own one: the cause is on the node, in its CPU, drives, clock or peers. ${ABOUT_FEW}`,
      alerts: ['ChainLeaderTimeouts'],
      unit: 'percentunit',
      decimals: 1,
      width: 12,
      min: 0,
      limits: OWN_TIMEOUTS_LIMITS,
      lines: [
        { expr: 'max(chain_duty_timeout_ratio{scope="network"})', legend: 'all leaders' },
        { expr: highest(`(${OWN_TIMEOUTS_BY_NODE})`), legend: '{{instance}}' },
      ],
    }),
    ...identity,
  ],
}

const votes: Row = {
  title: 'Voting',
  panels: [
    graph({
      title: 'Votes for each round',
      about:
        'Votes computed for each round that a quorum closed, of the nodes with the fewest; one that did not leave the host counts. Only validators in the active set have them.',
      alerts: ['ChainNotVoting', 'ChainLeftActiveSet'],
      unit: 'percentunit',
      decimals: 1,
      width: 12,
      min: 0,
      limits: limitsBy('ChainNotVoting', 'instance:chain_votes_per_round:ratio_rate2m'),
      lines: [
        {
          expr: lowest('min by (job, instance) (instance:chain_votes_per_round:ratio_rate2m)'),
          legend: '{{instance}}',
        },
      ],
    }),
    graph({
      title: 'Time until a vote is ready, 99th percentile',
      about:
        'From the own vote until the proposal of the next round was accepted, of the slowest nodes. Late leaders increase it on every node; on one alone see the drive, the clock and the CPU.',
      alerts: ['ChainNotVoting.late'],
      unit: 's',
      width: 12,
      min: 0,
      limits: limitsBy('ChainNotVoting.late', 'chain_native_vote_delay_seconds'),
      lines: [
        {
          expr: highest('max by (job, instance) (chain_native_vote_delay_seconds{percentile="99"})'),
          legend: '{{instance}}',
        },
      ],
    }),
  ],
}

export const duties = () =>
  frame({
    name: 'duties',
    description:
      'The duties of validators: availability, leading, voting. The range that chance allows distinguishes luck from faults. Limits are those of the alert rules.',
    from: 'now-24h',
    rows: [{ panels: [alertList({ width: 24, height: 7, many: true })] }, budget, slots, votes],
  })
