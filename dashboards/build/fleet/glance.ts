import { anyIs } from '../limits.ts'
import { toPanel } from '../links.ts'
import { graph } from '../panels/graph.ts'
import { type Placed } from '../panels/panel.ts'
import { tile } from '../panels/tile.ts'
import { ABOUT_STATES, AREAS, firing, STATE, stateOf } from '../node-state.ts'
import { NONE } from '../value-labels.ts'

/** Titles of the panels that the tiles link to. */
export const EVERY_NODE = 'Every node'
const BY_STATE = 'Nodes by state'
export const GONE = 'Agents that are gone'

const count = (comparison: string): string => `count((${STATE}) ${comparison}) or 0 * count(${STATE})`

/** Nodes with a firing alert of this severity that maintenance does not inhibit. */
const withAlerts = (severity: string): string => `count((${firing(severity)}) > 0) or 0 * count(${STATE})`

const SIZE = { width: 3, height: 3, unit: 'locale' } as const
const TO_TABLE = toPanel('fleet', EVERY_NODE)

export const tiles: readonly Placed[] = [
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

export const byState: Placed = graph({
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
