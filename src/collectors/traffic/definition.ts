import { polling, timed, url } from '../../core/settings.ts'
import { externalCounter, gauge } from '../../core/metric.ts'

/** Methods with a series of their own. `trace` is every method whose name begins with debug_trace. */
export const TRAFFIC_METHODS = [
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
] as const
/** How long an execution took. Their bounds are buckets of the node; its last one ends at 1 s. */
export const TRAFFIC_DURATIONS = ['10ms', '100ms', '1s', 'longer'] as const
export const STATUS_CLASSES = ['2xx', '4xx', '5xx'] as const

/** Where the OpenTelemetry collector of the node's package serves what it receives. */
export const OTEL_URL = 'http://localhost:8889'

export const definition = {
  name: 'traffic',
  help: 'requests of the users of the RPC, from its own metrics or the OpenTelemetry collector',
  introduction:
    'The load of the RPC by its metrics. A coming release serves them itself, at `/metrics` of its port (`rpc.url`); the releases up to v0.16 answer 404 there, and receive one request a minute. They push them to an OpenTelemetry collector every 2.5 s if they run with `--otel-endpoint`, which the documentation of the node calls deprecated. Without either, `chain_traffic_up` is 0 and the rest is absent. From a collector, metrics older than 30 s are absent, too: it serves the last ones for a while. With the series of two processes, as after an upgrade, they are absent until the collector has removed the old ones (`metric_expiration`), unless it adds timestamps (`send_timestamps`). The counters restart with the RPC. They include the requests of the agent: every `rpc.interval` (2 s) one `eth_blockNumber` and three `eth_getBlockByNumber`; the responses also those at `/metrics`. Not exported, because no rule and no panel would use them: subscriptions of websockets (`ws_active_topics`), and the cache of trie nodes of a coming release (`rpc_triedb_node_cache_*`). Not detected: errors of JSON-RPC have the HTTP status 200, also those of an RPC that rejects a call at once because too many are executed (`concurrent requests limit`); methods that the node does not have are in no series. The series of HTTP responses of the node have the Host header of clients as a label: clients that send thousands of different ones make its metrics larger than the agent reads (2 MiB).',
  settings: timed('5s', '5s', {
    ...polling('5s'),
    url: url(
      `the metrics endpoint of the RPC or of an OpenTelemetry collector; without a path, /metrics is used; null: /metrics of \`rpc.url\`, else ${OTEL_URL}`,
    )
      .nullable()
      .default(null),
  }),
  metrics: {
    chain_traffic_up: gauge('Whether the RPC or the OpenTelemetry collector returned current metrics of the RPC.'),
    chain_traffic_requests_total: externalCounter(
      'Executed requests of clients by method, over HTTP and websockets, each request of a batch counted; those of the agent included.',
      { method: TRAFFIC_METHODS },
    ),
    chain_traffic_execution_seconds_total: externalCounter(
      'Time that the RPC took to execute requests, in seconds, by method; waiting included.',
      { method: TRAFFIC_METHODS },
    ),
    chain_traffic_bounded_requests_total: externalCounter(
      'Executed requests by their duration, each counted once (above the duration before, up to this one), without the methods that take long by nature: traces, logs, simulations, and the transaction that waits for its block.',
      { duration: TRAFFIC_DURATIONS },
    ),
    chain_traffic_responses_total: externalCounter(
      'HTTP responses of the RPC by class of their status; errors of JSON-RPC are 2xx.',
      { status: STATUS_CLASSES },
    ),
    chain_traffic_active_requests: gauge(
      'HTTP requests in work; one whose client left may stay counted until the RPC restarts.',
    ),
    chain_traffic_websockets: gauge('Open websocket connections of the RPC.'),
  },
} as const
