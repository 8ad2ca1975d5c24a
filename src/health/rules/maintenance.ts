import { ruleFile } from './rule.ts'

export const maintenance = ruleFile({ name: 'maintenance', component: 'agent' }, [
  {
    comment:
      'Alertmanager inhibits by it, so it has no "for". It outlives the agent for half an hour, because the agent or its host may be restarted during the maintenance.',
    alert: 'ChainMaintenance',
    severity: 'none',
    advice: ['End it when the work is done: `sudo chain-agent maintenance end`.'],
    expr: 'last_over_time(chain_agent_maintenance[30m]) == 1',
    summary: 'a maintenance window is set: {{ $labels.reason }}',
    description:
      'The operator of {{ $labels.instance }} has set a maintenance window ({{ $labels.reason }}). All alerts of this node are inhibited, except those on keys and security.',
  },
  {
    comment:
      'A window that was forgotten inhibits every page: so it must be delivered, which information need not be.',
    alert: 'ChainMaintenanceLong',
    for: '24h',
    advice: ['End it if the work is done: `sudo chain-agent maintenance end`.'],
    expr: 'max by (instance, job, cluster) (last_over_time(chain_agent_maintenance[30m])) == 1',
    summary: 'the maintenance window has lasted longer than a day',
    description:
      '{{ $labels.instance }} has been in a maintenance window for more than 24 hours. Its alerts are inhibited during this time.',
  },
])
