import { COLOUR } from '../colours.ts'
import { NODE, ratio } from '../columns.ts'
import { lowest } from '../promql.ts'
import { type Row } from '../frame.ts'
import { limitsBy, ownLimits } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { heightOf, table, type Column } from '../panels/table.ts'
import { limitsOf } from '../rules.ts'
import { inWords } from '../units.ts'
import { FRESH, FRESH_WITHIN } from '../node-state.ts'

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

export const budget: Row = {
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
