import { percent, type RuleFile } from './rule.ts'

/** The lowest ratio of fresh blocks that uses up the budget of the objective at most that many times too fast. */
const floorOf = (objective: number, burnRate: number): number => Number((1 - burnRate * (1 - objective)).toPrecision(6))

export const uptime = (objective: number): RuleFile => ({
  name: 'uptime',
  groups: [
    {
      comment:
        'A week has 168 hours, and a budget of 2 % of them. 30 % of an hour is 15 times the rate that uses it up in a week, and 9 % of it; 12 % of six hours is 6 times, and 21 %; 6 % of a day 3 times, and 43 %; 2 % of three days is the rate itself, and 43 %. The shorter window of each pair shows whether it continues, and ends the alert.',
      name: 'chain-uptime',
      rules: [
        {
          alert: 'ChainUptimeBudgetFast',
          severity: 'critical',
          component: 'consensus',
          limit: floorOf(objective, 15),
          for: '10m',
          expr: (limit) => `(
  instance:chain_available:avg1h < ${limit}
  and on (instance, job)
    (instance:chain_available:avg5m < 1)
)
or on (instance, job)
(
  instance:chain_available:avg6h < ${floorOf(objective, 6)}
  and on (instance, job)
    (instance:chain_available:avg30m < 1)
)`,
          summary: 'The uptime budget of the week is being used up within hours.',
          description: (limit) =>
            `{{ $labels.instance }} had a fresh block for only {{ $value | humanizePercentage }} of the last hour (minimum ${percent(limit)}) or six hours (${percent(floorOf(objective, 6))}), and the downtime continues. At this rate the ${percent(1 - objective)} of the week that it may be down are used up in little more than a day.`,
        },
        {
          alert: 'ChainUptimeBudgetSlow',
          severity: 'warning',
          component: 'consensus',
          limit: floorOf(objective, 3),
          for: '15m',
          expr: (limit) => `(
  instance:chain_available:avg1d < ${limit}
  and on (instance, job)
    (instance:chain_available:avg1h < 1)
)
or on (instance, job)
(
  instance:chain_available:avg3d < ${objective}
  and on (instance, job)
    (instance:chain_available:avg6h < 1)
)`,
          summary: 'The uptime objective of the week will be missed.',
          description: (limit) =>
            `{{ $labels.instance }} had a fresh block for only {{ $value | humanizePercentage }} of the last day (minimum ${percent(limit)}) or three days (${percent(objective)}), and the downtime continues. At this rate the node is down for more than ${percent(1 - objective)} of the week.`,
        },
      ],
    },
  ],
})
