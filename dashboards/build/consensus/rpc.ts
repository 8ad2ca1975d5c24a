import { type Row } from '../frame.ts'
import { graph } from '../panels/graph.ts'
import { quantile } from '../promql.ts'

const METHODS = ['eth_blockNumber', 'eth_getBlockByNumber']
/** As in the definition of the metrics. */
const TRAFFIC_METHODS = [
  'eth_blockNumber',
  'eth_call',
  'eth_estimateGas',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_sendRawTransaction',
  'eth_sendRawTransactionSync',
  'trace',
  'other',
]
const REASONS = ['refused', 'timeout', 'http', 'jsonrpc', 'invalid']

export const rpc: Row = {
  title: 'RPC, as the agent polls it',
  panels: [
    graph({
      title: 'Time to a response of the RPC',
      about:
        'Over the loopback interface, on a logarithmic scale. If it rises, the RPC or the CPU is busy; users wait longer than this.',
      alerts: ['ChainRpcSlow', 'ChainRpcDown'],
      unit: 's',
      width: 8,
      logarithmic: true,
      lines: METHODS.flatMap((method) => [
        { expr: quantile(0.5, `chain_rpc_request_duration_seconds{method="${method}"}`), legend: `${method}, median` },
        { expr: quantile(0.99, `chain_rpc_request_duration_seconds{method="${method}"}`), legend: `${method}, 99th` },
      ]),
    }),
    graph({
      title: 'Requests without a valid response',
      about:
        'By method and reason. refused: no process listens; timeout: it hangs or is busy; invalid: something else answers there. An RPC that starts before consensus is live does not listen yet, which is no fault.',
      alerts: ['ChainRpcDown', 'ChainRpcDown.requests-fail'],
      empty: 'none',
      unit: 'reqps',
      decimals: 2,
      width: 8,
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
      title: 'Transactions',
      about: 'Transactions of proposed blocks, and those that execution has run. Over minutes they are equal.',
      alerts: ['ChainExecutionSlow.lagging'],
      unit: 'suffix:tx/s',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [
        { expr: 'rate(chain_ledger_transactions_total[$__rate_interval])', legend: 'proposed' },
        { expr: 'rate(chain_execution_transactions_total[$__rate_interval])', legend: 'executed' },
      ],
    }),
  ],
}

const SHARE = 'instance:chain_traffic_quick:ratio'
const METHOD = 'rate(chain_traffic_execution_seconds_total[$__rate_interval])'

export const traffic: Row = {
  title: 'RPC, as its users see it',
  panels: [
    graph({
      title: 'Requests by method',
      about:
        'Executed requests over HTTP and websockets, from the metrics that the RPC pushes to the OpenTelemetry collector. The agent sends two a second itself: eth_blockNumber and eth_getBlockByNumber.',
      alerts: ['ChainRpcSlow.budget'],
      empty: 'the RPC pushes no metrics',
      unit: 'reqps',
      decimals: 1,
      width: 8,
      min: 0,
      names: TRAFFIC_METHODS,
      lines: [{ expr: 'rate(chain_traffic_requests_total[$__rate_interval])', legend: '{{method}}' }],
    }),
    graph({
      title: 'Time of an execution by method',
      about: 'Mean, on a logarithmic scale; waiting for an executor is included.',
      alerts: ['ChainRpcSlow.budget'],
      empty: 'the RPC pushes no metrics',
      unit: 's',
      width: 8,
      logarithmic: true,
      names: TRAFFIC_METHODS,
      lines: [{ expr: `${METHOD} / (rate(chain_traffic_requests_total[$__rate_interval]) > 0)`, legend: '{{method}}' }],
    }),
    graph({
      title: 'Requests executed within 1 s',
      about:
        'Share of the requests, without methods that take long by nature: the objective of the RPC. A call that the RPC rejects because too many are executed counts as fast: the node does not count rejections.',
      alerts: ['ChainRpcSlow.budget'],
      empty: 'the RPC pushes no metrics',
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      lines: (['5m', '1h', '1d'] as const).map((range) => ({ expr: `${SHARE}${range}`, legend: `last ${range}` })),
    }),
    graph({
      title: 'HTTP responses that are no success',
      about: 'By class of the status: 4xx are requests that the RPC cannot read. Errors of JSON-RPC are 200.',
      alerts: ['ChainRpcSlow.budget'],
      empty: 'none',
      unit: 'reqps',
      decimals: 2,
      width: 8,
      min: 0,
      names: ['4xx', '5xx'],
      lines: [{ expr: 'rate(chain_traffic_responses_total{status!="2xx"}[$__rate_interval])', legend: '{{status}}' }],
    }),
    graph({
      title: 'Requests in work, websockets',
      about:
        'If requests in work rise and stay, executors are busy. One whose client left may stay counted until the RPC restarts.',
      alerts: ['ChainRpcSlow.budget'],
      empty: 'the RPC pushes no metrics',
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [
        { expr: 'chain_traffic_active_requests', legend: 'HTTP requests in work' },
        { expr: 'chain_traffic_websockets', legend: 'websockets' },
      ],
    }),
    graph({
      title: 'Requests by duration',
      about: 'Each request counts once, in the first duration that it did not exceed; without methods that take long.',
      alerts: ['ChainRpcSlow.budget'],
      empty: 'the RPC pushes no metrics',
      unit: 'reqps',
      decimals: 1,
      width: 8,
      min: 0,
      names: ['10ms', '100ms', '1s', 'longer'],
      lines: [{ expr: 'rate(chain_traffic_bounded_requests_total[$__rate_interval])', legend: '{{duration}}' }],
    }),
  ],
}
