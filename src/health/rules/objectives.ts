import {
  percent,
  type Cause,
  NODE_DOWN,
  NODE_VARIABLES,
  type RecordingRow,
  RPC_DOWN,
  type RuleFile,
  ruleFile,
} from './rule.ts'

/** The share of a window at which the budget of an objective is used at this multiple of the rate that lasts a week. */
const shareAt = (burnRate: number, objective: number): number =>
  Number((1 - burnRate * (1 - objective)).toPrecision(12))

/** A pair of windows: the short one shows that the downtime continues, and ends the alert. */
const unavailable = (long: string, short: string, share: number): string => `(
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
  explainedBy: EXPLAINED,
  advice: [
    'Find the outages of the last day and their causes: `chain-agent events --since 24h`.',
    'Postpone planned restarts until the week has budget for them again.',
  ],
} as const

/** `objective`: the share of a week in which the node should have a fresh block. */
export const uptime = (objective: number): RuleFile => {
  const budget = percent(1 - objective)
  const header = {
    name: 'uptime',
    component: 'consensus',
    dashboard: `d/chain-duties?${NODE_VARIABLES}`,
    groupComment:
      'A week has 168 hours, and a budget of 2 % of them. 30 % of an hour is 15 times the rate that uses it up in a week, and 9 % of it; 12 % of six hours is 6 times, and 21 %; 6 % of a day 3 times, and 43 %; 2 % of three days is the rate itself, and 43 %. The shorter window of each pair has the same limit, as in the SRE workbook: it shows whether the downtime continues, and ends the alert.',
  } as const
  return ruleFile(header, [
    {
      ...BUDGET,
      alert: 'ChainUptimeBudget.fast',
      comment:
        'Pages for a node that comes and goes: an outage without a break has an alert of its own and a short window of 0. After such an outage the short window is between 0 and the limit for less than four minutes, and the alert does not fire.',
      page: 'The outages are too short for another page, and the budget of the week is used up by the morning.',
      limit: shareAt(15, objective),
      for: '10m',
      expr: (limit) => `${unavailable('1h', '5m', limit)}
and on (instance, job, cluster)
(instance:chain_available:avg5m > 0)`,
      summary: 'the node goes down again and again: the uptime of the week is at risk',
      description: (limit) =>
        `{{ $labels.instance }} had a fresh block for only {{ $value | humanizePercentage }} of the last hour (minimum ${percent(limit)}), and the downtime continues. At this rate the ${budget} of the week that it may be down are used up in half a day.`,
    },
    {
      ...BUDGET,
      alert: 'ChainUptimeBudget.fast',
      limit: shareAt(6, objective),
      for: '10m',
      expr: (limit) => unavailable('6h', '30m', limit),
      summary: 'the uptime budget of the week is being used up within a day',
      description: (limit) =>
        `{{ $labels.instance }} had a fresh block for only {{ $value | humanizePercentage }} of the last six hours (minimum ${percent(limit)}), and the downtime continues. At this rate the ${budget} of the week that it may be down are used up in little more than a day.`,
    },
    {
      ...BUDGET,
      alert: 'ChainUptimeBudget.slow',
      limit: shareAt(3, objective),
      for: '15m',
      expr: (limit) => `${unavailable('1d', '1h', limit)}
or on (instance, job, cluster)
${unavailable('3d', '6h', objective)}`,
      summary: 'the uptime objective of the week will be missed',
      description: (limit) =>
        `{{ $labels.instance }} had a fresh block for only {{ $value | humanizePercentage }} of the last day (minimum ${percent(limit)}) or three days (${percent(objective)}), and the downtime continues. At this rate the node is down for more than ${budget} of the week.`,
    },
    {
      ...BUDGET,
      alert: 'ChainUptimeBudget.spent',
      comment:
        'By the counts of the agent, which it keeps on its disk: Prometheus need not have the week. Information, because it lasts for days and what is lost cannot be regained. Not of own rounds: few of them are many percent each.',
      severity: 'info',
      for: '15m',
      expr: `chain_slo_budget_remaining_ratio{criterion="fresh_block"} < 0
and on (instance, job, cluster) (chain_slo_known_ratio > 0.5)`,
      summary: 'the uptime objective of the last seven days is missed',
      description: `{{ $labels.instance }} was down for longer than the ${budget} of the last seven days that its objective allows.`,
    },
  ])
}

/** The share of the requests of users that should be executed within 1 s. */
const TRAFFIC_OBJECTIVE = 0.99

const WINDOWS = ['5m', '30m', '1h', '1d'] as const
type Window = (typeof WINDOWS)[number]

/** A ratio is that of the window only with samples in a part of it: at least a quarter of an hour, or four and a half. */
const NEEDS: Partial<Readonly<Record<Window, string>>> = { '30m': '150s]) > 6', '1d': '30m]) > 9' }

const recorded = (range: Window): RecordingRow => ({
  record: `instance:chain_traffic_quick:ratio${range}`,
  expr: `1 - rate(chain_traffic_bounded_requests_total{duration="longer"}[${range}])
  / on (instance, job, cluster)
sum by (instance, job, cluster) (rate(chain_traffic_bounded_requests_total[${range}]))${
    NEEDS[range] === undefined
      ? ''
      : `
  and on (instance, job, cluster)
(count_over_time(chain_traffic_bounded_requests_total{duration="1s"}[${range}:${NEEDS[range]})`
  }`,
})

const slow = (
  long: Window,
  short: Window,
  share: number,
): string => `instance:chain_traffic_quick:ratio${long} < ${share}
  and on (instance, job, cluster)
    (instance:chain_traffic_quick:ratio${short} < ${share})`

const TRAFFIC = {
  name: 'traffic',
  component: 'sync',
  dashboard: `d/chain-consensus?${NODE_VARIABLES}`,
  groupComment:
    'The share of executed requests that took at most 1 s, without the methods that take long by nature. Statuses do not count: the RPC answers 200 to each request that it can read, also if it rejects the call.',
} as const

export const traffic = ruleFile(TRAFFIC, [
  ...WINDOWS.map(recorded),
  {
    comment:
      'An execution normally takes milliseconds; a call that waits for an executor times out after 2 s (monad-rpc/src/cli.rs, eth_call_executor_queuing_timeout), and 1 s is the last bound of the histogram of the node. 15 % slow requests of half an hour are 15 times the rate that uses up the budget of a week, and 4 % of it; 3 % of a day are 3 times the rate, and 43 %. The shorter window shows that it continues. No page: the node is healthy, and the load comes from users.',
    alert: 'ChainRpcSlow.budget',
    for: '5m',
    explainedBy: [{ alerts: RPC_DOWN }, NODE_DOWN],
    advice: [
      'See which methods take the time: `curl -s localhost:9843/metrics | grep ^chain_traffic_execution_seconds_total`.',
      'Limit the rate of the clients that cause it, in the proxy before the RPC.',
    ],
    expr: `(
  ${slow('30m', '5m', shareAt(15, TRAFFIC_OBJECTIVE))}
  or on (instance, job, cluster)
  ${slow('1d', '1h', shareAt(3, TRAFFIC_OBJECTIVE))}
)
and on (instance, job, cluster) (chain_node_role{role="rpc"} == 1)`,
    summary: 'users of the RPC wait longer than its objective allows',
    description: `The RPC of {{ $labels.instance }} executed only {{ $value | humanizePercentage }} of the requests of the last 30 minutes (minimum ${percent(shareAt(15, TRAFFIC_OBJECTIVE))}) or day (${percent(shareAt(3, TRAFFIC_OBJECTIVE))}) within 1 s, and it continues. The objective is ${percent(TRAFFIC_OBJECTIVE)} of a week.`,
  },
])
