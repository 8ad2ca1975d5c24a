import { type Row } from '../frame.ts'
import { graph } from '../panels/graph.ts'
import { quantile } from '../promql.ts'

const METHODS = ['eth_blockNumber', 'eth_getBlockByNumber']
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
    graph({
      title: 'Requests without a valid response',
      about:
        'By method and reason. refused: no process listens; timeout: it hangs or is busy; invalid: something else answers there. An RPC that starts before consensus is live does not listen yet, which is no fault.',
      alerts: ['ChainRpcDown', 'ChainRpcErrors'],
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
      alerts: ['ChainExecutionLagging'],
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
