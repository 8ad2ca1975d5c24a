import { type Row } from './frame.ts'
import { ALERT_LIST, NODE_LABELS, toPanel, TO_NODE_FROM_TABLE } from './links.ts'
import { ABOUT_STATES, STATE, stateOf, STATES } from './node-state.ts'
import { type Placed } from './panels/panel.ts'
import { table } from './panels/table.ts'
import { tile } from './panels/tile.ts'
import { timeline } from './panels/timeline.ts'
import { OR_NO_NODE } from './promql.ts'
import { RUNBOOK_LINK } from './rules.ts'
import { fact, type TextLabels, UP, type ValueLabels } from './value-labels.ts'

export const RUNS_OR_IDLE: ValueLabels = { 0: ['DOWN', 'critical'], 1: ['runs', 'good'], 2: ['idle', 'unknown'] }
/** 2 is a unit that does not run and does not need to, such as the clean-up between its runs. */
export const runningOf = (services = ''): string => {
  const [active, expected] = ['chain_service_active', 'chain_service_expected'].map((metric) => metric + services)
  const by = 'on (job, instance, service)'
  return `${active} + ${by} 2 * (1 - ${active}) * ${by} (1 - ${expected})`
}

/** Labels that distinguish the series of one alert. */
export const DETAILS = [
  'why node watcher alertmanager service pattern finding reading collector package format device',
  'resource model reference directory file fork check key kind result event timer kernel state port',
  'size integration endpoint identity flag request',
].flatMap((line) => line.split(' '))

const SEVERITIES: TextLabels = { critical: 'critical', warning: 'warning', info: 'info' }

/**
 * Prometheus exports the onset of each alert, in seconds, while it is pending or fires. Grafana shows the blanks that
 * absent labels leave as 0.
 */
const onsets = (by: string, nodes: string): string => `
  1000 * max by (${by}) (
    label_replace(
      label_join(
        ALERTS_FOR_STATE${nodes}
        and ignoring (alertstate)
        ALERTS{alertstate="firing", severity!="none"${nodes === '' ? '' : `, ${OR_NO_NODE}`}},
        "detail", " ", ${DETAILS.map((label) => `"${label}"`).join(', ')}
      ),
      "detail", "$1", "detail", " *(.*?) *"
    )
  )`

interface AlertList {
  readonly width: number
  readonly height: number
  /** Whether it has the node of each alert, and alerts without a node. */
  readonly many?: boolean
}

/** Every series of every alert that fires, the oldest first. */
export const alertList = ({ width, height, many = false }: AlertList): Placed => {
  const keys = { severity: 'Severity', alertname: 'Alert', detail: 'Of', component: 'Component' }
  const labels = ['severity', 'alertname', 'detail', 'component']
  return table({
    title: ALERT_LIST,
    about: `What fires now, the oldest first: the first one is often the cause of the others. A click on the alert opens its runbook${many ? ', one on the node its dashboard' : ''}. Alerts that a maintenance window inhibits are included.`,
    alerts: ['ChainWatchdog'],
    empty: 'none',
    width,
    height,
    keys: many ? { instance: 'Node', ...keys } : keys,
    ...(many ? { hidden: NODE_LABELS } : {}),
    links: { alertname: RUNBOOK_LINK, ...(many ? { instance: TO_NODE_FROM_TABLE } : {}) },
    texts: { severity: SEVERITIES },
    widths: { severity: 90, alertname: 220, component: 110 },
    valuesFirst: true,
    sortBy: { title: 'Since', descending: false },
    columns: [
      {
        title: 'Since',
        expr: onsets([...(many ? ['job', 'instance'] : []), ...labels].join(', '), many ? `{${OR_NO_NODE}}` : ''),
        unit: 'dateTimeFromNow',
        width: 130,
      },
    ],
  })
}

export const HISTORY = 'What happened'

const ANSWERS: ValueLabels = { 0: ['NO', 'critical'], 1: ['yes', 'good'] }
const AGREE: ValueLabels = { 0: ['NO MAJORITY', 'warning'], 1: ['agree', 'good'] }
const VERSIONS: ValueLabels = { 1: ['same', 'good'], 2: ['changed', 'info'] }

/** The states of the node, of its parts and of what it depends on, one below the other. */
export const whatHappened = ({ width, height }: { readonly width: number; readonly height: number }): Placed =>
  timeline({
    title: HISTORY,
    about: `The state of the node over time, and what else changed at that time: its services, its RPC, the references that it is compared with, statesync, maintenance, the running version and the agent. A gap is time without data. ${ABOUT_STATES}`,
    alerts: [
      'ChainServiceDown',
      'ChainBlockStalled',
      'ChainRpcDown',
      'ChainStartStalled',
      'ChainStatesync',
      'ChainAgentDown',
    ],
    width,
    height,
    legend: false,
    lines: [
      { expr: stateOf('1h'), legend: 'node', words: STATES },
      { expr: runningOf('{service=~"bft|execution|rpc"}'), legend: '{{service}}', words: RUNS_OR_IDLE },
      { expr: 'chain_rpc_up', legend: 'RPC answers', words: ANSWERS },
      {
        expr: 'chain_reference_agreeing > bool on (job, instance) (count by (job, instance) (chain_reference_up) / 2)',
        legend: 'references',
        words: AGREE,
      },
      { expr: 'max by (job, instance) (instance:chain_statesync:active)', legend: 'statesync', words: fact('needed') },
      { expr: 'max by (job, instance) (chain_agent_maintenance)', legend: 'maintenance', words: fact('set') },
      {
        expr: `count by (job, instance) (
          count by (job, instance, version) (last_over_time(chain_node_running_info{source="native"}[10m]))
        )`,
        legend: 'version',
        words: VERSIONS,
      },
      { expr: 'up', legend: 'agent', words: UP },
    ],
  })

/** The first row of a detail dashboard of one node. On a phone its panels are one below the other: alerts come first. */
export const overview: Row = {
  panels: [
    alertList({ width: 10, height: 7 }),
    tile({
      title: 'State',
      about: `What the node does. ${ABOUT_STATES} Begin with the oldest alert.`,
      alerts: ['ChainBlockStalled', 'ChainBehind', 'ChainServiceDown', 'ChainAgentDown'],
      expr: STATE,
      unit: 'none',
      words: STATES,
      width: 4,
      height: 7,
      to: toPanel('node', HISTORY),
    }),
    whatHappened({ width: 10, height: 7 }),
  ],
}
