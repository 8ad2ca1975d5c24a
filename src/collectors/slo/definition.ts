import { enabled, timed } from '../../core/settings.ts'
import { gauge } from '../../core/metric.ts'
import { each, objectOf, orNull } from '../shared/reading-schema.ts'

/** Two measurements of the uptime of a validator. */
export const CRITERIA = ['fresh_block', 'own_rounds'] as const

export const definition = {
  name: 'slo',
  help: 'uptime of the last seven days, and what is left of its budget',
  introduction:
    'Estimates of the uptime that the delegation programme demands: operators report 98 % of each week, its rules do not say how it is measured. Two measurements of the last seven days: `fresh_block` is the time in which the newest block was at most 30 s old, as in `instance:chain_available:bool`; statesync and maintenance count as downtime. `own_rounds` is the part of the own rounds in the ledger stream that had a block; the stream does not report every timeout. The budget is what the objective (`health.objective`) leaves; unknown time does not use it: see `chain_slo_known_ratio`. Hours are kept in `state.directory` for 31 days, and `chain-agent report` reads them. Not exported, because their limits are not known: the commission cap, the days allowed for an upgrade.',
  settings: timed('5s', '5s', { enabled }),
  reading: objectOf({
    objective: orNull.number,
    /** Milliseconds of the last seven days in which it was known whether the newest block was fresh. */
    known: orNull.number,
    /** Milliseconds in which it was. */
    fresh: orNull.number,
    ...each(orNull.number, 'led', 'missed'),
  }),
  metrics: {
    chain_slo_objective_ratio: gauge('Ratio of a week in which the node should be up, by the configuration.'),
    chain_slo_uptime_ratio: gauge(
      'Uptime of the node in the last seven days, as a ratio of the known time or rounds.',
      {
        criterion: CRITERIA,
      },
    ),
    chain_slo_budget_remaining_ratio: gauge(
      'Part of the downtime that the objective allows in seven days that is left; negative if it is exceeded.',
      { criterion: CRITERIA },
    ),
    chain_slo_known_ratio: gauge('Part of the last seven days in which the age of the newest block was known.'),
  },
} as const
