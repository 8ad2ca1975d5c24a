import { period, ruleFile, type RuleFileHeader } from './rule.ts'

export const agent = ruleFile({ name: 'agent', component: 'agent' }, [
  {
    comment:
      'Two minutes: a restart of the agent takes seconds, and a node falls behind by the 800 blocks with which it can catch up in about four minutes.',
    alert: 'ChainAgentDown',
    page: 'Until the agent or its host is back, no failure of the node is reported.',
    for: '2m',
    keepFiringFor: '2m',
    advice: [
      'Check whether the host is up and reachable.',
      'On the host, see why the agent stopped: `systemctl status chain-agent`, `journalctl -u chain-agent -n 50`.',
    ],
    expr: 'up{job="chain-agent"} == 0',
    summary: 'the agent cannot be scraped',
    seen: 'Seen by Prometheus.',
    description:
      'Prometheus has not been able to scrape the agent on {{ $labels.instance }} for two minutes. The host, the agent or the network between them is down; no other alert can fire for this node.',
  },
  {
    comment:
      'No agent of a cluster is scraped: the targets were removed from the configuration, or another program answers there. If a target exists and is down, ChainAgentDown fires instead. Six hours, so that a cluster that was removed on purpose is reported once, and not for ever. With no target in that time, the cluster is not known.',
    alert: 'ChainAgentAbsent',
    page: 'Until a target is back, no failure of any node is reported.',
    for: '5m',
    dashboard: 'd/chain-fleet',
    advice: [
      'See which targets Prometheus has: `promtool check config /etc/prometheus/prometheus.yml`.',
      'Check which program answers at the address of the agent: `curl -s HOST:9843/metrics | head`.',
    ],
    expr: `(
    group by (job, cluster) (last_over_time(up{job="chain-agent"}[6h]))
  unless on (job, cluster)
    chain_agent_build_info{job="chain-agent"}
  unless on (job, cluster)
    (up{job="chain-agent"} == 0)
)
or (absent(up{job="chain-agent"}) unless on (job) last_over_time(up{job="chain-agent"}[6h]))`,
    summary: 'no agent is scraped',
    description:
      'Prometheus has had no metrics of an agent of job {{ $labels.job }}, in this cluster if it has one, for five minutes, and none of these targets is down: the targets are missing, or another program answers at their addresses. None of these nodes is monitored.',
  },
  {
    comment:
      'One node of several is no longer a target. Six hours, so that a node that was removed on purpose is reported once, and not for ever.',
    alert: 'ChainAgentAbsent.node',
    for: '10m',
    explainedBy: [{ alerts: ['ChainAgentAbsent'], scope: 'fleet' }],
    advice: [
      'Compare the targets of Prometheus with your nodes: `/etc/prometheus/targets/*.yaml`.',
      'If you removed the node on purpose, silence this alert for it: `amtool silence add instance=NODE`.',
    ],
    expr: `group by (instance, job, cluster) (last_over_time(up{job="chain-agent"}[6h]))
unless on (instance, job, cluster) up{job="chain-agent"}`,
    summary: 'the node is no longer a target of Prometheus',
    description:
      'Prometheus scraped the agent on {{ $labels.instance }} within the last six hours, and for ten minutes it has not been a target: no alert can fire for this node.',
  },
  {
    comment:
      'A scrape with more than 2000 series is rejected (sample_limit in deploy/prometheus), and the node counts as down. An agent has at most 1000.',
    alert: 'ChainAgentFailing.series',
    limit: 1500,
    for: '15m',
    advice: [
      'See which metric has the most series: `chain-agent status agent`.',
      'Raise `sample_limit` of the scrape job.',
    ],
    expr: (limit) => `scrape_samples_post_metric_relabeling{job="chain-agent"} > ${limit}`,
    summary: 'the agent exports almost as many series as Prometheus accepts',
    description: (limit) =>
      `The agent on {{ $labels.instance }} exports {{ $value }} series, more than ${limit}. With more than the sample_limit of the scrape job the node counts as down.`,
  },
  {
    comment: 'A disabled collector has no value. One without a first reading has 0 as soon as that reading is overdue.',
    alert: 'ChainCollectorDown',
    for: '5m',
    advice: ['See which collectors fail, and why: `chain-agent status agent`.'],
    expr: 'chain_agent_collector_up == 0',
    summary: 'no readings from the collector {{ $labels.collector }}',
    description:
      'Collector {{ $labels.collector }} on {{ $labels.instance }} has failed for five minutes. Its metrics are absent, and the alerts on them cannot fire.',
  },
  {
    comment:
      'The agent reports fresh readings, but by the clock of Prometheus they are old: the scraped data is an old copy, or a clock is wrong. The slowest collector, status, may be 11 minutes old.',
    alert: 'ChainCollectorDown.stale',
    limit: 900,
    for: '2m',
    advice: [
      'Compare the clocks of the host and of Prometheus: `timedatectl`.',
      'Check that no proxy serves old copies of the metrics: `curl -s HOST:9843/metrics`.',
    ],
    expr: (limit) => `(time() - chain_agent_collector_last_success_timestamp_seconds > ${limit})
and on (instance, job, cluster, collector)
  (chain_agent_collector_up == 1)`,
    summary: 'old readings of the collector {{ $labels.collector }}, which is reported as up',
    description: (limit) =>
      `Collector {{ $labels.collector }} on {{ $labels.instance }} counts as up, but its last reading is {{ $value | humanizeDuration }} old, more than ${period(limit)}. The scraped data is an old copy, or a clock is wrong.`,
  },
  {
    alert: 'ChainAgentFailing.configuration',
    comment:
      'Agent and query service. They would not start with it: a reboot of the host would leave the node without an agent.',
    summary: 'the agent rejected its configuration, and uses the previous one',
    for: '5m',
    expr: 'chain_agent_config_last_reload_successful == 0',
    advice: [
      'See the error, with its line: `sudo chain-agent config`.',
      'Correct it, then reload: `sudo systemctl reload chain-agent`, or `chain-agent-serve-query`.',
    ],
    description:
      'chain-agent on {{ $labels.instance }} rejected its configuration at the last reload five minutes ago or more: it uses the previous one, and does not start again with the new one.',
  },
  {
    alert: 'ChainAgentFailing.state',
    comment: 'Nothing is lost yet: it is at the next restart.',
    summary: 'the agent cannot save its state',
    for: '5m',
    expr: 'chain_agent_state_saved == 0',
    advice: [
      'See why: `journalctl -u chain-agent -n 50`, `df -h /var/lib/chain-agent`.',
      'Make the directory of `state.directory` writable for the agent.',
    ],
    description:
      'The agent on {{ $labels.instance }} has not been able to save its journal cursors and counts for five minutes. After a restart its counters start again, and lines that were written in between are missed.',
  },
  {
    alert: 'ChainAgentFailing.memory',
    comment:
      'Three quarters of the MemoryMax of the unit, at which the kernel kills the agent. It uses about 140 MB (bench/README.md).',
    summary: 'the agent uses too much memory',
    limit: 402653184,
    for: '15m',
    expr: (limit) => `process_resident_memory_bytes{job="chain-agent"} > ${limit}`,
    advice: [
      'See what it reads: `chain-agent status agent`.',
      'Save what shows the cause, and report it: `sudo chain-agent bundle`. A restart frees the memory: `sudo systemctl restart chain-agent`.',
    ],
    description: (limit) =>
      `The agent on {{ $labels.instance }} has used {{ $value | humanize1024 }}B of memory for 15 minutes, more than ${limit / 1024 ** 2} MiB. The kernel kills it at 512 MiB.`,
  },
  {
    alert: 'ChainAgentFailing.event-loop',
    comment:
      'The agent polls each second, and a delay of more than a second makes its readings late. One moment in a hundred: a short pause is normal on a busy host.',
    summary: 'the agent is too slow: its readings and alerts are late',
    limit: 1.5,
    limits: [0.01, 0.1, 0.5, 1.5],
    for: '10m',
    expr: (limit) => `rate(chain_agent_event_loop_delay_seconds_bucket{job="chain-agent",le="${limit}"}[2m])
  / on (instance, job, cluster)
rate(chain_agent_event_loop_delay_seconds_count{job="chain-agent"}[2m]) < 0.99`,
    advice: [
      'See whether the host is overloaded: `chain-agent status host`.',
      'See which log it has to read: `chain-agent status agent`.',
    ],
    description: (limit) =>
      `For ten minutes, at only {{ $value | humanizePercentage }} of the moments, less than 99%, the agent on {{ $labels.instance }} was less than ${limit} s late. Its readings and alerts are as late; at 30 seconds systemd restarts it.`,
  },
  {
    alert: 'ChainAgentFailing.restarts',
    comment:
      'Killed at MemoryMax or by the watchdog, or ended with an error, it is started again within five seconds, before a scrape fails. Three starts: an update and a correction of it are two.',
    summary: 'the agent restarts again and again',
    limit: 2,
    expr: (limit) => `changes(process_start_time_seconds{job="chain-agent"}[1h]) > ${limit}`,
    advice: ['See why it ended: `journalctl -u chain-agent --since -1h | grep -v info`.'],
    description: (limit) =>
      `The agent on {{ $labels.instance }} has been started again {{ $value }} times within an hour, more than ${limit}. What happens between an end and a start is not seen.`,
  },
  {
    alert: 'ChainAgentFailing.certificate',
    comment:
      'The listener, and the servers that the agent requests. Most authorities renew 30 days before the end: a fortnight is a renewal that failed, and time for another.',
    summary: 'the TLS certificate of {{ $labels.endpoint }} ends soon',
    limit: 1209600,
    for: '5m',
    expr: (limit) => `chain_agent_certificate_expiry_timestamp_seconds - time() < ${limit}`,
    advice: [
      'Renew the certificate, or tell the operator of the endpoint. The agent needs no restart.',
      'See until when it is valid: `openssl s_client -connect HOST:PORT < /dev/null | openssl x509 -noout -enddate`.',
    ],
    description: (limit) =>
      `The TLS certificate of {{ $labels.endpoint }} that the agent on {{ $labels.instance }} uses is valid for another {{ $value | humanizeDuration }}, less than ${period(limit)}. When it has ended, no client reads from the agent (listener), or the agent neither reads from there nor sends anything there.`,
  },
  {
    comment: 'One is due every minute. changes(), because it also covers a heartbeat that was never accepted.',
    alert: 'ChainMonitoringFailing.heartbeat',
    for: '2m',
    advice: [
      'See the error of the heartbeat: `journalctl -u chain-agent -n 50`.',
      'Check the URL of the heartbeat service, and that the host reaches it.',
    ],
    pending: 'nothing',
    expr: 'changes(chain_agent_heartbeats_total{result="accepted"}[5m]) == 0',
    summary: 'the external heartbeat is not accepted',
    description:
      'No heartbeat of {{ $labels.instance }} has been accepted for at least five minutes. If the host fails now, the heartbeat service cannot detect it.',
  },
  {
    comment:
      "If consensus is down there is nothing to push. chain_native_up of otel is exported only while the node's own endpoint does not answer.",
    alert: 'ChainServiceDown.push',
    component: 'services',
    for: '15m',
    advice: ['Start it: `sudo systemctl start otelcol`.', 'See its log: `journalctl -u otelcol -n 50`.'],
    expr: `(chain_service_expected{service="otelcol"} == 1)
and on (instance, job, cluster)
  (
      chain_service_active{service="otelcol"} == 0
    or on (instance, job, cluster)
      chain_native_up{source="otel"} == 0
  )
unless on (instance, job, cluster)
  (chain_service_active{service="bft"} == 0)`,
    summary: 'otelcol is down, or serves no metrics of consensus to push',
    description:
      'The OpenTelemetry collector on {{ $labels.instance }} should run, and for 15 minutes it has been down or has had no metrics of consensus. Receivers of the pushed metrics see this node as down.',
  },
  {
    comment: 'Alertmanager uses it to inhibit the alerts that statesync explains.',
    alert: 'ChainStatesync',
    severity: 'info',
    component: 'sync',
    for: '30s',
    advice: ['Wait, and watch it: `chain-agent status statesync --watch`.'],
    countsAs: 'warning',
    expr: 'instance:chain_statesync:active == 1',
    summary: 'the node is in statesync',
    description:
      'The node on {{ $labels.instance }} fetches state from its peers. Until this is finished it follows no blocks, and an RPC that starts meanwhile does not listen; this is not an error.',
  },
  {
    alert: 'ChainWatchdog',
    severity: 'none',
    dashboard: 'd/chain-fleet',
    comment: 'One for each cluster, so that each can have a receiver of its own.',
    expr: `group by (job, cluster) (up{job="chain-agent"})
or on () vector(1)`,
    summary: 'Prometheus and Alertmanager work',
    description: 'This alert always fires (value {{ $value }}). Its receiver raises an alarm when it stops.',
  },
])

const META: RuleFileHeader = {
  name: 'meta',
  component: 'agent',
  dashboard: 'd/chain-fleet',
  for: '5m',
  advice: [
    'Read the log of the part: `journalctl -u prometheus -u prometheus-alertmanager --since -30min`.',
    'Check the configuration: `promtool check config /etc/prometheus/prometheus.yml`, `amtool check-config`.',
  ],
  groupComment:
    'Prometheus and Alertmanager monitor themselves, while they can still send. ChainWatchdog covers what they cannot: a heartbeat that stops. The metrics are those of the jobs prometheus and alertmanager in deploy/prometheus.',
}

export const meta = ruleFile(META, [
  {
    comment: 'A rule that fails is evaluated to nothing: its alert cannot fire.',
    alert: 'ChainMonitoringFailing.rules',
    summary: 'Prometheus cannot evaluate some of its rules',
    expr: 'sum by (instance, job, cluster) (increase(prometheus_rule_evaluation_failures_total{job="prometheus"}[5m])) > 0',
    description:
      'Prometheus {{ $labels.instance }} failed to evaluate rules {{ $value | printf "%.0f" }} times in five minutes: their alerts cannot fire.',
  },
  {
    comment: 'A configuration that was rejected takes effect at the next restart: Prometheus does not start then.',
    alert: 'ChainMonitoringFailing.configuration',
    summary: '{{ $labels.job }} rejected its configuration, and uses the previous one',
    expr: `prometheus_config_last_reload_successful{job="prometheus"} == 0
or
alertmanager_config_last_reload_successful{job="alertmanager"} == 0`,
    description:
      '{{ $labels.job }} {{ $labels.instance }} rejected its configuration at the last reload five minutes ago or more: it uses the previous one, and does not start again with the new one.',
  },
  {
    alert: 'ChainMonitoringFailing.no-alertmanager',
    summary: 'Prometheus delivers no alerts to an Alertmanager',
    expr: `prometheus_notifications_alertmanagers_discovered{job="prometheus"} == 0
or
sum by (instance, job, cluster) (increase(prometheus_notifications_dropped_total{job="prometheus"}[5m])) > 0`,
    description:
      'Prometheus {{ $labels.instance }} has not delivered alerts to an Alertmanager for five minutes: none is configured, or none accepts them.',
  },
  {
    alert: 'ChainMonitoringFailing.notifications',
    summary: 'Alertmanager cannot send notifications by {{ $labels.integration }}',
    expr: `sum by (instance, job, cluster, integration) (
  rate(alertmanager_notifications_failed_total{job="alertmanager"}[10m])
) > 0`,
    description:
      'Alertmanager {{ $labels.instance }} failed to send notifications by {{ $labels.integration }} within ten minutes. Alerts may not reach anyone by that channel.',
  },
  {
    comment: 'A head block that cannot be compacted, or a log that is corrupt: samples are lost at the next restart.',
    alert: 'ChainMonitoringFailing.storage',
    summary: 'Prometheus cannot write its database',
    expr: `sum by (instance, job, cluster) (
    rate(prometheus_tsdb_compactions_failed_total{job="prometheus"}[3h])
  +
    rate(prometheus_tsdb_wal_writes_failed_total{job="prometheus"}[3h])
) > 0`,
    description:
      'Prometheus {{ $labels.instance }} failed to write or compact its database within three hours: its disk is full or failing.',
  },
  {
    alert: 'ChainMonitoringFailing.agent-to-alertmanager',
    summary: 'the agent delivers no alerts to Alertmanager {{ $labels.alertmanager }}',
    expr: 'chain_agent_alertmanager_up == 0',
    description:
      'The agent on {{ $labels.instance }} has not delivered alerts to Alertmanager {{ $labels.alertmanager }} for five minutes. If Prometheus does not send them either, no notification arrives.',
  },
  {
    comment: "Prometheus itself is scraped by itself: if it is down, only the dead man's switch can report it.",
    alert: 'ChainMonitoringFailing.alertmanager-down',
    summary: 'Alertmanager cannot be scraped',
    expr: 'up{job="alertmanager"} == 0',
    description:
      'Prometheus cannot scrape Alertmanager {{ $labels.instance }}. If it is the only one, no alert is sent: this one arrives only with a second one.',
  },
])

export const maintenance = ruleFile({ name: 'maintenance', component: 'agent' }, [
  {
    comment:
      'Alertmanager inhibits by it, so it has no "for". It outlives the agent for half an hour, because the agent or its host may be restarted during the maintenance.',
    alert: 'ChainMaintenance',
    severity: 'none',
    advice: ['End it when the work is done: `sudo chain-agent maintenance end`.'],
    expr: 'last_over_time(chain_agent_maintenance[30m]) == 1',
    summary: 'a maintenance window is set: {{ $labels.reason }}',
    description:
      'The operator of {{ $labels.instance }} has set a maintenance window ({{ $labels.reason }}). All alerts of this node are inhibited, except those on keys and security.',
  },
  {
    comment: 'A window that was forgotten inhibits every page: so it must be delivered, which information need not be.',
    alert: 'ChainMaintenanceLong',
    for: '24h',
    advice: ['End it if the work is done: `sudo chain-agent maintenance end`.'],
    expr: 'max by (instance, job, cluster) (last_over_time(chain_agent_maintenance[30m])) == 1',
    summary: 'the maintenance window has lasted longer than a day',
    description:
      '{{ $labels.instance }} has been in a maintenance window for more than 24 hours. Its alerts are inhibited during this time.',
  },
])
