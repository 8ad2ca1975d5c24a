import { type Cause, percent, NODE_DOWN, RPC_DOWN, ruleFile } from './rule.ts'

/** The service waits for a node without new blocks. */
const NO_NEW_BLOCKS: readonly Cause[] = [
  { ...NODE_DOWN, services: ['bft', 'execution', 'rpc'] },
  {
    alerts: [
      ...RPC_DOWN,
      'ChainStatesync',
      'ChainBehind',
      'ChainBlockStalled',
      'ChainQueryServiceDown.stopped',
      'ChainQueryServiceDown.incomplete',
    ],
  },
]

export const queryService = ruleFile({ name: 'query-service', component: 'services' }, [
  {
    comment: 'Blocks that are final on the node and not indexed. Absent while either height is unknown.',
    record: 'instance:chain_query_service_behind:blocks',
    expr: `chain_query_service_node_height
  - on (instance, job, cluster) chain_query_service_height`,
  },
  {
    comment:
      "Five minutes, as for everything that the node does not need. Under the node's own job: its maintenance windows apply.",
    alert: 'ChainQueryServiceDown',
    for: '5m',
    advice: [
      'Start it: `sudo systemctl start chain-agent-serve-query`.',
      'Read the log of the query service: `journalctl -u chain-agent-serve-query -n 50`.',
    ],
    expr: 'label_replace(up{job="chain-query-service"} == 0, "job", "chain-agent", "", "")',
    summary: 'the query service cannot be scraped',
    description:
      'Prometheus has not been able to scrape the query service of {{ $labels.instance }} for five minutes. It may not answer any requests. The node itself is not affected.',
  },
  {
    comment:
      'The process runs, but the ingest has stopped: a fork below a final block, another chain, a broken store. Its data may belong to another history, so it rejects all requests. No cause of this state fixes itself.',
    alert: 'ChainQueryServiceDown.stopped',
    for: '1m',
    advice: [
      'Read the log of the query service: `journalctl -u chain-agent-serve-query -n 50`.',
      'Follow the reason there: it names what to delete or to restore.',
    ],
    expr: 'chain_query_service_phase{phase="stopped"} == 1',
    summary: 'the ingest of the query service has stopped permanently',
    description:
      'The ingest of the query service of {{ $labels.instance }} stopped a minute ago, and does not restart by itself. Its log has the reason. It rejects all requests, because its data may be wrong.',
  },
  {
    comment:
      'The phase begins after ten minutes in which the node returned the next block without its logs. The minute prevents an alert for a block that is complete at the next request.',
    alert: 'ChainQueryServiceDown.incomplete',
    for: '1m',
    advice: [
      'Read the log of the query service: `journalctl -u chain-agent-serve-query -n 50`. It names the block.',
      'Request the receipts of that block from the node: `eth_getBlockReceipts`.',
    ],
    expr: 'chain_query_service_phase{phase="incomplete"} == 1',
    summary: 'the query service has stopped before a block without its logs',
    description:
      'The query service of {{ $labels.instance }} has stopped before a block that the node has returned without all of its logs for more than ten minutes. It serves the blocks before it, and requests the block again every minute.',
  },
  {
    comment: '`unless`, because an unknown height has not moved either.',
    alert: 'ChainQueryServiceBehind.stalled',
    for: '5m',
    explainedBy: NO_NEW_BLOCKS,
    advice: ['Read the log of the query service: `journalctl -u chain-agent-serve-query -n 50`.'],
    expr: `(changes(chain_query_service_node_height[5m]) > 0)
unless on (instance, job, cluster)
  (changes(chain_query_service_height[5m]) > 0)`,
    summary: 'the query service indexes no blocks, while the node has new ones',
    description:
      'The query service of {{ $labels.instance }} has indexed no block for ten minutes, while the node had new final blocks in each five. Answers end with the last block that it has.',
  },
  {
    comment: 'A backfill is far behind but catches up, so the alert does not fire. 300 blocks are two minutes.',
    alert: 'ChainQueryServiceBehind',
    limit: 300,
    for: '15m',
    explainedBy: [...NO_NEW_BLOCKS, { alerts: ['ChainQueryServiceBehind.stalled'] }],
    advice: [
      'Check the load of the host and of the store.',
      'Read the log of the query service: `journalctl -u chain-agent-serve-query -n 50`.',
    ],
    expr: (limit) => `(instance:chain_query_service_behind:blocks > ${limit})
and on (instance, job, cluster)
  (delta(instance:chain_query_service_behind:blocks[10m]) >= 0)`,
    summary: 'the query service is behind the node and does not catch up',
    description: (limit) =>
      `The query service of {{ $labels.instance }} is {{ $value | printf "%.0f" }} final blocks behind its node, more than ${limit}, and for 15 minutes that has not become less.`,
  },
  {
    comment:
      'An unreachable or overloaded node (unreachable, overload) has its own alerts; one such answer may be chance. round(), because increase() extrapolates.',
    alert: 'ChainQueryServiceBehind.ingest-failing',
    limit: 5,
    explainedBy: [{ alerts: ['ChainQueryServiceDown.incomplete'] }],
    advice: ['Read the log of the query service: `journalctl -u chain-agent-serve-query -n 50`.'],
    expr: (limit) => `round(
  increase(
    chain_query_service_ingest_errors_total{kind=~"incomplete|invalid|refused|unlinked|store"}[15m]
  )
) > ${limit}`,
    summary: "the query service cannot use or store the node's answers: {{ $labels.kind }}",
    description: (limit) =>
      `Steps of the ingest of the query service of {{ $labels.instance }} failed with {{ $labels.kind }} {{ printf "%.0f" $value }} times within 15 minutes, more than ${limit}. Their blocks were not indexed; a retry does not fix this.`,
  },
  {
    comment: 'Bad input is 4xx, and is not counted here.',
    alert: 'ChainQueryServiceSlow.errors',
    limit: 0.05,
    for: '10m',
    explainedBy: [{ alerts: ['ChainQueryServiceDown.stopped'] }],
    advice: ['Read the log of the query service: `journalctl -u chain-agent-serve-query -n 50`.'],
    expr: (limit) => `sum by (instance, job, cluster) (rate(chain_query_service_requests_total{code=~"5.."}[5m]))
  / on (instance, job, cluster) sum by (instance, job, cluster) (rate(chain_query_service_requests_total[5m])) > ${limit}`,
    summary: 'the query service fails too many of its requests',
    description: (limit) =>
      `The query service of {{ $labels.instance }} has answered {{ $value | humanizePercentage }} of its requests with 5xx for ten minutes, more than ${percent(limit)}. This is a server error: client errors are 4xx.`,
  },
  {
    comment: 'A read ends after 5 s with what it has: if many take half of that, pages will soon be incomplete.',
    alert: 'ChainQueryServiceSlow',
    limit: 0.9,
    for: '15m',
    advice: ['Find expensive queries in the log of the query service.', 'Check the load of the host and of the store.'],
    expr: (
      limit,
    ) => `sum by (instance, job, cluster) (rate(chain_query_service_request_duration_seconds_bucket{path=~"/query.*",le="2.5"}[15m]))
  / on (instance, job, cluster)
sum by (instance, job, cluster) (rate(chain_query_service_request_duration_seconds_count{path=~"/query.*"}[15m])) < ${limit}`,
    summary: 'the query service is slow',
    description: (limit) =>
      `Of the queries to {{ $labels.instance }} only {{ $value | humanizePercentage }} were answered within 2.5 s for 15 minutes, less than ${percent(limit)}. Pages end after 5 s, and clients need more of them.`,
  },
])
