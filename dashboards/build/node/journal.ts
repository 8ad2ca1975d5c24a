import { limitsBy } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { figures, labels } from '../panels/tile.ts'
import { fact } from '../value-labels.ts'
import { type Placed } from '../panels/panel.ts'

/** Reading of the journal, and outgoing connections of the agent. */
export const journal: readonly Placed[] = [
  graph({
    title: 'Age of the newest entry read from the journal',
    about:
      'For each unit. It grows while the node moves: the reader is stuck. bft may be silent where its log is set to WARN.',
    alerts: ['ChainLogsIncomplete'],
    unit: 's',
    width: 8,
    min: 0,
    limits: limitsBy({
      alert: 'ChainLogsIncomplete',
      metric: 'chain_agent_journal_last_entry_timestamp_seconds',
    }),
    names: ['bft', 'execution', 'ledger-tail', 'logs'],
    lines: [
      {
        expr: 'time() - chain_agent_journal_last_entry_timestamp_seconds',
        legend: '{{service}}',
      },
    ],
  }),
  graph({
    title: 'How far the journal reaches back',
    about:
      'For each unit. When it shrinks, older entries are thrown away: give journald more space before the next incident.',
    alerts: ['ChainJournalEvicted'],
    unit: 's',
    width: 8,
    min: 0,
    limits: limitsBy({
      alert: 'ChainJournalEvicted',
      metric: 'time() - chain_log_oldest_entry_timestamp_seconds',
    }),
    names: ['bft', 'execution', 'ledger-tail', 'logs'],
    lines: [
      {
        expr: 'time() - chain_log_oldest_entry_timestamp_seconds',
        legend: '{{service}}',
      },
    ],
  }),
  graph({
    title: 'Trouble with the journal, in 15 minutes',
    about:
      'Restarts of journal readers, gaps between cursors, and messages that journald dropped. While they occur, the absence of a message proves nothing.',
    alerts: ['ChainLogsIncomplete'],
    unit: 'locale',
    decimals: 0,
    width: 8,
    min: 0,
    softMax: 4,
    lines: [
      {
        expr: 'sum(increase(chain_agent_journal_restarts_total[15m]))',
        legend: 'reader restarts',
      },
      { expr: 'sum(increase(chain_agent_journal_gaps_total[15m]))', legend: 'gaps' },
      {
        expr: 'sum(increase(chain_log_suppressed_messages_total[15m]))',
        legend: 'messages dropped by journald',
      },
    ],
  }),
  figures({
    title: 'Heartbeat',
    about:
      'Since the heartbeat was last accepted. No data if none is configured: then no alert is sent when the host fails.',
    alerts: ['ChainHeartbeatFailing'],
    unit: 's',
    width: 4,
    lines: [
      {
        expr: 'time() - chain_agent_heartbeat_last_success_timestamp_seconds',
        legend: 'accepted, ago',
      },
    ],
  }),
  graph({
    title: 'Heartbeats',
    about: 'Heartbeats a minute by whether they were accepted.',
    alerts: ['ChainHeartbeatFailing'],
    unit: 'suffix:/min',
    decimals: 1,
    width: 8,
    height: 4,
    min: 0,
    names: ['accepted', 'failed'],
    lines: [
      {
        expr: '60 * rate(chain_agent_heartbeats_total[$__rate_interval])',
        legend: '{{result}}',
      },
    ],
  }),
  figures({
    title: 'Maintenance',
    about: 'What the operator has announced: alerts are held back all the while, but for keys and security.',
    alerts: ['ChainMaintenance', 'ChainMaintenanceLong'],
    unit: 'none',
    words: fact('ANNOUNCED'),
    width: 6,
    lines: [{ expr: 'chain_agent_maintenance', legend: '{{reason}}' }],
  }),
  labels({
    title: 'Version of the agent',
    about: 'Which agent this is, and on which Node.',
    alerts: ['ChainAgentDown'],
    unit: 'none',
    width: 6,
    lines: [
      {
        expr: 'chain_agent_build_info',
        legend: '{{version}} ({{revision}}), Node {{node_version}}',
      },
    ],
  }),
]
