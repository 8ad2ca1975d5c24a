import { type Row, frame } from '../frame.ts'
import { anyIs, limitsBy } from '../limits.ts'
import { LINKED_NODE } from '../columns.ts'
import { NODE_LABELS, toPanel } from '../links.ts'
import { INHIBITED, whileScraped } from '../node-state.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { tile } from '../panels/tile.ts'
import { highest, quantile, lowest } from '../promql.ts'
import { HEALTH, NONE, UP, type ValueLabels } from '../value-labels.ts'
import { bars } from '../panels/bars.ts'
import { alertList } from '../overview.ts'

const AGENTS = 'Agents'
const MISSING = 'Collectors without a reading'

const WITHOUT_READING = 'chain_agent_collector_up == 0'
const HEARTBEAT = 'time() - chain_agent_heartbeat_last_success_timestamp_seconds'

const zeroOr = (expr: string): string => `(${expr}) or 0 * count(up)`
const RELOADED: ValueLabels = { 0: ['FAILED', 'warning'], 1: ['loaded', 'good'] }
const SAVED: ValueLabels = { 0: ['NOT SAVED', 'warning'], 1: ['saved', 'good'] }

const glance: Row = {
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
      links: LINKED_NODE.links,
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
      ...LINKED_NODE,
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

const collectors: Row = {
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

/** Formats with many lines. */
const FORMATS = ['consensus-log', 'execution-log', 'ledger-tail', 'journal']

/** What the agents read from the journal, and what they send. */
const journal: Row = {
  title: 'Journal, formats, heartbeats',
  panels: [
    graph({
      title: 'Age of the newest entry read from the journal',
      about:
        'The oldest of all services of a node, of the nodes with the oldest. It grows while the node progresses: the follower has stopped. bft may log nothing if its level is WARN.',
      alerts: ['ChainLogsIncomplete'],
      unit: 's',
      width: 8,
      logarithmic: true,
      limits: limitsBy('ChainLogsIncomplete', 'chain_agent_journal_last_entry_timestamp_seconds'),
      lines: [
        {
          expr: highest('max by (job, instance) (time() - chain_agent_journal_last_entry_timestamp_seconds)'),
          legend: '{{instance}}',
        },
      ],
    }),
    graph({
      title: 'How far the journal reaches back',
      about:
        'The shortest of all services of a node, of the nodes with the shortest. If it shrinks, older entries are deleted: give journald more space before the next incident.',
      alerts: ['ChainLogsIncomplete.evicted'],
      unit: 's',
      width: 8,
      min: 0,
      limits: limitsBy('ChainLogsIncomplete.evicted', 'time() - chain_log_oldest_entry_timestamp_seconds'),
      lines: [
        {
          expr: lowest('min by (job, instance) (time() - chain_log_oldest_entry_timestamp_seconds)'),
          legend: '{{instance}}',
        },
      ],
    }),
    graph({
      title: 'Gaps in the journal, in 15 minutes',
      about:
        'Restarts of journal followers, gaps between cursors, and messages that journald dropped, on all selected nodes. While they occur, a missing message proves nothing.',
      alerts: ['ChainLogsIncomplete'],
      unit: 'locale',
      decimals: 0,
      width: 8,
      min: 0,
      softMax: 4,
      lines: [
        { expr: 'sum(increase(chain_agent_journal_restarts_total[15m]))', legend: 'follower restarts' },
        { expr: 'sum(increase(chain_agent_journal_gaps_total[15m]))', legend: 'gaps' },
        { expr: 'sum(increase(chain_log_suppressed_messages_total[15m]))', legend: 'messages dropped by journald' },
      ],
    }),
    graph({
      title: 'Lines that were read',
      about: 'Lines of streams and reports a second, by format, that were parsed, on all selected nodes.',
      alerts: ['ChainLogsIncomplete'],
      unit: 'suffix:lines/s',
      decimals: 1,
      width: 8,
      min: 0,
      names: FORMATS,
      lines: [
        {
          expr: 'sum by (format) (rate(chain_agent_lines_total{result="parsed"}[$__rate_interval]))',
          legend: '{{format}}',
        },
      ],
    }),
    graph({
      title: 'Lines that were not understood',
      about:
        'Share of the lines of a format, over 15 minutes, of the node with the most. Above the line the node writes something in a new way: upgrade the agent.',
      alerts: ['ChainLogsIncomplete.format'],
      unit: 'percentunit',
      decimals: 1,
      width: 8,
      min: 0,
      softMax: 0.1,
      names: FORMATS,
      limits: limitsBy('ChainLogsIncomplete.format', 'chain_agent_lines_total'),
      lines: [
        {
          expr: `
            max by (format) (
              increase(chain_agent_lines_total{result="unparsed"}[15m])
              / on (job, instance, format)
              (sum by (job, instance, format) (increase(chain_agent_lines_total[15m])) > 0)
            )`,
          legend: '{{format}}',
        },
      ],
    }),
    graph({
      title: 'Heartbeats',
      about:
        'Heartbeats a minute by result, on all selected nodes. If none is configured, no alert is sent when the host fails.',
      alerts: ['ChainMonitoringFailing.heartbeat'],
      empty: 'none configured',
      unit: 'suffix:/min',
      decimals: 1,
      width: 8,
      min: 0,
      names: ['accepted', 'failed'],
      lines: [
        { expr: '60 * sum by (result) (rate(chain_agent_heartbeats_total[$__rate_interval]))', legend: '{{result}}' },
      ],
    }),
    table({
      title: 'Watched nodes',
      about:
        'Nodes of other hosts, as a watcher sees them: the age of the last heartbeat of their agent, the health in it, whether a maintenance window is set, and their public port.',
      alerts: ['ChainWatchedNodeSilent', 'ChainWatchedNode.critical', 'ChainWatchedNode.never-heard'],
      empty: 'none',
      width: 24,
      height: 5,
      keys: { node: 'Node', instance: 'Watcher' },
      hidden: NODE_LABELS,
      links: {},
      columns: [
        {
          title: 'Last heartbeat',
          expr: '1000 * max by (job, instance, node) (chain_watched_heartbeat_timestamp_seconds)',
          unit: 'dateTimeFromNow',
        },
        {
          title: 'Health',
          expr: `max by (job, instance, node) (
            chain_watched_health{state="critical"} * 4 or chain_watched_health{state="unknown"} * 3
            or chain_watched_health{state="warning"} * 2 or chain_watched_health{state="maintenance"} * 1
            or chain_watched_health{state="healthy"} * 0
          )`,
          unit: 'none',
          words: HEALTH,
        },
        {
          title: 'Maintenance',
          expr: 'max by (job, instance, node) (chain_watched_maintenance)',
          unit: 'none',
          words: { 0: ['none', 'good'], 1: ['set', 'info'] },
        },
        {
          title: 'Port',
          expr: `max by (job, instance, node) (
            chain_watched_port{state="silent"} * 2 or chain_watched_port{state="refused"} * 1
            or chain_watched_port{state="open"} * 0
          )`,
          unit: 'none',
          words: { 0: ['open', 'good'], 1: ['REFUSED', 'critical'], 2: ['SILENT', 'critical'] },
          empty: 'unknown',
        },
      ],
    }),
    bars({
      title: 'Agents by version',
      about: 'Agents of several versions may export different metrics: upgrade them to the same one.',
      alerts: ['ChainAgentDown'],
      expr: 'count by (version, revision, node_version) (max by (job, instance, version, revision, node_version) (chain_agent_build_info))',
      legend: '{{version}} {{revision}}, Node.js {{node_version}}',
      unit: 'locale',
      width: 24,
      height: 4,
    }),
  ],
}

export const agentDashboard = () =>
  frame({
    name: 'agent',
    description:
      'The agents themselves, on all nodes: which of them cannot be relied on. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [{ panels: [alertList({ width: 24, height: 7, many: true }), ...glance.panels] }, collectors, journal],
  })
