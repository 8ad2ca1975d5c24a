import { type Row } from '../frame.ts'
import { limitsBy } from '../limits.ts'
import { NODE_LABELS } from '../links.ts'
import { bars } from '../panels/bars.ts'
import { graph } from '../panels/graph.ts'
import { table } from '../panels/table.ts'
import { lowest, highest } from '../promql.ts'
import { HEALTH } from '../value-labels.ts'

/** Formats with many lines. */
const FORMATS = ['consensus-log', 'execution-log', 'ledger-tail', 'journal']

/** What the agents read from the journal, and what they send. */
export const journal: Row = {
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
