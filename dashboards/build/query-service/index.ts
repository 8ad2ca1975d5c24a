import { type Row, frame } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { figures, labels } from '../panels/tile.ts'
import { quantile } from '../promql.ts'
import { askedOf } from '../rules.ts'
import { inWords } from '../units.ts'
import { overview } from '../overview.ts'

const KINDS = ['unreachable', 'overload', 'refused', 'incomplete', 'unlinked', 'invalid', 'store']
const NO_SERVICE = 'no query service'

const ingest: Row = {
  title: 'Ingest and store',
  panels: [
    labels({
      title: 'Phase of the ingest',
      about:
        '`backfill` catches up with the node, `tail` follows it, `waiting` leaves it alone while it is behind or does not respond. `incomplete`: the node returns the next block without its logs. `stopped` needs an operator: see the log.',
      alerts: ['ChainQueryServiceDown.stopped', 'ChainQueryServiceDown.incomplete', 'ChainQueryServiceDown'],
      empty: NO_SERVICE,
      unit: 'none',
      width: 4,
      lines: [{ expr: 'chain_query_service_phase == 1', legend: '{{phase}}' }],
    }),
    figures({
      title: 'Indexed blocks',
      about:
        'The last finalized block of the node, the last indexed block and the first one. All blocks between the last two are indexed.',
      alerts: ['ChainQueryServiceBehind.stalled'],
      empty: NO_SERVICE,
      unit: 'locale',
      decimals: 0,
      width: 12,
      lines: [
        { expr: 'chain_query_service_node_height', legend: 'finalized on the node' },
        { expr: 'chain_query_service_height', legend: 'indexed' },
        { expr: 'chain_query_service_first_block', legend: 'first' },
      ],
    }),
    figures({
      title: 'Blocks and logs in the store',
      about: 'A store with a limit deletes the oldest blocks, and keeps about as many.',
      alerts: ['ChainQueryServiceBehind'],
      empty: NO_SERVICE,
      unit: 'locale',
      decimals: 0,
      width: 8,
      lines: [
        { expr: 'chain_query_service_height - chain_query_service_first_block + 1', legend: 'blocks' },
        { expr: 'chain_query_service_store_logs', legend: 'logs' },
      ],
    }),
    graph({
      title: 'Behind the node',
      about:
        'Finalized blocks of the node that are not indexed. A backfill comes down from far above the line, which is no fault; a line that stays above it is.',
      alerts: ['ChainQueryServiceBehind'],
      empty: NO_SERVICE,
      unit: 'suffix:blocks',
      decimals: 0,
      width: 8,
      min: 0,
      limits: limitsBy('ChainQueryServiceBehind', 'instance:chain_query_service_behind:blocks'),
      lines: [{ expr: 'instance:chain_query_service_behind:blocks', legend: 'behind' }],
    }),
    graph({
      title: 'Age of the last indexed block',
      about:
        'By its timestamp: how old the newest answer is. If the node is stalled it rises, too, and the number of blocks behind stays. The scale is logarithmic.',
      alerts: ['ChainQueryServiceBehind.stalled', 'ChainQueryServiceBehind'],
      empty: NO_SERVICE,
      unit: 's',
      width: 8,
      logarithmic: true,
      lines: [{ expr: 'time() - chain_query_service_indexed_block_timestamp_seconds', legend: 'last indexed block' }],
    }),
    graph({
      title: 'Failed steps of the ingest',
      about:
        'In a quarter of an hour, by kind. unreachable and overload: the node is away or busy. Of the other kinds, more than the line needs an operator.',
      alerts: ['ChainQueryServiceBehind.ingest-failing'],
      empty: NO_SERVICE,
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      softMax: 10,
      names: [...KINDS, 'blocks corrected'],
      limits: limitsBy('ChainQueryServiceBehind.ingest-failing', 'chain_query_service_ingest_errors_total'),
      lines: [
        { expr: 'round(increase(chain_query_service_ingest_errors_total[15m]))', legend: '{{kind}}' },
        { expr: 'round(increase(chain_query_service_blocks_corrected_total[15m]))', legend: 'blocks corrected' },
      ],
    }),
    graph({
      title: 'Blocks indexed',
      about:
        'Blocks a second. A backfill is as fast as the node and the store allow; after it, the rate is that of the chain.',
      alerts: ['ChainQueryServiceBehind', 'ChainQueryServiceBehind.stalled'],
      empty: NO_SERVICE,
      unit: 'suffix:blocks/s',
      decimals: 2,
      width: 8,
      min: 0,
      lines: [{ expr: 'rate(chain_query_service_blocks_indexed_total[$__rate_interval])', legend: 'indexed' }],
    }),
    graph({
      title: 'Logs indexed and returned',
      about: 'Logs a second of the indexed blocks, and in the responses.',
      alerts: ['ChainQueryServiceBehind', 'ChainQueryServiceSlow'],
      empty: NO_SERVICE,
      unit: 'si:logs/s',
      decimals: 1,
      width: 8,
      min: 0,
      lines: [
        { expr: 'rate(chain_query_service_logs_indexed_total[$__rate_interval])', legend: 'indexed' },
        { expr: 'rate(chain_query_service_logs_returned_total[$__rate_interval])', legend: 'returned' },
      ],
    }),
    graph({
      title: 'Space of the store',
      about:
        'Disk usage of the store, and its limit. A full store stays at the limit. A tenth above it, old blocks are not deleted: see the log.',
      alerts: ['ChainQueryServiceBehind'],
      empty: NO_SERVICE,
      unit: 'bytes',
      width: 8,
      min: 0,
      lines: [
        { expr: 'chain_query_service_store_bytes', legend: 'used' },
        { expr: 'chain_query_service_store_limit_bytes', legend: 'limit' },
      ],
    }),
  ],
}

const QUERY = 'chain_query_service_request_duration_seconds{path=~"/query.*"}'
const [IN_TIME = ''] = askedOf('ChainQueryServiceSlow', 'le').map(({ value }) => value)

/** Results and latencies of the clients of the query service. */
const answers: Row = {
  title: 'Responses',
  panels: [
    graph({
      title: 'Responses by code',
      about:
        'Responses a second. 4xx: invalid input, a wrong key or a limit; 499: the client closed the connection; 5xx: the query service failed, or its store does not respond.',
      alerts: ['ChainQueryServiceSlow.errors'],
      empty: NO_SERVICE,
      unit: 'reqps',
      decimals: 2,
      width: 8,
      min: 0,
      names: ['200', '400', '401', '404', '429', '499', '500', '503'],
      lines: [
        { expr: 'sum by (code) (rate(chain_query_service_requests_total[$__rate_interval]))', legend: '{{code}}' },
      ],
    }),
    graph({
      title: 'Share of 5xx',
      about: 'Of all responses, over five minutes. Errors of clients are not included. If it rises, see the log.',
      alerts: ['ChainQueryServiceSlow.errors'],
      empty: NO_SERVICE,
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      softMax: 0.1,
      limits: limitsBy('ChainQueryServiceSlow.errors', 'chain_query_service_requests_total'),
      lines: [
        {
          expr: `
            sum by (job, instance) (increase(chain_query_service_requests_total{code=~"5.."}[5m]))
            / on (job, instance) (sum by (job, instance) (increase(chain_query_service_requests_total[5m])) > 0)`,
          legend: '5xx',
        },
      ],
    }),
    graph({
      title: 'Bytes sent',
      about:
        'Bodies of responses as sent, compressed if the client requested it. Clients reduce them by selecting fewer fields.',
      alerts: ['ChainQueryServiceSlow'],
      empty: NO_SERVICE,
      unit: 'Bps',
      decimals: 2,
      width: 8,
      min: 0,
      names: ['/query', '/query/arrow-ipc', '/query/arrow-ipc/capnp', '/height', '/height/sse', '/chain_id', 'other'],
      lines: [
        {
          expr: 'sum by (path) (rate(chain_query_service_response_bytes_total[$__rate_interval]))',
          legend: '{{path}}',
        },
      ],
    }),
    graph({
      title: 'Time for a query',
      about:
        'From the request to the end of its response, including slow clients, on a logarithmic scale. A read ends after 5 s with the blocks that it has by then.',
      alerts: ['ChainQueryServiceSlow'],
      empty: NO_SERVICE,
      unit: 's',
      width: 8,
      logarithmic: true,
      lines: [
        { expr: quantile(0.5, QUERY), legend: 'median' },
        { expr: quantile(0.95, QUERY), legend: '95th percentile' },
        { expr: quantile(0.99, QUERY), legend: '99th percentile' },
      ],
    }),
    graph({
      title: `Queries answered within ${inWords(Number(IN_TIME), 's')}`,
      about:
        'Share over a quarter of an hour. Below the line pages are shorter, and clients need more of them: see which clients send expensive queries.',
      alerts: ['ChainQueryServiceSlow'],
      empty: NO_SERVICE,
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      max: 1,
      limits: limitsBy('ChainQueryServiceSlow', 'chain_query_service_request_duration_seconds_bucket'),
      lines: [
        {
          expr: `
            sum by (job, instance, le) (increase(chain_query_service_request_duration_seconds_bucket{path=~"/query.*", le="${IN_TIME}"}[15m]))
            / on (job, instance) (sum by (job, instance) (increase(chain_query_service_request_duration_seconds_count{path=~"/query.*"}[15m])) > 0)`,
          legend: 'in time',
        },
      ],
    }),
    graph({
      title: 'Streams of heights',
      about:
        'Clients that follow the height on `/height/sse`: official clients and indexers. At most 256 in total, and 64 of one client; beyond that a client gets 503.',
      alerts: ['ChainQueryServiceSlow.errors'],
      empty: NO_SERVICE,
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      lines: [{ expr: 'chain_query_service_height_streams', legend: 'streams' }],
    }),
  ],
}

export const queryServiceDashboard = () =>
  frame({
    name: 'query-service',
    description:
      'The query service of one node: what it has indexed, and how it answers. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [overview, ingest, answers],
  })
