import type { Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { figures } from '../panels/tile.ts'
import { timeline } from '../panels/timeline.ts'
import { alarm } from '../value-labels.ts'
import { quantile } from '../promql.ts'

/** Peers, and whether the metrics and the log of consensus can be trusted. */
export const peers: Row = {
  title: 'Peers, and what consensus reports',
  panels: [
    graph({
      title: 'Known peers',
      about:
        'Peers that consensus has discovered, and that the status report has. It is no sign of a connection: the number stays while the node is cut off. The sessions are on the dashboard of the node.',
      alerts: ['ChainIsolated'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [
        { expr: 'chain_native_peers', legend: 'discovered' },
        { expr: 'chain_status_peers', legend: 'in the status report' },
      ],
    }),
    graph({
      title: 'Upstream validators and downstream nodes',
      about:
        'Validators that send blocks to this full node, and full nodes that it sends blocks to. A full node with fewer than two validators for half an hour is likely to stop in a deadlock of timeouts.',
      alerts: ['ChainPeersFew.upstream'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      limits: limitsBy('ChainPeersFew.upstream', 'chain_native_upstream_validators'),
      lines: [
        { expr: 'chain_native_upstream_validators', legend: 'send blocks here' },
        { expr: 'chain_native_downstream_nodes', legend: 'get blocks from here' },
      ],
    }),
    graph({
      title: 'Errors of the network layer, in five minutes',
      about:
        'By kind, and the number of peers that cause them. One peer: the cause is there. Several at once: see the clock and the version of this node.',
      alerts: ['ChainPeersFew.sessions'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      names: ['decrypt', 'session_timeout', 'timestamp'],
      lines: [
        { expr: 'sum by (job, instance) (increase(chain_consensus_network_errors_total[5m]))', legend: 'all kinds' },
        { expr: 'increase(chain_consensus_network_errors_total[5m])', legend: '{{kind}}' },
        { expr: 'chain_consensus_network_error_peers', legend: 'peers' },
      ],
    }),
    graph({
      title: 'Warnings and errors in the log of consensus',
      about:
        'Lines a second. The dashboard of the node shows the known messages. Many lines without a known message: read the journal.',
      alerts: ['ChainLogTrouble'],
      unit: 'suffix:lines/s',
      decimals: 2,
      width: 8,
      min: 0,
      names: ['warning', 'error'],
      lines: [
        { expr: 'rate(chain_consensus_messages_total{kind=~"warning|error"}[$__rate_interval])', legend: '{{kind}}' },
      ],
    }),
    graph({
      title: 'Rounds by source, relative to the ledger stream',
      about:
        'Difference between the round of each source and the newest round in the ledger stream. A source that falls back has stopped.',
      alerts: ['ChainLogsIncomplete', 'ChainBlind.old-consensus-metrics'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      lines: [
        {
          expr: 'chain_consensus_round - on (job, instance) chain_ledger_round{event="proposed"}',
          legend: 'consensus log',
        },
        {
          expr: 'chain_ledger_round{event="finalized"} - on (job, instance) chain_ledger_round{event="proposed"}',
          legend: 'finalized in the ledger stream',
        },
      ],
    }),
    timeline({
      title: 'Sync requests, and sources that have stopped',
      about:
        'A start that is not live yet, statesync and blocksync as the node requests them; endpoints without metrics; metrics that do not change, also while the node progresses (zombie). Statesync is no fault; the others are.',
      alerts: ['ChainStartStalled', 'ChainStatesync', 'ChainBlind.old-consensus-metrics', 'ChainBlind'],
      width: 8,
      height: 8,
      legend: false,
      words: alarm('YES', 'warning'),
      lines: [
        { expr: 'chain_native_start_active', legend: 'start, metrics' },
        { expr: 'chain_consensus_start_active', legend: 'start, log' },
        { expr: 'chain_native_statesync_active', legend: 'statesync, metrics' },
        { expr: 'chain_consensus_statesync_active', legend: 'statesync, log' },
        { expr: 'chain_consensus_blocksync_active', legend: 'blocksync, log' },
        { expr: '1 - chain_consensus_committing', legend: 'no commits, log' },
        { expr: '1 - chain_native_up', legend: 'no metrics, {{source}}' },
        { expr: 'chain_native_frozen', legend: 'metrics frozen' },
        { expr: 'chain_native_zombie', legend: 'metrics zombie' },
      ],
    }),
    figures({
      title: 'Epoch and round',
      about:
        'By the ledger stream, the log and the status report. The status report is up to five minutes old. See the source that stays while the others grow.',
      alerts: ['ChainBlockStalled'],
      unit: 'locale',
      width: 24,
      lines: [
        { expr: 'chain_ledger_epoch{event="proposed"}', legend: 'epoch, ledger' },
        { expr: 'chain_consensus_epoch', legend: 'epoch, log' },
        { expr: 'chain_status_epoch', legend: 'epoch, report' },
        { expr: 'chain_ledger_round{event="proposed"}', legend: 'round, ledger' },
        { expr: 'chain_consensus_round', legend: 'round, log' },
        { expr: 'chain_status_round', legend: 'round, report' },
      ],
    }),
  ],
}

const METHODS = ['eth_blockNumber', 'eth_getBlockByNumber']
/** As in the definition of the metrics. */
const TRAFFIC_METHODS = [
  'eth_blockNumber eth_call eth_estimateGas eth_getBalance eth_getBlockByNumber eth_getLogs',
  'eth_getTransactionByHash eth_getTransactionCount eth_getTransactionReceipt eth_sendRawTransaction',
  'eth_sendRawTransactionSync trace other',
].flatMap((line) => line.split(' '))
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
