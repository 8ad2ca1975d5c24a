import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { NODE_LABELS, TO_NODE_FROM_TABLE, uidOf } from '../links.ts'
import { STATE, STATES } from '../node-state.ts'
import { table } from '../panels/table.ts'
import { askedOf } from '../rules.ts'
import { type ValueLabels } from '../value-labels.ts'
import { GONE } from './glance.ts'

const [IN_TIME = ''] = askedOf('ChainQueryServiceSlow', 'le').map(({ value }) => value)
const REQUESTS = 'chain_query_service_requests_total'
const DURATIONS = 'chain_query_service_request_duration_seconds'

const PHASES: ValueLabels = {
  1: ['tail', 'good'],
  2: ['backfill', 'info'],
  3: ['starting', 'info'],
  4: ['waiting', 'warning'],
  5: ['INCOMPLETE', 'critical'],
  6: ['STOPPED', 'critical'],
}
const PHASE = Object.entries(PHASES)
  .map(([value, [text]]) => `${value} * (chain_query_service_phase{phase="${text.toLowerCase()}"} == 1)`)
  .join(' or ')

const byNode = (expr: string): string => `sum by (job, instance) (${expr})`

const TO_QUERY_SERVICE = {
  title: 'Query service of ${__data.fields.Node}',
  url: TO_NODE_FROM_TABLE.url.replace(uidOf('node'), uidOf('query-service')),
}

export const services: Row = {
  title: 'Agents that are gone, query services',
  panels: [
    table({
      title: GONE,
      about:
        'Nodes whose agent cannot be scraped, and those that were targets within the time shown and no longer are. Nothing else on this page is known of them. See whether the host is up, then its network, then the agent.',
      alerts: ['ChainAgentDown', 'ChainAgentAbsent', 'ChainAgentAbsent.node'],
      empty: 'none',
      width: 8,
      keys: { instance: 'Node' },
      hidden: NODE_LABELS,
      links: { instance: TO_NODE_FROM_TABLE },
      columns: [
        { title: 'State', expr: `(${STATE}) >= 8`, unit: 'none', words: STATES },
        {
          title: 'Last contact',
          expr: `
            1000 * max by (job, instance) (max_over_time(timestamp(chain_agent_build_info)[$__range:1m]))
            and on (job, instance) ((${STATE}) >= 8)`,
          unit: 'dateTimeFromNow',
        },
      ],
    }),
    table({
      title: 'Query services',
      about:
        'Each query service: its phase, how far it is behind its node, the age of its newest block, and its responses of five minutes. A click on a name opens its dashboard.',
      alerts: [
        'ChainQueryServiceDown.stopped',
        'ChainQueryServiceBehind',
        'ChainQueryServiceSlow.errors',
        'ChainQueryServiceSlow',
      ],
      empty: 'none',
      width: 16,
      keys: { instance: 'Node' },
      hidden: NODE_LABELS,
      links: { instance: TO_QUERY_SERVICE },
      sortBy: { title: 'Phase', descending: true },
      columns: [
        { title: 'Phase', expr: `max by (job, instance) (${PHASE})`, unit: 'none', words: PHASES },
        {
          title: 'Behind the node',
          expr: 'max by (job, instance) (instance:chain_query_service_behind:blocks)',
          unit: 'suffix:blocks',
          decimals: 0,
          limits: limitsBy('ChainQueryServiceBehind', 'instance:chain_query_service_behind:blocks'),
        },
        {
          title: 'Newest block',
          expr: 'time() - max by (job, instance) (chain_query_service_indexed_block_timestamp_seconds)',
          unit: 's',
          decimals: 1,
        },
        { title: 'Responses', expr: byNode(`rate(${REQUESTS}[$__rate_interval])`), unit: 'reqps', decimals: 2 },
        {
          title: '5xx',
          expr: `${byNode(`increase(${REQUESTS}{code=~"5.."}[5m])`)} / on (job, instance) (${byNode(`increase(${REQUESTS}[5m])`)} > 0)`,
          unit: 'percentunit',
          decimals: 1,
          empty: 'none',
          limits: limitsBy('ChainQueryServiceSlow.errors', REQUESTS),
        },
        {
          title: 'In time',
          expr: `
            sum by (job, instance, le) (increase(${DURATIONS}_bucket{path=~"/query.*", le="${IN_TIME}"}[15m]))
            / on (job, instance) (${byNode(`increase(${DURATIONS}_count{path=~"/query.*"}[15m])`)} > 0)`,
          unit: 'percentunit',
          decimals: 1,
          limits: limitsBy('ChainQueryServiceSlow', `${DURATIONS}_bucket`),
        },
        { title: 'Store', expr: 'max by (job, instance) (chain_query_service_store_bytes)', unit: 'bytes' },
      ],
    }),
  ],
}
