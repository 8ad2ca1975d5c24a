import { COLOUR } from '../colours.ts'
import { NODE_LABELS } from '../links.ts'
import { lowest } from '../promql.ts'
import { type Row } from '../frame.ts'
import { limitsBy, ownLimits } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { table, type Column } from '../panels/table.ts'
import { limitsOf } from '../rules.ts'
import { inWords } from '../units.ts'
import { FRESH, FRESH_WITHIN } from '../node-state.ts'

const [objective] = limitsOf('ChainUptimeBudgetSlow', 'instance:chain_available:avg3d')
if (!objective) throw new Error('ChainUptimeBudgetSlow names no objective')
const OBJECTIVE = objective.value
const BUDGET = `(1 - ${OBJECTIVE})`
const HOURS = 7 * 24
const WEEK = HOURS * 3600

const least = (expr: string): string => `min by (job, instance) (${expr})`
/** Hours of the week with data, evaluated once each: otherwise the whole week would be read again for each column. */
const known = 'count_over_time(instance:chain_available:bool[7d:1h])'
/** Like the rules for their windows: with data for less than half of the window there is no value. */
const week = `(
  avg_over_time(instance:chain_available:bool[7d])
  and on (job, instance) (${known} >= ${HOURS / 2})
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
  limits: limitsBy({ alert, metric: `instance:chain_available:avg${window}` }),
})

const NO_OWN_ROUNDS = 'no own rounds'
const ofAgent = (title: string, metric: string, more: Partial<Column> = {}): Column => ({
  title,
  expr: `max by (job, instance) (${metric})`,
  unit: 'percentunit',
  decimals: 0,
  ...more,
})

export const budget: Row = {
  title: `The objective: ${inWords(OBJECTIVE, 'percentunit')} of each week with a fresh block`,
  panels: [
    table({
      title: 'Budget of the week',
      about: `Share of time with a newest block of at most ${FRESH_WITHIN}, in several windows, and the downtime that ${inWords(OBJECTIVE, 'percentunit')} of a week leaves. Time without data counts neither way: see how much of the week is known. A window of which less than half is known is absent, and so is the last hour while the agent cannot be scraped.`,
      alerts: ['ChainUptimeBudgetFast', 'ChainUptimeBudgetSlow', 'ChainUptimeBudgetSpent'],
      width: 24,
      height: 7,
      keys: { instance: 'Node' },
      hidden: NODE_LABELS,
      sortBy: { title: 'Budget left', descending: false },
      columns: [
        {
          title: 'Budget left',
          expr: least(`1 - (1 - ${week}) / ${BUDGET}`),
          unit: 'percentunit',
          decimals: 0,
          limits: SPENT,
        },
        {
          title: 'Downtime left',
          expr: `${WEEK} * ${least(`clamp_min(${BUDGET} - (1 - ${week}), 0)`)}`,
          unit: 's',
        },
        { title: 'Fresh, 7 days', expr: least(week), unit: 'percentunit', decimals: 2 },
        {
          title: 'Known of 7 days',
          expr: `clamp_max(${least(known)} / ${HOURS}, 1)`,
          unit: 'percentunit',
          decimals: 0,
        },
        share('1h', 'ChainUptimeBudgetFast'),
        share('6h', 'ChainUptimeBudgetFast'),
        share('1d', 'ChainUptimeBudgetSlow'),
        share('3d', 'ChainUptimeBudgetSlow'),
      ],
    }),
    table({
      title: 'Uptime of the week, as the agent measures it',
      about:
        'The agent of each node measures the same itself, and keeps it while Prometheus is down: the time with a fresh block, and the own rounds that had a block. The budget is the downtime that its configured objective (`health.objective`) leaves; statesync and maintenance use it, unknown time does not. If it differs from the table above, Prometheus missed a part of the week, or the objectives differ.',
      alerts: ['ChainUptimeBudgetSpent', 'ChainUptimeBudgetFast', 'ChainUptimeBudgetSlow'],
      width: 24,
      height: 7,
      keys: { instance: 'Node' },
      hidden: NODE_LABELS,
      sortBy: { title: 'Budget, fresh', descending: false },
      columns: [
        ofAgent('Budget, fresh', 'chain_slo_budget_remaining_ratio{criterion="fresh_block"}', { limits: SPENT }),
        ofAgent('Fresh, 7 days', 'chain_slo_uptime_ratio{criterion="fresh_block"}', { decimals: 2 }),
        ofAgent('Known of 7 days', 'chain_slo_known_ratio'),
        ofAgent('Budget, own rounds', 'chain_slo_budget_remaining_ratio{criterion="own_rounds"}', {
          limits: SPENT,
          empty: NO_OWN_ROUNDS,
        }),
        ofAgent('Own rounds, 7 days', 'chain_slo_uptime_ratio{criterion="own_rounds"}', {
          decimals: 2,
          empty: NO_OWN_ROUNDS,
        }),
        ofAgent('Objective', 'chain_slo_objective_ratio'),
      ],
    }),
    graph({
      title: 'How fast the budget burns',
      about:
        'Downtime as a multiple of what the objective allows: at 1 the budget lasts exactly a week, at 2 half of one. A peak that is over needs no action; find the cause of one that stays.',
      alerts: ['ChainUptimeBudgetFast', 'ChainUptimeBudgetSlow'],
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
      alerts: ['ChainUptimeBudgetFast'],
      unit: 'percentunit',
      decimals: 1,
      width: 12,
      height: 7,
      max: 1,
      limits: limitsBy({
        alert: 'ChainUptimeBudgetFast',
        metric: 'instance:chain_available:avg1h',
      }),
      lines: [{ expr: lowest(least(FRESH)), legend: '{{instance}}' }],
    }),
  ],
}
