import type { RuleFile } from './rule.ts'

export const availability: RuleFile = {
  name: 'availability',
  groups: [
    {
      name: 'chain-availability-recording',
      rules: [
        {
          record: 'instance:chain_available:bool',
          expr: 'instance:chain_block_age:seconds <= bool 30',
        },
        {
          comment:
            'If less than half of a window is known, its share is meaningless and the series is absent. This excludes a new series, or one with a long gap. Checked by a subquery, so that it does not depend on the evaluation interval.',
          record: 'instance:chain_available:avg5m',
          expr: 'avg_over_time(instance:chain_available:bool[5m])',
        },
        {
          record: 'instance:chain_available:avg30m',
          expr: 'avg_over_time(instance:chain_available:bool[30m])',
        },
        {
          record: 'instance:chain_available:avg1h',
          expr: `avg_over_time(instance:chain_available:bool[1h])
and on (instance, job, cluster)
  (count_over_time(instance:chain_available:bool[1h:5m]) > 6)`,
        },
        {
          record: 'instance:chain_available:avg6h',
          expr: `avg_over_time(instance:chain_available:bool[6h])
and on (instance, job, cluster)
  (count_over_time(instance:chain_available:bool[6h:30m]) > 6)`,
        },
        {
          record: 'instance:chain_available:avg1d',
          expr: `avg_over_time(instance:chain_available:bool[1d])
and on (instance, job, cluster)
  (count_over_time(instance:chain_available:bool[1d:2h]) > 6)`,
        },
        {
          record: 'instance:chain_available:avg3d',
          expr: `avg_over_time(instance:chain_available:bool[3d])
and on (instance, job, cluster)
  (count_over_time(instance:chain_available:bool[3d:6h]) > 6)`,
        },
      ],
    },
  ],
}
