import { EXPECTED_ROUNDS_NOTE, EXPECTED_ROUNDS } from '../expected-rounds.ts'
import { NODE_LABELS } from '../links.ts'
import { identity } from './identity.ts'
import { highest, lowest } from '../promql.ts'
import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { ABOUT_FEW, OWN_TIMEOUTS_BY_NODE, OWN_TIMEOUTS_LIMITS } from '../own-timeouts.ts'
import { graph } from '../panels/graph.ts'
import { heightOf, table } from '../panels/table.ts'
import { limitsOf } from '../rules.ts'
import { ownRounds } from './schedule.ts'
import { inWords } from '../units.ts'

/** Expected blocks: rounds to lead, minus the share of timeouts in the network. */
const EXPECTED = `(
  ${EXPECTED_ROUNDS}
  * on (job, instance) (1 - sum by (job, instance) (chain_duty_timeout_ratio{scope="network"}))
)`
const BLOCKS = 'sum by (job, instance) (chain_duty_slots{result="block"})'
const LED = 'sum by (job, instance) (chain_duty_slots)'

const SHORTFALL = {
  alert: 'ChainLeaderTimeouts.shortfall',
  metric: 'chain_duty_shortfall_probability_ratio',
}
const CHANCE = limitsBy(SHORTFALL.alert, SHORTFALL.metric)
const NO_LUCK = limitsOf(SHORTFALL.alert, SHORTFALL.metric)
  .map(({ value }) => inWords(value, 'percentunit'))
  .join(', ')

export const slots: Row = {
  title: 'Leading: proposals, timeouts, luck (six hours)',
  panels: [
    table({
      title: 'Rounds led',
      about: `Rounds that each validator led in six hours, and the number expected from its share of the stake. Luck is led divided by expected. ${EXPECTED_ROUNDS_NOTE} A probability below ${NO_LUCK} is not luck: see the node. No row: the agent does not know the key of the node, or reads no ledger stream.`,
      alerts: ['ChainLeaderTimeouts.shortfall', 'ChainLeaderTimeouts', 'ChainBlind'],
      width: 24,
      height: heightOf(3),
      keys: { instance: 'Node' },
      hidden: NODE_LABELS,
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
