import { percent, type AlertRow, type Cause, NODE_DOWN, NODE_VARIABLES, type RuleFile } from './rule.ts'

/** A pair of windows: the short one shows that the downtime continues, and ends the alert. */
const burns = (long: string, short: string, share: number): string => `(
  instance:chain_available:avg${long} < ${share}
  and on (instance, job, cluster)
    (instance:chain_available:avg${short} < ${share})
)`

/** Downtime with an alert of its own. */
const EXPLAINED: readonly Cause[] = [
  NODE_DOWN,
  { alerts: ['ChainStatesync', 'ChainBlockStalled', 'ChainBlockStalled.deadlock', 'ChainBlockStalled.rebooted'] },
]

const BUDGET = {
  component: 'consensus',
  explainedBy: EXPLAINED,
  advice: [
    'Find the outages of the last day and their causes: `chain-agent events --since 24h`.',
    'Postpone planned restarts until the week has budget for them again.',
  ],
  dashboard: `d/chain-duties?${NODE_VARIABLES}`,
} satisfies Partial<AlertRow>

/** `objective`: the share of a week in which the node should have a fresh block. */
export const uptime = (objective: number): RuleFile => {
  /** Share of a window with fresh blocks below which the budget is used at this multiple of the rate that lasts a week. */
  const shareAt = (burnRate: number): number => Number((1 - burnRate * (1 - objective)).toPrecision(12))
  const budget = percent(1 - objective)
  return {
    name: 'uptime',
    groups: [
      {
        comment:
          'A week has 168 hours, and a budget of 2 % of them. 30 % of an hour is 15 times the rate that uses it up in a week, and 9 % of it; 12 % of six hours is 6 times, and 21 %; 6 % of a day 3 times, and 43 %; 2 % of three days is the rate itself, and 43 %. The shorter window of each pair has the same limit, as in the SRE workbook: it shows whether the downtime continues, and ends the alert.',
        name: 'chain-uptime',
        rules: [
          {
            ...BUDGET,
            alert: 'ChainUptimeBudget',
            why: 'fast',
            comment:
              'Pages for a node that comes and goes: an outage without a break has an alert of its own and a short window of 0. After such an outage the short window is between 0 and the limit for less than four minutes, and the alert does not fire.',
            severity: 'critical',
            page: 'The outages are too short for another page, and the budget of the week is used up by the morning.',
            limit: shareAt(15),
            for: '10m',
            expr: (limit) => `${burns('1h', '5m', limit)}
and on (instance, job, cluster)
(instance:chain_available:avg5m > 0)`,
            summary: 'the node goes down again and again: the uptime of the week is at risk',
            description: (limit) =>
              `{{ $labels.instance }} had a fresh block for only {{ $value | humanizePercentage }} of the last hour (minimum ${percent(limit)}), and the downtime continues. At this rate the ${budget} of the week that it may be down are used up in half a day.`,
          },
          {
            ...BUDGET,
            alert: 'ChainUptimeBudget',
            why: 'fast',
            severity: 'warning',
            limit: shareAt(6),
            for: '10m',
            expr: (limit) => burns('6h', '30m', limit),
            summary: 'the uptime budget of the week is being used up within a day',
            description: (limit) =>
              `{{ $labels.instance }} had a fresh block for only {{ $value | humanizePercentage }} of the last six hours (minimum ${percent(limit)}), and the downtime continues. At this rate the ${budget} of the week that it may be down are used up in little more than a day.`,
          },
          {
            ...BUDGET,
            alert: 'ChainUptimeBudget',
            why: 'slow',
            severity: 'warning',
            limit: shareAt(3),
            for: '15m',
            expr: (limit) => `${burns('1d', '1h', limit)}
or on (instance, job, cluster)
${burns('3d', '6h', objective)}`,
            summary: 'the uptime objective of the week will be missed',
            description: (limit) =>
              `{{ $labels.instance }} had a fresh block for only {{ $value | humanizePercentage }} of the last day (minimum ${percent(limit)}) or three days (${percent(objective)}), and the downtime continues. At this rate the node is down for more than ${budget} of the week.`,
          },
          {
            ...BUDGET,
            alert: 'ChainUptimeBudget',
            why: 'spent',
            comment:
              'By the counts of the agent, which it keeps on its disk: Prometheus need not have the week. Information, because it lasts for days and what is lost cannot be regained. Not of own rounds: few of them are many percent each.',
            severity: 'info',
            for: '15m',
            expr: `chain_slo_budget_remaining_ratio{criterion="fresh_block"} < 0
and on (instance, job, cluster) (chain_slo_known_ratio > 0.5)`,
            summary: 'the uptime objective of the last seven days is missed',
            description: `{{ $labels.instance }} was down for longer than the ${budget} of the last seven days that its objective allows.`,
          },
        ],
      },
    ],
  }
}
