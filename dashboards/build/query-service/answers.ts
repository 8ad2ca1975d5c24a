import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { quantile } from '../promql.ts'
import { askedOf } from '../rules.ts'
import { inWords } from '../units.ts'

const QUERY = 'chain_query_service_request_duration_seconds{path=~"/query.*"}'
const [IN_TIME = ''] = askedOf('ChainQueryServiceSlow', 'le').map(({ value }) => value)
const NO_SERVICE = 'no query service'

/** Results and latencies of the clients of the query service. */
export const answers: Row = {
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
