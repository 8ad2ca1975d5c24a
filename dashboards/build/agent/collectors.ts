import { type Row } from '../frame.ts'
import { anyIs, limitsBy } from '../limits.ts'
import { NODE_LABELS, toPanel, TO_NODE_FROM_TABLE } from '../links.ts'
import { INHIBITED, whileScraped } from '../node-state.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { tile } from '../panels/tile.ts'
import { highest, quantile } from '../promql.ts'
import { HEALTH, NONE, UP, type ValueLabels } from '../value-labels.ts'

const AGENTS = 'Agents'
const MISSING = 'Collectors without a reading'
const NODES = { keys: { instance: 'Node' }, hidden: NODE_LABELS, links: { instance: TO_NODE_FROM_TABLE } }

const WITHOUT_READING = 'chain_agent_collector_up == 0'
const HEARTBEAT = 'time() - chain_agent_heartbeat_last_success_timestamp_seconds'

const zeroOr = (expr: string): string => `(${expr}) or 0 * count(up)`
const RELOADED: ValueLabels = { 0: ['FAILED', 'warning'], 1: ['loaded', 'good'] }
const SAVED: ValueLabels = { 0: ['NOT SAVED', 'warning'], 1: ['saved', 'good'] }

export const glance: Row = {
  panels: [
    tile({
      title: 'Agents scraped',
      about: 'Targets that Prometheus scrapes without an error. Fewer than expected: see the discovery of Prometheus.',
      alerts: ['ChainAgentAbsent', 'ChainAgentAbsent.node'],
      expr: 'sum(up)',
      legend: 'answer',
      unit: 'locale',
      width: 4,
      height: 3,
      to: toPanel('agent', AGENTS),
    }),
    tile({
      title: 'Agents down',
      about: 'Targets that do not answer. See whether the host is up, then its network, then the agent.',
      alerts: ['ChainAgentDown'],
      expr: zeroOr('count(up == 0)'),
      legend: 'targets',
      unit: 'locale',
      words: NONE,
      limits: anyIs('critical'),
      width: 4,
      height: 3,
      to: toPanel('fleet', 'Agents that are gone'),
    }),
    tile({
      title: 'Collectors missing',
      about:
        'Enabled collectors without a reading, on all selected nodes. Their values are absent, and the alerts on them cannot fire.',
      alerts: ['ChainCollectorDown', 'ChainCollectorDown.stale'],
      expr: zeroOr(`count(${WITHOUT_READING})`),
      legend: 'collectors',
      unit: 'locale',
      words: NONE,
      limits: anyIs('warning'),
      width: 4,
      height: 3,
      to: toPanel('agent', MISSING),
    }),
    tile({
      title: 'Configurations not loaded',
      about:
        'Agents whose last attempt to load the configuration failed: they continue with the previous one. See the log of the agent, or run `chain-agent config`.',
      alerts: ['ChainAgentFailing'],
      expr: zeroOr('count(chain_agent_config_last_reload_successful == 0)'),
      legend: 'agents',
      unit: 'locale',
      words: NONE,
      limits: anyIs('warning'),
      width: 4,
      height: 3,
      to: toPanel('agent', AGENTS),
    }),
    tile({
      title: 'Formats not understood',
      about:
        'Formats with lines that the agent did not understand in the last 15 minutes. The node writes something new: upgrade the agent.',
      alerts: ['ChainLogsIncomplete.format'],
      expr: zeroOr('count(increase(chain_agent_lines_total{result="unparsed"}[15m]) > 0)'),
      legend: 'formats',
      unit: 'locale',
      words: NONE,
      limits: anyIs('warning'),
      width: 4,
      height: 3,
      to: toPanel('agent', 'Lines that were not understood'),
    }),
    tile({
      title: 'Alerts inhibited',
      about: 'Alerts that fire and that a maintenance window inhibits, on all selected nodes. None after its end.',
      alerts: ['ChainMaintenance', 'ChainMaintenanceLong'],
      expr: zeroOr(`sum(${INHIBITED})`),
      legend: 'by maintenance',
      unit: 'locale',
      words: NONE,
      width: 4,
      height: 3,
      to: toPanel('fleet', 'Every node'),
    }),
    table({
      title: MISSING,
      about:
        'Each collector that is enabled and has no reading, and the age of its last one. `chain-agent status agent` on that node shows the reason.',
      alerts: ['ChainCollectorDown', 'ChainCollectorDown.stale'],
      empty: 'none',
      width: 6,
      height: 9,
      keys: { instance: 'Node', collector: 'Collector' },
      hidden: NODE_LABELS,
      links: NODES.links,
      columns: [
        {
          title: 'Is',
          expr: `max by (job, instance, collector) (${WITHOUT_READING})`,
          unit: 'none',
          words: { 0: ['no reading', 'warning'] },
          width: 90,
        },
        {
          title: 'Last reading',
          expr: `
            1000 * max by (job, instance, collector) (
              last_over_time(chain_agent_collector_last_success_timestamp_seconds[$__range])
              and on (job, instance, collector) (${WITHOUT_READING})
            )`,
          unit: 'dateTimeFromNow',
          width: 120,
          empty: 'none',
        },
      ],
    }),
    table({
      ...NODES,
      title: AGENTS,
      about:
        'Each agent: whether it answers, its uptime, what it uses, how long its scrape takes, whether the last load of the configuration succeeded and when, whether it can save its state, the health that it reports, and the time since its last heartbeat. If the health differs from the alerts of Prometheus, see whether both have the same rules.',
      alerts: ['ChainAgentDown', 'ChainMonitoringFailing.heartbeat', 'ChainAgentFailing.series', 'ChainAgentFailing'],
      width: 18,
      height: 9,
      sortBy: { title: 'Up', descending: false },
      columns: [
        { title: 'Up', expr: 'max by (job, instance) (up)', unit: 'none', words: UP },
        {
          title: 'Health',
          expr: `max by (job, instance) (
            chain_node_health{state="critical"} * 4 or chain_node_health{state="unknown"} * 3
            or chain_node_health{state="warning"} * 2 or chain_node_health{state="maintenance"} * 1
            or chain_node_health{state="healthy"} * 0
          )`,
          unit: 'none',
          words: HEALTH,
        },
        { title: 'Findings', expr: 'sum by (job, instance) (chain_node_findings)', unit: 'locale' },
        { title: 'Uptime', expr: 'time() - max by (job, instance) (process_start_time_seconds)', unit: 's' },
        {
          title: 'CPU',
          expr: 'max by (job, instance) (rate(process_cpu_seconds_total[$__rate_interval]))',
          unit: 'percentunit',
          decimals: 1,
        },
        { title: 'Memory', expr: 'max by (job, instance) (process_resident_memory_bytes)', unit: 'bytes' },
        {
          title: 'Series',
          expr: 'max by (job, instance) (scrape_samples_post_metric_relabeling)',
          unit: 'locale',
          limits: limitsBy('ChainAgentFailing.series', 'scrape_samples_post_metric_relabeling'),
        },
        { title: 'Scrape', expr: 'max by (job, instance) (scrape_duration_seconds)', unit: 's' },
        {
          title: 'Config',
          expr: 'min by (job, instance) (chain_agent_config_last_reload_successful)',
          unit: 'none',
          words: RELOADED,
        },
        {
          title: 'Loaded',
          expr: '1000 * max by (job, instance) (chain_agent_config_last_reload_success_timestamp_seconds)',
          unit: 'dateTimeFromNow',
          width: 110,
        },
        {
          title: 'State',
          expr: 'min by (job, instance) (chain_agent_state_saved)',
          unit: 'none',
          words: SAVED,
          empty: 'none kept',
        },
        { title: 'Heartbeat', expr: `max by (job, instance) (${HEARTBEAT})`, unit: 's', empty: 'none set' },
      ],
    }),
  ],
}

export const collectors: Row = {
  title: 'Collectors',
  panels: [
    graph({
      title: 'Failures of collectors',
      about:
        'Per second, on all selected nodes. The state of the collector in its status has the reason. internal: of these, faults of the agent.',
      alerts: ['ChainCollectorDown'],
      empty: 'none',
      unit: 'suffix:/s',
      decimals: 3,
      width: 8,
      min: 0,
      lines: [
        {
          expr: 'sum by (collector) (rate(chain_agent_collector_failures_total[$__rate_interval])) > 0',
          legend: '{{collector}}',
        },
        { expr: 'sum (rate(chain_agent_internal_failures_total[$__rate_interval]))', legend: 'internal' },
      ],
    }),
    graph({
      title: 'Duration of the last poll',
      about:
        'The longest of all selected nodes, for each collector that polls, on a logarithmic scale. Collectors that follow a stream have none. If one rises, its source is slow.',
      alerts: ['ChainCollectorDown.stale'],
      unit: 's',
      width: 8,
      logarithmic: true,
      lines: [{ expr: 'max by (collector) (chain_agent_collector_duration_seconds)', legend: '{{collector}}' }],
    }),
    table({
      title: 'Readings of the collectors',
      about:
        'The oldest reading of all selected nodes, and the failures of an hour. An old reading of a collector that is up: a clock is wrong, or an old copy is scraped.',
      alerts: ['ChainCollectorDown.stale'],
      width: 8,
      height: 8,
      keys: { collector: 'Collector' },
      sortBy: { title: 'Failures, 1 h', descending: true },
      columns: [
        {
          title: 'Age',
          expr: 'time() - min by (collector) (chain_agent_collector_last_success_timestamp_seconds)',
          unit: 's',
          limits: limitsBy('ChainCollectorDown.stale', 'chain_agent_collector_last_success_timestamp_seconds'),
        },
        {
          title: 'Failures, 1 h',
          expr: `round(sum by (collector) (${whileScraped('increase(chain_agent_collector_failures_total[1h])')}))`,
          unit: 'locale',
        },
      ],
    }),
    graph({
      title: 'CPU of the agents',
      about: 'The agents that use most; 100 % is one CPU. If it rises, see the lines that are read.',
      alerts: ['ChainCollectorDown.stale'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      lines: [
        {
          expr: highest('max by (job, instance) (rate(process_cpu_seconds_total[$__rate_interval]))'),
          legend: '{{instance}}',
        },
      ],
    }),
    graph({
      title: 'Memory of the agents',
      about: 'Resident memory of the agents that use most. Growth over days is a fault of the agent: report it.',
      alerts: ['ChainAgentFailing', 'ChainAgentDown'],
      unit: 'bytes',
      width: 8,
      min: 0,
      lines: [{ expr: highest('max by (job, instance) (process_resident_memory_bytes)'), legend: '{{instance}}' }],
    }),
    graph({
      title: 'Delay of the event loop, 99th percentile',
      about: 'Of the slowest agents. Above some tens of milliseconds, scrapes and polls are late.',
      alerts: ['ChainAgentFailing', 'ChainCollectorDown.stale'],
      unit: 's',
      width: 8,
      min: 0,
      lines: [{ expr: highest(quantile(0.99, 'chain_agent_event_loop_delay_seconds')), legend: '{{instance}}' }],
    }),
  ],
}
