import { ruleFile } from './rule.ts'

const FAILING = {
  alert: 'ChainMonitoringFailing',
  advice: [
    'Read the log of the part: `journalctl -u prometheus -u prometheus-alertmanager --since -30min`.',
    'Check the configuration: `promtool check config /etc/prometheus/prometheus.yml`, `amtool check-config`.',
  ],
} as const

const HEADER = {
  name: 'meta',
  component: 'agent',
  dashboard: 'd/chain-fleet',
  groupComment:
    'Prometheus and Alertmanager monitor themselves, while they can still send. ChainWatchdog covers what they cannot: a heartbeat that stops. The metrics are those of the jobs prometheus and alertmanager in deploy/prometheus.',
} as const

export const meta = ruleFile(HEADER, [
  {
    ...FAILING,
    comment: 'A rule that fails is evaluated to nothing: its alert cannot fire.',
    why: 'rules',
    summary: 'Prometheus cannot evaluate some of its rules',
    for: '5m',
    expr: 'sum by (instance, job, cluster) (increase(prometheus_rule_evaluation_failures_total{job="prometheus"}[5m])) > 0',
    description:
      'Prometheus {{ $labels.instance }} failed to evaluate rules {{ $value | printf "%.0f" }} times in five minutes: their alerts cannot fire.',
  },
  {
    ...FAILING,
    comment:
      'A configuration that was rejected takes effect at the next restart: Prometheus does not start then.',
    why: 'configuration',
    summary: '{{ $labels.job }} rejected its configuration, and uses the previous one',
    for: '5m',
    expr: `prometheus_config_last_reload_successful{job="prometheus"} == 0
or
alertmanager_config_last_reload_successful{job="alertmanager"} == 0`,
    description:
      '{{ $labels.job }} {{ $labels.instance }} rejected its configuration at the last reload five minutes ago or more: it uses the previous one, and does not start again with the new one.',
  },
  {
    ...FAILING,
    why: 'no-alertmanager',
    summary: 'Prometheus delivers no alerts to an Alertmanager',
    for: '5m',
    expr: `prometheus_notifications_alertmanagers_discovered{job="prometheus"} == 0
or
sum by (instance, job, cluster) (increase(prometheus_notifications_dropped_total{job="prometheus"}[5m])) > 0`,
    description:
      'Prometheus {{ $labels.instance }} has not delivered alerts to an Alertmanager for five minutes: none is configured, or none accepts them.',
  },
  {
    ...FAILING,
    why: 'notifications',
    summary: 'Alertmanager cannot send notifications by {{ $labels.integration }}',
    for: '5m',
    expr: `sum by (instance, job, cluster, integration) (
  rate(alertmanager_notifications_failed_total{job="alertmanager"}[10m])
) > 0`,
    description:
      'Alertmanager {{ $labels.instance }} failed to send notifications by {{ $labels.integration }} within ten minutes. Alerts may not reach anyone by that channel.',
  },
  {
    ...FAILING,
    comment:
      'A head block that cannot be compacted, or a log that is corrupt: samples are lost at the next restart.',
    why: 'storage',
    summary: 'Prometheus cannot write its database',
    for: '5m',
    expr: `sum by (instance, job, cluster) (
    rate(prometheus_tsdb_compactions_failed_total{job="prometheus"}[3h])
  +
    rate(prometheus_tsdb_wal_writes_failed_total{job="prometheus"}[3h])
) > 0`,
    description:
      'Prometheus {{ $labels.instance }} failed to write or compact its database within three hours: its disk is full or failing.',
  },
  {
    ...FAILING,
    why: 'agent-to-alertmanager',
    summary: 'the agent delivers no alerts to Alertmanager {{ $labels.alertmanager }}',
    for: '5m',
    expr: 'chain_agent_alertmanager_up == 0',
    description:
      'The agent on {{ $labels.instance }} has not delivered alerts to Alertmanager {{ $labels.alertmanager }} for five minutes. If Prometheus does not send them either, no notification arrives.',
  },
  {
    ...FAILING,
    comment: "Prometheus itself is scraped by itself: if it is down, only the dead man's switch can report it.",
    why: 'alertmanager-down',
    summary: 'Alertmanager cannot be scraped',
    for: '5m',
    expr: 'up{job="alertmanager"} == 0',
    description:
      'Prometheus cannot scrape Alertmanager {{ $labels.instance }}. If it is the only one, no alert is sent: this one arrives only with a second one.',
  },
])
