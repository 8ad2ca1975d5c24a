import { type Row } from '../frame.ts'
import { graph } from '../panels/graph.ts'
import { timeline } from '../panels/timeline.ts'
import { quantile } from '../promql.ts'
import { UP } from '../value-labels.ts'

const METHODS = ['eth_blockNumber', 'eth_getBlockByNumber']
const REASONS = ['refused', 'timeout', 'http', 'jsonrpc', 'invalid']

export const rpc: Row = {
  title: 'RPC, as the agent asks it',
  panels: [
    timeline({
      title: 'The RPC answers',
      about: 'Whether the last question got a valid answer. During statesync nothing listens, and that is no outage.',
      alerts: ['ChainRpcDown'],
      width: 12,
      height: 8,
      words: UP,
      lines: [{ expr: 'chain_rpc_up', legend: 'RPC' }],
    }),
    graph({
      title: 'Questions',
      about: 'Questions a second that the agent asks, by method: the pace of its poll, not the load of users.',
      alerts: ['ChainCollectorDown'],
      unit: 'reqps',
      decimals: 2,
      width: 12,
      min: 0,
      names: METHODS,
      lines: [
        {
          expr: 'sum by (method) (rate(chain_rpc_request_duration_seconds_count[$__rate_interval]))',
          legend: '{{method}}',
        },
      ],
    }),
    graph({
      title: 'Questions without a valid answer',
      about:
        'By method and reason. refused: nothing listens; timeout: it hangs, or is busy; invalid: something else answers there.',
      alerts: ['ChainRpcDown'],
      unit: 'reqps',
      decimals: 2,
      width: 12,
      min: 0,
      bars: true,
      names: METHODS.flatMap((method) => REASONS.map((reason) => `${method}: ${reason}`)),
      lines: [
        {
          expr: 'sum by (method, reason) (rate(chain_rpc_errors_total[$__rate_interval])) > 0',
          legend: '{{method}}: {{reason}}',
        },
      ],
    }),
    graph({
      title: 'Time to an answer',
      about:
        'Over the loopback interface. When it rises the RPC is busy, or the processor is: what users feel is more.',
      alerts: ['ChainRpcDown'],
      unit: 's',
      width: 12,
      min: 0,
      lines: METHODS.flatMap((method) => [
        {
          expr: quantile(0.5, `chain_rpc_request_duration_seconds{method="${method}"}`),
          legend: `${method}, median`,
        },
        {
          expr: quantile(0.99, `chain_rpc_request_duration_seconds{method="${method}"}`),
          legend: `${method}, 99th`,
        },
      ]),
    }),
  ],
}
