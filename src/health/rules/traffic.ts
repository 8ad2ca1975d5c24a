import { percent, NODE_DOWN, NODE_VARIABLES, RPC_DOWN, type RecordingRow, type RuleFile } from './rule.ts'

/** The share of the requests of users that should be executed within 1 s. */
const OBJECTIVE = 0.99

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

const burns = (
  long: Window,
  short: Window,
  share: number,
): string => `instance:chain_traffic_quick:ratio${long} < ${share}
  and on (instance, job, cluster)
    (instance:chain_traffic_quick:ratio${short} < ${share})`

const shareAt = (burnRate: number): number => Number((1 - burnRate * (1 - OBJECTIVE)).toPrecision(12))

export const traffic: RuleFile = {
  name: 'traffic',
  groups: [
    {
      comment:
        'The share of executed requests that took at most 1 s, without the methods that take long by nature. Statuses do not count: the RPC answers 200 to each request that it can read, also if it rejects the call.',
      name: 'chain-traffic-recording',
      rules: WINDOWS.map(recorded),
    },
    {
      name: 'chain-traffic',
      rules: [
        {
          comment:
            'An execution normally takes milliseconds; a call that waits for an executor times out after 2 s (monad-rpc/src/cli.rs, eth_call_executor_queuing_timeout), and 1 s is the last bound of the histogram of the node. 15 % slow requests of half an hour are 15 times the rate that uses up the budget of a week, and 4 % of it; 3 % of a day are 3 times the rate, and 43 %. The shorter window shows that it continues. No page: the node is healthy, and the load comes from users.',
          alert: 'ChainRpcSlow',
          why: 'budget',
          severity: 'warning',
          component: 'sync',
          for: '5m',
          explainedBy: [{ alerts: RPC_DOWN }, NODE_DOWN],
          advice: [
            'See which methods take the time: `curl -s localhost:9843/metrics | grep ^chain_traffic_execution_seconds_total`.',
            'Limit the rate of the clients that cause it, in the proxy before the RPC.',
          ],
          expr: `(
  ${burns('30m', '5m', shareAt(15))}
  or on (instance, job, cluster)
  ${burns('1d', '1h', shareAt(3))}
)
and on (instance, job, cluster) (chain_node_role{role="rpc"} == 1)`,
          summary: 'users of the RPC wait longer than its objective allows',
          description: `The RPC of {{ $labels.instance }} executed only {{ $value | humanizePercentage }} of the requests of the last 30 minutes (minimum ${percent(shareAt(15))}) or day (${percent(shareAt(3))}) within 1 s, and it continues. The objective is ${percent(OBJECTIVE)} of a week.`,
          dashboard: `d/chain-consensus?${NODE_VARIABLES}`,
        },
      ],
    },
  ],
}
