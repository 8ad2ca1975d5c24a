import { EXPECTED_ROUNDS_NOTE, EXPECTED_ROUNDS } from '../expected-rounds.ts'
import { identity } from './identity.ts'
import { highest, lowest } from '../promql.ts'
import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { ABOUT_FEW, OWN_TIMEOUTS_BY_NODE, OWN_TIMEOUTS_LIMITS } from '../own-timeouts.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { limitsOf } from '../rules.ts'
import { inWords } from '../units.ts'

/** Expected blocks: rounds to lead, minus the share of timeouts in the network. */
const EXPECTED = `(
  ${EXPECTED_ROUNDS}
  * on (job, instance) (1 - sum by (job, instance) (chain_duty_timeout_ratio{scope="network"}))
)`
const BLOCKS = 'sum by (job, instance) (chain_duty_slots{result="block"})'
const LED = 'sum by (job, instance) (chain_duty_slots)'

const SHORTFALL = {
  alert: 'ChainProposalShortfall',
  metric: 'chain_duty_shortfall_probability_ratio',
}
const CHANCE = limitsBy(SHORTFALL)
const NO_LUCK = limitsOf(SHORTFALL.alert, SHORTFALL.metric)
  .map(({ value }) => inWords(value, 'percentunit'))
  .join(', ')

export const slots: Row = {
  title: 'Leading: proposals, timeouts, luck (six hours)',
  panels: [
    table({
      title: 'Rounds led',
      about: `What each validator led in six hours, and what its share of the stake let expect. Luck is led over expected. ${EXPECTED_ROUNDS_NOTE} A chance below ${NO_LUCK} is no luck: look at the node. No row: the agent does not know the key of the node, or hears no ledger stream.`,
      alerts: ['ChainProposalShortfall', 'ChainLeaderTimeouts', 'ChainBlind'],
      width: 24,
      height: 8,
      keys: { instance: 'Node' },
      hidden: ['job'],
      sortBy: { title: 'Chance of so few', descending: false },
      columns: [
        { title: 'Blocks', expr: BLOCKS, unit: 'locale' },
        {
          title: 'Timed out',
          expr: 'sum by (job, instance) (chain_duty_slots{result="timeout"})',
          unit: 'locale',
        },
        {
          title: 'Expected to lead',
          expr: EXPECTED_ROUNDS,
          unit: 'locale',
          decimals: 1,
        },
        {
          title: 'Luck',
          expr: `${LED} / on (job, instance) (${EXPECTED_ROUNDS} > 0)`,
          unit: 'percentunit',
          decimals: 0,
        },
        {
          title: 'Chance of so few',
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
          title: 'Timeouts of all',
          expr: `max by (job, instance) (chain_duty_timeout_ratio{scope="network"}) and on (job, instance) ${LED}`,
          unit: 'percentunit',
          decimals: 1,
        },
        {
          title: 'Timed out in a row',
          expr: 'max by (job, instance) (chain_ledger_own_consecutive_timeouts)',
          unit: 'locale',
          limits: limitsBy({
            alert: 'ChainLeaderTimeoutsInARow',
            metric: 'chain_ledger_own_consecutive_timeouts',
          }),
        },
        {
          title: 'Stake',
          expr: `max by (job, instance) (chain_native_stake_ratio) and on (job, instance) ${LED}`,
          unit: 'percentunit',
          decimals: 3,
        },
      ],
    }),
    graph({
      title: 'Blocks led, expected, and what chance allows',
      about: `Blocks of six hours of all chosen nodes together, what their stake let expect after the losses of the network, and two standard deviations around it: turns are rare and independent, so that their number spreads by its root, and 19 of 20 times it lies in the band. ${EXPECTED_ROUNDS_NOTE} Choose one node to judge it.`,
      alerts: ['ChainProposalShortfall'],
      unit: 'locale',
      decimals: 0,
      width: 12,
      band: { from: 'band, lower edge', to: 'band, upper edge' },
      lines: [
        { expr: `sum(${BLOCKS} and on (job, instance) ${EXPECTED})`, legend: 'blocks led' },
        { expr: `sum(${EXPECTED})`, legend: 'expected' },
        {
          expr: `clamp_min(sum(${EXPECTED}) - 2 * sqrt(sum(${EXPECTED})), 0)`,
          legend: 'band, lower edge',
        },
        { expr: `sum(${EXPECTED}) + 2 * sqrt(sum(${EXPECTED}))`, legend: 'band, upper edge' },
      ],
    }),
    graph({
      title: 'How likely so few blocks are by chance',
      about:
        'The least likely nodes. A line that stays near 0 is no bad luck: the node misses its turns, or its stake is not what it is thought to be.',
      alerts: ['ChainProposalShortfall'],
      unit: 'percentunit',
      decimals: 2,
      width: 12,
      min: 0,
      max: 1,
      limits: CHANCE,
      lines: [
        {
          expr: lowest('max by (job, instance) (chain_duty_shortfall_probability_ratio)'),
          legend: '{{instance}}',
        },
      ],
    }),
    graph({
      title: 'Timeouts of own rounds, beside the network',
      about: `Share of rounds of six hours that timed out: of those that the worst nodes led, and of all leaders. Both high: the network is in trouble. The own one alone: the cause is here, in processor, disk, clock or peers. ${ABOUT_FEW}`,
      alerts: ['ChainLeaderTimeouts'],
      unit: 'percentunit',
      decimals: 1,
      width: 12,
      min: 0,
      limits: OWN_TIMEOUTS_LIMITS,
      lines: [
        {
          expr: 'max(chain_duty_timeout_ratio{scope="network"})',
          legend: 'all leaders',
        },
        {
          expr: highest(`(${OWN_TIMEOUTS_BY_NODE})`),
          legend: '{{instance}}',
        },
      ],
    }),
    ...identity,
  ],
}
