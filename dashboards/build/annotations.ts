import { AnnotationQueryBuilder } from '@grafana/grafana-foundation-sdk/dashboard'
import { COLOUR, EVENT } from './colours.ts'
import { DATASOURCE } from './panels/panel.ts'
import { filtered } from './promql.ts'

/** Annotations of events on all panels. Frequent ones are off by default, because they would hide the panels. */
export const annotations = (many: boolean): AnnotationQueryBuilder[] =>
  MARKS.map(({ name, expr, isTime = false, offFor = 'none', colour, title, text, tagKeys = 'instance' }) =>
    new AnnotationQueryBuilder()
      .name(name)
      .datasource(DATASOURCE)
      .enable(offFor === 'none' || (offFor === 'many' && !many))
      .hide(false)
      .iconColor(colour)
      .expr(filtered(expr))
      .useValueForTime(isTime)
      .titleFormat(title)
      .textFormat(text)
      .tagKeys(tagKeys)
      .step('60s'),
  )

interface Mark {
  readonly name: string
  readonly expr: string
  readonly isTime?: boolean
  /** Where it is off by default: on dashboards with many nodes, or everywhere. */
  readonly offFor?: 'none' | 'many' | 'all'
  readonly colour: string
  readonly title: string
  readonly text: string
  /** A label that the result has. */
  readonly tagKeys?: string
}

const MARKS: readonly Mark[] = [
  {
    name: 'Starts',
    // The value is the time, so a start is marked at its time whatever the step, also after a long downtime.
    expr: '1000 * chain_service_start_timestamp_seconds{service=~"bft|execution"}',
    isTime: true,
    offFor: 'many',
    colour: EVENT,
    title: '{{service}} was started',
    text: '{{instance}}',
  },
  {
    name: 'Version changes',
    expr: `count by (job, instance) (
        count by (job, instance, version) (last_over_time(chain_node_running_info{source="native"}[10m]))
      ) > 1`,
    colour: COLOUR.info,
    title: 'the running version changed',
    text: '{{instance}}',
  },
  {
    name: 'Maintenance',
    expr: 'chain_agent_maintenance == 1',
    colour: COLOUR.unknown,
    title: 'maintenance: {{reason}}',
    text: '{{instance}}',
  },
  // From the boundary block until the next epoch: the time at which restarted nodes have crashed. The same on all nodes.
  {
    name: 'Epoch boundary',
    expr: 'max by (job) (chain_staking_in_epoch_delay) == 1',
    colour: COLOUR.info,
    title: 'the epoch ends: no restart now',
    text: '{{job}}',
    tagKeys: 'job',
  },
  // One region per alert, on however many nodes it fires, because regions overlap.
  {
    name: 'Critical alerts',
    expr: 'count by (job, alertname) (ALERTS{alertstate="firing", severity="critical"})',
    offFor: 'many',
    colour: COLOUR.critical,
    title: '{{alertname}}',
    text: '{{job}}',
    tagKeys: 'alertname',
  },
  {
    name: 'Warnings',
    expr: 'count by (job, alertname) (ALERTS{alertstate="firing", severity="warning"})',
    offFor: 'all',
    colour: COLOUR.warning,
    title: '{{alertname}}',
    text: '{{job}}',
    tagKeys: 'alertname',
  },
]
