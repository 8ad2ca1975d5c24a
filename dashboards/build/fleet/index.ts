import { anyIs, limitsBy } from '../limits.ts'
import { LINKED_NODE, NODE } from '../columns.ts'
import { toPanel, TO_NODE_FROM_TABLE, uidOf } from '../links.ts'
import { graph } from '../panels/graph.ts'
import type { Placed } from '../panels/panel.ts'
import { tile } from '../panels/tile.ts'
import { ABOUT_STATES, AREAS, firing, STATE, stateOf, FRESH, INHIBITED, RANK, RANKS, STATES } from '../node-state.ts'
import { NONE, type ValueLabels } from '../value-labels.ts'
import { type Row, frame } from '../frame.ts'
import { alertList } from '../overview.ts'
import { OWN_TIMEOUTS_BY_NODE, OWN_TIMEOUTS_LIMITS } from '../own-rounds.ts'
import { heightOf, table } from '../panels/table.ts'
import { askedOf } from '../rules.ts'
import { versions, chainAndDuties, space } from './worst.ts'

/** Titles of the panels that the tiles link to. */
const EVERY_NODE = 'Every node'
const BY_STATE = 'Nodes by state'
const GONE = 'Agents that are gone'

const count = (comparison: string): string => `count((${STATE}) ${comparison}) or 0 * count(${STATE})`

/** Nodes with a firing alert of this severity that maintenance does not inhibit. */
const withAlerts = (severity: string): string => `count((${firing(severity)}) > 0) or 0 * count(${STATE})`

const SIZE = { width: 3, height: 3, unit: 'locale' } as const
const TO_TABLE = toPanel('fleet', EVERY_NODE)

const tiles: readonly Placed[] = [
  tile({
    ...SIZE,
    title: 'Nodes',
    about:
      'Targets of Prometheus that are nodes, and those that were within the time shown. Fewer than you operate: see the discovery of Prometheus.',
    alerts: ['ChainAgentAbsent', 'ChainAgentAbsent.node'],
    expr: `count(${STATE})`,
    legend: 'known to Prometheus',
    to: toPanel('fleet', BY_STATE),
  }),
  tile({
    ...SIZE,
    title: 'With critical alerts',
    about:
      'Nodes with a critical alert, without those that a maintenance window inhibits. They are the first rows of the table; open the runbook of the oldest alert.',
    alerts: ['ChainServiceDown', 'ChainBlockStalled', 'ChainNotVoting'],
    expr: withAlerts('critical'),
    legend: 'nodes',
    words: NONE,
    limits: anyIs('critical'),
    to: TO_TABLE,
  }),
  tile({
    ...SIZE,
    title: 'With warnings',
    about: 'Nodes with a warning, without those that a maintenance window inhibits. Read them on the same day.',
    alerts: ['ChainBehind', 'ChainStorageFull'],
    expr: withAlerts('warning'),
    legend: 'nodes',
    words: NONE,
    limits: anyIs('warning'),
    to: TO_TABLE,
  }),
  tile({
    ...SIZE,
    title: 'Following',
    about:
      'Nodes with a fresh block that are not known to be behind and have no critical alert. Nodes without references are included: the table has the distance of each where it is known.',
    alerts: ['ChainBlockStalled'],
    expr: `count((${STATE}) == 1 unless on (job, instance) ((${firing('critical')}) > 0)) or 0 * count(${STATE})`,
    legend: 'nodes',
    to: TO_TABLE,
  }),
  tile({
    ...SIZE,
    title: 'Agents gone',
    about:
      'Nodes whose agent cannot be scraped, or that are no longer targets: nothing is known of them. The table below names them.',
    alerts: ['ChainAgentDown', 'ChainAgentAbsent', 'ChainAgentAbsent.node'],
    expr: count('>= 8'),
    legend: 'nodes',
    words: NONE,
    limits: anyIs('critical'),
    to: toPanel('fleet', GONE),
  }),
  tile({
    ...SIZE,
    title: 'Stalled or down',
    about:
      'Nodes whose newest block is too old, or whose consensus or execution does not run. Open the dashboard of the node, then the runbook of its oldest alert.',
    alerts: ['ChainBlockStalled', 'ChainServiceDown'],
    expr: count('>= 6 < 8'),
    legend: 'nodes',
    words: NONE,
    limits: anyIs('critical'),
    to: TO_TABLE,
  }),
  tile({
    ...SIZE,
    title: 'Behind, unknown',
    about: 'Nodes that are behind their references, and nodes whose newest block has an unknown age. See their alerts.',
    alerts: ['ChainBehind', 'ChainBlind'],
    expr: count('>= 4 < 6'),
    legend: 'nodes',
    words: NONE,
    limits: anyIs('warning'),
    to: TO_TABLE,
  }),
  tile({
    ...SIZE,
    title: 'Maintenance',
    about: 'Nodes that do not follow for a known reason. Neither is a fault.',
    alerts: ['ChainMaintenance', 'ChainStatesync'],
    expr: count('>= 2 < 4'),
    legend: 'or statesync',
    words: NONE,
    to: TO_TABLE,
  }),
]

const byState: Placed = graph({
  title: BY_STATE,
  about: `How many nodes were in each state over time. ${ABOUT_STATES}`,
  alerts: ['ChainAgentDown', 'ChainBlockStalled', 'ChainBehind'],
  unit: 'locale',
  decimals: 0,
  width: 12,
  height: 8,
  min: 0,
  stacked: true,
  words: AREAS,
  lines: [{ expr: `count_values("state", ${stateOf('1h')})`, legend: '{{state}}' }],
})

const ONSET = `
  1000 * min by (job, instance) (
    ALERTS_FOR_STATE{severity=~"critical|warning", instance!=""}
    and ignoring (alertstate) ALERTS{alertstate="firing"}
  )`

const ROLES: ValueLabels = { 1: ['validator', 'good'], 2: ['full node', 'good'], 3: ['RPC', 'good'] }

/** The first screen: which nodes are not healthy, since when, and why. */
const nodes: Row = {
  panels: [
    alertList({ width: 12, height: 8, many: true }),
    byState,
    ...tiles,
    table({
      title: EVERY_NODE,
      about: `Nodes with a critical alert first, then the worst state first; a click on a name opens the dashboard of the node. Window: blocks until only statesync helps. Timeouts: share of the own rounds. Alerts that a maintenance window inhibits are counted separately. ${ABOUT_STATES}`,
      alerts: ['ChainAgentDown', 'ChainBlockStalled', 'ChainBehind'],
      width: 24,
      height: heightOf(9),
      ...LINKED_NODE,
      sortBy: { title: 'State', descending: true },
      columns: [
        { title: 'State', expr: RANK, unit: 'none', words: RANKS, width: 190 },
        { title: 'Oldest alert', expr: ONSET, unit: 'dateTimeFromNow', empty: 'none', width: 125 },
        { title: 'Critical', expr: firing('critical'), unit: 'locale', words: NONE, limits: anyIs('critical') },
        { title: 'Warnings', expr: firing('warning'), unit: 'locale', words: NONE, limits: anyIs('warning') },
        { title: 'Inhibited', expr: INHIBITED, unit: 'locale', empty: 'none' },
        {
          title: 'Block age',
          expr: 'max by (job, instance) (instance:chain_block_age:seconds)',
          unit: 's',
          limits: limitsBy('ChainBlockStalled', 'instance:chain_block_age:seconds'),
        },
        {
          title: 'Behind',
          empty: 'unknown',
          expr: 'max by (job, instance) (instance:chain_behind:seconds)',
          unit: 's',
          limits: limitsBy('ChainBehind', 'instance:chain_behind:seconds'),
        },
        {
          title: 'Window',
          expr: 'min by (job, instance) (chain_blocksync_window_remaining_blocks)',
          unit: 'suffix:blocks',
          decimals: 0,
          limits: limitsBy('ChainBlocksyncWindow', 'chain_blocksync_window_remaining_blocks'),
        },
        {
          title: 'Votes',
          expr: 'min by (job, instance) (instance:chain_votes_per_round:ratio_rate2m)',
          unit: 'percentunit',
          decimals: 1,
          limits: limitsBy('ChainNotVoting', 'instance:chain_votes_per_round:ratio_rate2m'),
        },
        {
          title: 'Timeouts',
          expr: OWN_TIMEOUTS_BY_NODE,
          unit: 'percentunit',
          decimals: 1,
          limits: OWN_TIMEOUTS_LIMITS,
        },
        {
          title: 'Database',
          expr: 'max by (job, instance) (instance:chain_storage_used_ratio:max)',
          unit: 'percentunit',
          decimals: 1,
          limits: limitsBy('ChainStorageFull', 'instance:chain_storage_used_ratio:max'),
        },
        {
          title: 'Fresh, 1 h',
          expr: `min by (job, instance) (${FRESH})`,
          unit: 'percentunit',
          decimals: 2,
          limits: limitsBy('ChainUptimeBudget.fast', 'instance:chain_available:avg1h'),
        },
        {
          title: 'Role',
          expr: `max by (job, instance) (
            chain_node_role{role="validator"} == 1
            or 2 * (chain_node_role{role="full-node"} == 1)
            or 3 * (chain_node_role{role="rpc"} == 1)
          )`,
          unit: 'none',
          words: ROLES,
          empty: 'unknown',
        },
      ],
    }),
  ],
}

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

const services: Row = {
  title: 'Agents that are gone, query services',
  panels: [
    table({
      title: GONE,
      about:
        'Nodes whose agent cannot be scraped, and those that were targets within the time shown and no longer are. Nothing else on this page is known of them. See whether the host is up, then its network, then the agent.',
      alerts: ['ChainAgentDown', 'ChainAgentAbsent', 'ChainAgentAbsent.node'],
      empty: 'none',
      width: 8,
      ...LINKED_NODE,
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
      ...NODE,
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

export const fleet = () =>
  frame({
    name: 'fleet',
    description:
      'All nodes: which are not healthy, since when, and which versions they run. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [nodes, services, chainAndDuties, space, versions],
  })
