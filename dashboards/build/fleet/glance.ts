import { type Row } from '../frame.ts'
import { anyIs } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { tile } from '../panels/tile.ts'
import { ABOUT_STATES, AREAS, STATE, stateOf } from '../node-state.ts'

const count = (comparison: string): string => `count((${STATE}) ${comparison}) or 0 * count(${STATE})`

export const glance: Row = {
  title: 'At a glance',
  panels: [
    tile({
      title: 'Nodes',
      about:
        'Targets of Prometheus that are nodes, and those that were so within the time shown. Fewer than you operate: look at the discovery of Prometheus.',
      alerts: ['ChainAgentAbsent'],
      expr: `count(${STATE})`,
      legend: 'known to Prometheus',
      unit: 'locale',
      width: 4,
    }),
    tile({
      title: 'Following the chain',
      about:
        'Nodes with a fresh block that are not known to be behind. Whose references are down is among them: the table says how far each is behind, where that is known.',
      alerts: ['ChainBlockStalled'],
      expr: count('== 1'),
      legend: 'nodes',
      unit: 'locale',
      width: 4,
    }),
    tile({
      title: 'Agents gone',
      about:
        'Nodes whose agent cannot be scraped, or that are no targets any more: nothing is known of them. The table below names them.',
      alerts: ['ChainAgentDown', 'ChainAgentAbsent'],
      expr: count('>= 8'),
      legend: 'nodes',
      unit: 'locale',
      words: { 0: ['none', 'good'] },
      limits: anyIs('critical'),
      width: 4,
    }),
    tile({
      title: 'Stalled or services down',
      about:
        'Nodes whose newest block is too old, or whose consensus or execution does not run. Go to the node, then to the runbook of its alert.',
      alerts: ['ChainBlockStalled', 'ChainServiceDown'],
      expr: count('>= 6 < 8'),
      legend: 'nodes',
      unit: 'locale',
      words: { 0: ['none', 'good'] },
      limits: anyIs('critical'),
      width: 4,
    }),
    tile({
      title: 'Behind or unknown',
      about: 'Nodes that are behind their references, and nodes whose newest block has an unknown age.',
      alerts: ['ChainBehind', 'ChainBlind'],
      expr: count('>= 4 < 6'),
      legend: 'nodes',
      unit: 'locale',
      words: { 0: ['none', 'good'] },
      limits: anyIs('warning'),
      width: 4,
    }),
    tile({
      title: 'Maintenance or statesync',
      about: 'Nodes that do not follow for a reason that is known. Neither is a fault.',
      alerts: ['ChainMaintenance', 'ChainStatesync'],
      expr: count('>= 2 < 4'),
      legend: 'nodes',
      unit: 'locale',
      width: 4,
    }),
    graph({
      title: 'Nodes by what they do',
      about: `How many nodes did what over time. ${ABOUT_STATES}`,
      alerts: ['ChainAgentDown', 'ChainBlockStalled', 'ChainBehind'],
      unit: 'locale',
      decimals: 0,
      width: 24,
      min: 0,
      stacked: true,
      words: AREAS,
      lines: [{ expr: `count_values("state", ${stateOf('1h')})`, legend: '{{state}}' }],
    }),
  ],
}
