import { hasIncreased, percent, ruleFile } from './rule.ts'

export const journal = ruleFile({ name: 'journal', component: 'agent', for: '30s' }, [
  {
    comment:
      'Both print a line for every block: a minute of silence while the height grows is about two hundred unread lines. last_over_time, because the series disappears when the reader gives up; ten minutes, because ChainCollectorDown has fired by then. Not bft: its log may be set to WARN.',
    alert: 'ChainLogsIncomplete.no-new-entries',
    limit: 60,
    for: '1m',
    advice: [
      'Compare with the journal itself: `journalctl -n 2`.',
      'If it has new entries, the log of the agent has the reason: `journalctl -u chain-agent -n 50`.',
      'If not, restart journald: `sudo systemctl restart systemd-journald`.',
    ],
    expr: (limit) => `(
    time()
  -
    last_over_time(chain_agent_journal_last_entry_timestamp_seconds{service=~"execution|ledger-tail"}[10m])
  > ${limit}
)
and on (instance, job, cluster)
  (time() - chain_rpc_last_advance_timestamp_seconds < 30)
unless on (instance, job, cluster, service)
  (chain_service_active == 0)`,
    summary: 'no new journal entries of {{ $labels.service }}, while the node advances',
    description: (limit) =>
      `The newest entry of {{ $labels.service }} that the agent on {{ $labels.instance }} has read is {{ $value | humanizeDuration }} old, more than ${limit} seconds, while the height of the RPC grows. Readings from the journal are old.`,
  },
  {
    comment:
      'The state itself needs five minutes. Without the log of a service, the alerts on its texts cannot fire; nothing else shows that. Not "no entries" of every service: the RPC may have nothing to print.',
    alert: 'ChainLogsIncomplete.never-read',
    for: '1m',
    advice: [
      'See where its output goes: `systemctl show -p StandardOutput,LogNamespace chain-bft`.',
      'Send it to the journal: remove `StandardOutput=` and `StandardError=` from the unit and its drop-ins.',
      'If it goes there, see whether the log level leaves any line: `RUST_LOG=` of the unit.',
    ],
    expr: `group by (instance, job, cluster, service) (
  chain_agent_log_state{state="other output"}
  or
  chain_agent_log_state{service=~"bft|execution|ledger-tail",state="no entries"}
)`,
    summary: 'the log of {{ $labels.service }} is not read: no entry since its start',
    description:
      'The journal that the agent on {{ $labels.instance }} reads has no entry that {{ $labels.service }} has written since its start. Its errors are not counted, and the alerts on its log cannot fire.',
  },
  {
    comment: 'A follower that keeps exiting waits up to 10 s between attempts: about thirty in five minutes.',
    alert: 'ChainLogsIncomplete.reader-restarts',
    limit: 10,
    explainedBy: [{ alerts: ['ChainCollectorDown'] }],
    advice: ['See why it exits: `journalctl -u chain-agent -n 50`.'],
    expr: (limit) => `increase(chain_agent_journal_restarts_total[5m]) > ${limit}`,
    summary: 'the journal reader of {{ $labels.service }} restarts repeatedly',
    description: (limit) =>
      `The reader of {{ $labels.service }} on {{ $labels.instance }} was restarted {{ $value | printf "%.0f" }} times in five minutes, more than ${limit}. Lines are read late, or not at all.`,
  },
  {
    comment:
      'A journal that is young because the service is new has not lost anything: its oldest entry does not change. If it has moved within two hours, older entries were deleted. One hour, because a node at DEBUG fills a journal of ordinary size within hours, on purpose: less than an hour is lost before an operator who is paged can read it.',
    alert: 'ChainLogsIncomplete.evicted',
    limit: 3600,
    for: '30m',
    advice: ['Give the journal more space: `SystemMaxUse=` in `/etc/systemd/journald.conf`.'],
    expr: (limit) => `(time() - chain_log_oldest_entry_timestamp_seconds < ${limit})
and on (instance, job, cluster, service)
  (
    chain_log_oldest_entry_timestamp_seconds
    > on (instance, job, cluster, service)
    min_over_time(chain_log_oldest_entry_timestamp_seconds[2h])
  )`,
    summary: 'the journal keeps less than an hour of {{ $labels.service }}',
    description: (limit) =>
      `The journal on {{ $labels.instance }} reaches back {{ $value | humanizeDuration }} for {{ $labels.service }}, less than ${limit / 60} minutes, and older entries are being deleted. After an incident its log entries may be gone before they are read.`,
  },
  {
    alert: 'ChainLogsIncomplete.gap',
    advice: ['Search the gap by hand: `chain-agent logs bft --since 1h`.'],
    expr: hasIncreased('chain_agent_journal_gaps_total', '15m'),
    summary: 'journal lines of {{ $labels.service }} were lost before the agent read them',
    description:
      'The agent on {{ $labels.instance }} lost its position in the journal of {{ $labels.service }} {{ $value | printf "%.0f" }} times in 15 minutes. Lines written in between are not counted.',
  },
  {
    comment: 'While messages are dropped, the absence of a line in the log proves nothing.',
    alert: 'ChainLogsIncomplete.dropped',
    advice: [
      'Find the line that floods the log: `chain-agent logs bft --since 15m`.',
      'Raise `LogRateLimitBurst=` in a drop-in of the unit.',
    ],
    expr: hasIncreased('chain_log_suppressed_messages_total', '15m'),
    summary: 'journald drops messages of {{ $labels.service }}',
    description:
      'journald on {{ $labels.instance }} dropped {{ $value | printf "%.0f" }} messages of {{ $labels.service }} in 15 minutes. Errors may be among them, and rates from the log are too low.',
  },
  {
    comment:
      'Of a report only the lines that could not be parsed are counted: one of them makes its share 100 %. Longer than the range, so that one truncated line never fires the alert.',
    alert: 'ChainLogsIncomplete.format',
    limit: 0.01,
    for: '20m',
    advice: [
      'Check for a new version of the node: `chain-agent status versions`.',
      'Upgrade the agent, or report the lines that it cannot parse.',
    ],
    expr: (limit) => `increase(chain_agent_lines_total{result="unparsed"}[15m])
/ on (instance, job, cluster, format)
sum by (instance, job, cluster, format) (increase(chain_agent_lines_total[15m]))
> ${limit}`,
    summary: 'the agent can no longer parse the output of {{ $labels.format }}',
    description: (limit) =>
      `The agent on {{ $labels.instance }} could not parse {{ $value | humanizePercentage }} of the lines of format {{ $labels.format }} over 15 minutes, more than ${percent(limit)} (of a report only lines that cannot be parsed are counted: any is 100%). Metrics from this format may be missing.`,
  },
])
