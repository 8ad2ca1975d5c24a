import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { type Placed } from '../panels/panel.ts'
import { quantile } from '../promql.ts'
import { askedOf } from '../rules.ts'
import { inWords } from '../units.ts'

const QUERY = 'chain_query_service_request_duration_seconds{path="/query"}'
const [IN_TIME = ''] = askedOf('ChainQueryServiceSlow', 'le').map(({ value }) => value)

/** Results and latencies of the clients of the query service. */
export const queryAnswers: readonly Placed[] = [
  graph({
    title: 'Answers by code',
    about:
      'Answers a second. 4xx is bad input, a wrong key or a limit; 499 a client that left; 5xx a fault of ours, or a store that does not answer.',
    alerts: ['ChainQueryServiceErrors'],
    unit: 'reqps',
    decimals: 2,
    width: 8,
    min: 0,
    lines: [
      {
        expr: 'sum by (code) (rate(chain_query_service_requests_total[$__rate_interval]))',
        legend: '{{code}}',
      },
    ],
  }),
  graph({
    title: 'Share of 5xx',
    about: 'Of all answers, over five minutes. What clients do wrong is not in it.',
    alerts: ['ChainQueryServiceErrors'],
    unit: 'percentunit',
    decimals: 1,
    width: 8,
    min: 0,
    softMax: 0.1,
    limits: limitsBy({
      alert: 'ChainQueryServiceErrors',
      metric: 'chain_query_service_requests_total',
    }),
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
      'Bodies of answers as they were sent, compressed where the client asked for it. Fewer fields in a query are the way to less.',
    alerts: ['ChainQueryServiceSlow'],
    unit: 'suffix:MB/s',
    decimals: 2,
    width: 8,
    min: 0,
    names: ['/query', '/height', 'other'],
    lines: [
      {
        expr: 'sum by (path) (rate(chain_query_service_response_bytes_total[$__rate_interval])) / 1e6',
        legend: '{{path}}',
      },
    ],
  }),
  graph({
    title: 'Time for a query',
    about:
      'From the request to the end of its answer, slow clients among them. A read ends after 5 s with the blocks that it has by then.',
    alerts: ['ChainQueryServiceSlow'],
    unit: 's',
    width: 12,
    min: 0,
    lines: [
      { expr: quantile(0.5, QUERY), legend: 'median' },
      { expr: quantile(0.95, QUERY), legend: '95th percentile' },
      { expr: quantile(0.99, QUERY), legend: '99th percentile' },
    ],
  }),
  graph({
    title: `Queries answered within ${inWords(Number(IN_TIME), 's')}`,
    about:
      'Share over a quarter of an hour. Below the line pages are cut short, and clients need more of them: look at who asks for what.',
    alerts: ['ChainQueryServiceSlow'],
    unit: 'percentunit',
    decimals: 1,
    width: 12,
    min: 0,
    max: 1,
    limits: limitsBy({
      alert: 'ChainQueryServiceSlow',
      metric: 'chain_query_service_request_duration_seconds_bucket',
    }),
    lines: [
      {
        expr: `
          increase(chain_query_service_request_duration_seconds_bucket{path="/query", le="${IN_TIME}"}[15m])
          / on (job, instance) (increase(chain_query_service_request_duration_seconds_count{path="/query"}[15m]) > 0)`,
        legend: 'in time',
      },
    ],
  }),
]
